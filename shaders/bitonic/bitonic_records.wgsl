// Sorts blocks of 1024 records by their keys with a bitonic network. Each of 256 invocations looks at four records in
// every step; a record's partner is the one whose number differs in one bit.

struct Record {
    key: u32,
    value: u32,
}

const N = 1024u;
const T = 256u;

@group(0) @binding(0) var<storage, read_write> records: array<Record>;

var<workgroup> block: array<Record, N>;

@compute @workgroup_size(T)
fn main(@builtin(local_invocation_index) t: u32, @builtin(workgroup_id) group: vec3u) {
    let start = group.x * N;
    for (var i = t; i < N; i += T) {
        if start + i < arrayLength(&records) {
            block[i] = records[start + i];
        } else {
            block[i] = Record(0xffffffffu, 0u);
        }
    }
    for (var run = 2u; run <= N; run = run * 2u) {
        for (var reach = run / 2u; reach > 0u; reach = reach / 2u) {
            workgroupBarrier();
            for (var i = t; i < N; i += T) {
                let partner = i ^ reach;
                if partner > i {
                    let a = block[i];
                    let b = block[partner];
                    let up = (i & run) == 0u;
                    if (up && a.key > b.key) || (!up && a.key < b.key) {
                        block[i] = b;
                        block[partner] = a;
                    }
                }
            }
        }
    }
    workgroupBarrier();
    for (var i = t; i < N; i += T) {
        if start + i < arrayLength(&records) {
            records[start + i] = block[i];
        }
    }
}
