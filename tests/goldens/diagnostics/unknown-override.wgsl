// constants: widht=8
override width = 4;

@compute @workgroup_size(1)
fn main() {
    
}
// the pipeline gives a value to an override that is not there
