// header

/* block */
@group(0) @binding(0) var<storage, read_write> data: array<vec4<f32>>; // the data


const table = array<u32, 40>(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40);
fn long_function_name(first_parameter: vec4<f32>, second_parameter: vec4<f32>, third_parameter: mat4x4<f32>) -> vec4<f32> {
  let aaaaaaaaaaaaaaaaaaaaaaaa = first_parameter.x * second_parameter.y + third_parameter[0].x * first_parameter.w - 5.0;
  if (aaaaaaaaaaaaaaaaaaaaaaaa > 1.0 || aaaaaaaaaaaaaaaaaaaaaaaa < 3.0 || aaaaaaaaaaaaaaaaaaaaaaaa == 77777777.0) {return first_parameter;}
  if aaaaaaaaaaaaaaaaaaaaaaaa > 1.0 && aaaaaaaaaaaaaaaaaaaaaaaa < 3.0 && aaaaaaaaaaaaaaaaaaaaaaaa == 77777777.0 {return first_parameter;}
  // why
  else { // trailing
  }
  for (var iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii = 0u; iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii < 10u; iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii++) { }

  return clamp(first_parameter * second_parameter, vec4<f32>(0.0, 0.0, 0.0, 0.0), vec4<f32>(1.0, 1.0, 1.0, 1.0)) ;
}
