// The sums and counts of the points of each of 16 clusters, a part for each workgroup and without atomics: an invocation
// has one coordinate of one cluster, and picks its points from tiles in workgroup memory. The fourth coordinate of a
// point is its weight.

const CLUSTERS = 16u;
const WIDTH = 64u; // clusters times coordinates
const TILES = 16u;

@group(0) @binding(0) var<storage, read> points: array<vec4f>;
@group(0) @binding(1) var<storage, read> labels: array<u32>;
@group(0) @binding(2) var<storage, read_write> partial_sums: array<f32>;

var<workgroup> tile: array<vec4f, WIDTH>;
var<workgroup> tile_labels: array<u32, WIDTH>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let cluster = lane / 4u;
    let coordinate = lane % 4u;
    let n = arrayLength(&points);
    var sum = 0.0;
    for (var t = 0u; t < TILES; t++) {
        let i = (group.x * TILES + t) * WIDTH + lane;
        tile_labels[lane] = CLUSTERS;
        if i < n {
            tile[lane] = points[i];
            tile_labels[lane] = labels[i];
        }
        workgroupBarrier();
        for (var j = 0u; j < WIDTH; j++) {
            if tile_labels[j] == cluster {
                sum += tile[j][coordinate];
            }
        }
        workgroupBarrier();
    }
    partial_sums[group.x * WIDTH + lane] = sum;
}
