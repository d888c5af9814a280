// The header of the file,
// of two lines.

enable f16; // for the halves

/* on its own line */
@group(0) @binding(0) var<storage, read_write> data: array<f32>; // trailing

/* a block
   of two lines */
struct S { // opens
    a: f32, // first
    // before b
    b: array<f32 /* element */, 4>, // last

    // before the end
}

// about f
fn f(
    a: f32, // first parameter
    b: f32,
) -> f32 {
    return a /* in */ + b;
}

@compute @workgroup_size(1)
fn main() {
    // at the start

    let x = 1;
    /* behind */ let y = 2; // two

    // on a group of statements
    if x == y { // then
        data[0] = f( // open
            1.0,
            /* one */ 2.0,
        );
    }
    // before else
    else { /* nothing */ }
    switch x {
        case 1: {} // one
        // before default
        default: {}
    }
    loop {
        break;
    } // done
    // at the end
}

// after all
