// What looks as if it were known, and is not: everything here stays.
struct Size { count: u32, signed: i32 }
@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@group(0) @binding(1) var<uniform> size: Size;

// i + 1 may wrap to 0, and n - 1 to the greatest number.
@compute @workgroup_size(4) fn wraps(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x * 0x55555555u;
  let n = size.count;
  if (i + 1u < n) { a[id.x] = min(i, n); }
  if (i < n - 1u) { a[id.x] += select(1u, 2u, i + 1u < n); }
}

// A negative number is below n, and as a u32 it is not.
@compute @workgroup_size(4) fn negative(@builtin(global_invocation_id) id: vec3u) {
  let i = i32(id.x) - 2;
  if (i < size.signed) { a[id.x] = select(1u, 2u, u32(i) < u32(size.signed)); }
}

// Each turn has its own n, and the number was compared with the one before.
@compute @workgroup_size(1) fn turns() {
  var i = 0u;
  var n = size.count;
  while (i < n) {
    n = a[i];
    a[i] = select(1u, 2u, i < n);
    i += 1u;
  }
}

// A remainder by 0 is 0, which is not below 0.
@compute @workgroup_size(4) fn remainder(@builtin(global_invocation_id) id: vec3u) {
  a[id.x] = select(1u, 2u, id.x % size.count < size.count);
}
