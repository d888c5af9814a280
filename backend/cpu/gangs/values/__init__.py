"""The values of a gang as LLVM IR: scalars, vectors, and stack slots for values used beyond a branch."""
