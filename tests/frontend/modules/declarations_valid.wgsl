// Declarations may stand in any order; what has no type gets one.
enable f16;

const late = later + 1;  // type: abstract-int
const later = 2;  // type: abstract-int
const half = 0.5h;  // type: f16
const pair = vec2(1, 2.5);  // type: vec2<abstract-float>
const typed: f32 = 1;  // type: f32
override scale = 2.0;  // type: f32
@id(7) override count: u32;  // type: u32
alias Number = f32;
alias Row = array<Number, late + 1>;
struct Cell { weight: Number, @align(16) rows: array<Row, 2>, }
struct Buffer { length: u32, cells: array<Cell>, }
@group(0) @binding(0) var<storage, read_write> buffer: Buffer;  // type: Buffer
@group(0) @binding(1) var<uniform> cell: Cell;  // type: Cell
@group(0) @binding(2) var image: texture_storage_2d<rgba8unorm, write>;  // type: texture_storage_2d<rgba8unorm, write>
var<workgroup> shared_rows: array<f32, count>;  // type: array<f32, count>
var<private> state = 3;  // type: i32

fn body(f32_: f32, p: ptr<function, vec3f>) -> f32 {
  let whole = 1;  // type: i32
  let large = 1u;  // type: u32
  let real = 1.5;  // type: f32
  let array_ = array(1, 2.0, 3);  // type: array<f32, 3>
  let pointer = &state;  // type: ptr<private, i32>
  let element = &buffer.cells[whole].rows[1];  // type: ptr<storage, array<f32, 4>, read_write>
  let row = (*element)[2];  // type: f32
  let through = p.z + p[0];  // type: f32
  let swizzled = p.zyx;  // type: vec3<f32>
  let mixed = f32_ * 2;  // type: f32
  let matrix = mat2x3f() * vec2f();  // type: vec3<f32>
  let product = vec3h(half) * 2;  // type: vec3<f16>
  let compared = vec2(1, 2) < vec2(3, 4);  // type: vec2<bool>
  let parts = frexp(f32_);  // type: __frexp_result_f32
  let exponent = parts.exp;  // type: i32
  var store = vec4(1, 2, 3, 4);  // type: vec4<i32>
  let loaded = store.x;  // type: i32
  const folded = late * 2;  // type: abstract-int
  let length = arrayLength(&buffer.cells);  // type: u32
  let bits = bitcast<u32>(f32_);  // type: u32
  let shifted = 1 << large;  // type: i32
  { let whole = true; let inner = whole; }  // shadows
  for (var whole = 0u; whole < large; whole++) { let inner = whole; }
  let outer = whole;  // type: i32
  return through + real + row;
}
