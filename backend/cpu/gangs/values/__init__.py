"""The values of a gang as LLVM IR: scalars, vectors, and the stack slots of values that outlive a branch."""
