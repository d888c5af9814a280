override width = 32;

@compute @workgroup_size(width, 64)
fn main() {
}
// the size of a workgroup is over a limit of all devices
