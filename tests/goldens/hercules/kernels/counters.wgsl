// Counters of loops: no min or comparison but those of the loops is left.
struct Size { count: u32, signed: i32 }
@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@group(0) @binding(1) var<uniform> size: Size;

@compute @workgroup_size(1) fn literal() {
  var sum = 0u;
  for (var k = 0u; k < 80u; k++) { if (k < 80u) { sum += min(k, 79u) + k; } }
  a[0] = sum;
}

@compute @workgroup_size(1) fn length() {
  var sum = 0u;
  for (var k = 0u; k < arrayLength(&a); k++) { sum += a[min(k, arrayLength(&a) - 1u)]; }
  a[0] = sum;
}

@compute @workgroup_size(1) fn loaded() {
  var sum = 0u;
  let n = size.count;
  for (var k = 0u; k < n; k++) { if (k < n) { sum += min(k, n - 1u) + (n - 1u - k) % n; } }
  a[0] = sum;
}

@compute @workgroup_size(1) fn signed() {
  var sum = 0;
  let n = size.signed;
  for (var k = 0; k < n; k++) { sum += clamp(k, 0, n - 1) + max(k, 0); }
  a[0] = u32(sum);
}

@compute @workgroup_size(1) fn downwards() {
  var sum = 0u;
  for (var k = 80u; k > 0u; k--) { if (k - 1u < 80u) { sum += min(k, 80u); } }
  a[0] = sum;
}
