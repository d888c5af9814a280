@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(64)
fn main() {
    var left = 8u;
    loop {
        storageBarrier();
        left -= data[left];
        continuing {
            break if left == 0u;
        }
    }
}
