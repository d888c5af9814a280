"""How accurate the float functions are on a device: every f32 or f16 through a kernel, against double precision."""
