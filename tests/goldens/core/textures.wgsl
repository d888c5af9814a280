struct Vertex { @builtin(position) place: vec4f, @location(0) @interpolate(flat, either) uv: vec2f }
@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var smooth_: sampler;
@group(0) @binding(2) var store: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(3) var depth: texture_depth_2d_array;

@vertex fn vertex(@builtin(vertex_index) i: u32) -> Vertex {
  return Vertex(vec4f(f32(i)), vec2f());
}

@fragment fn fragment(in: Vertex) -> @location(0) vec4f {
  if in.uv.x < 0 { discard; }
  return textureSample(image, smooth_, in.uv) * dpdx(in.uv.x);
}

@compute @workgroup_size(1) fn main() {
  textureStore(store, vec2u(1, 2), textureLoad(image, vec2u(0, 0), 0));
  let size = textureDimensions(depth);
}
