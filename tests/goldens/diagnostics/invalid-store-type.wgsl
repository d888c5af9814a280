struct Flags {
    on: bool,
}

@group(0) @binding(0) var<uniform> flags: Flags;
// memory of this address space cannot hold the type
