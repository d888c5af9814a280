// passes: expand_views,O1
enable f16;
requires buffer_view;

@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> some: buffer;
var<workgroup> shared_halves: buffer<10>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) lane: u32) {
    let pairs = bufferView<array<vec2f>>(&some, 8);
    *bufferView<f16>(&shared_halves, lane * 2) = f16(pairs[lane].y);
    workgroupBarrier();
    out[lane] = *bufferView<u32>(&shared_halves, 4) + arrayLength(pairs) + bufferLength(&shared_halves);
}
