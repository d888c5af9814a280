// What a guard says of what stands below it: no min, clamp, select or comparison of these is left.
struct Size { count: u32, signed: i32 }
@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@group(0) @binding(1) var<uniform> size: Size;

// arrayLength as the bound, in each form that a last index is cut to.
@compute @workgroup_size(4) fn lengths(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i >= arrayLength(&a)) { return; }
  var sum = a[min(i, arrayLength(&a) - 1u)];
  sum += a[clamp(i, 0u, arrayLength(&a) - 1u)];
  sum += a[select(arrayLength(&a) - 1u, i, i < arrayLength(&a))];
  if (i < arrayLength(&a)) { sum += 100u; }
  if (i % arrayLength(&a) < arrayLength(&a)) { sum += 1000u; }
  a[arrayLength(&a) - 1u - i] = sum;
}

// A loaded bound.
@compute @workgroup_size(4) fn loaded(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let n = size.count;
  if (i < n) {
    var sum = min(i, n - 1u);
    if (i >= n) { sum += 100u; }
    sum += select(0u, 7u, i <= n - 1u);
    sum += clamp(n - 1u - i, 0u, n - 1u);
    sum += min(i % n, n - 1u);
    a[i] = sum;
  }
}

// Signed numbers.
@compute @workgroup_size(4) fn signed(@builtin(global_invocation_id) id: vec3u) {
  let i = i32(id.x) - 2;
  let n = size.signed;
  if (i >= 0 && i < n) {
    a[id.x] = u32(clamp(i, 0, n - 1)) + u32(max(i, 0)) + select(9u, 1u, i < n);
  }
}

// The sum is below the bound, and may have wrapped: it is the sum that needs no test, not the number.
@compute @workgroup_size(4) fn next(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i + 1u < arrayLength(&a)) { a[i] = min(i + 1u, arrayLength(&a) - 1u); }
}
