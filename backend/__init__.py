"""What leaves the process: WGSL text, the GPU, and machine code for the CPU."""
