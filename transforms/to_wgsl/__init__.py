"""Core IR becomes the syntax tree of a WGSL program.

unit         a whole module
syntax       makes nodes of the syntax tree
spelling     types and constants as expressions
names        names for unnamed values, and new names for those that would shadow a builtin
constants    operations that const evaluation computes, and operands that would make it fail
analysis     facts about a function: constants, live uses, idle Ifs, regions
ordering     which values may be folded into a later expression: effects stay in order
depth        names for parts of expressions that nest too deep
limits       other limits of WGSL and its compilers
variables    variables for values that control flow carries
expressions  values as expressions
regions      instructions as statements
control      control flow as statements
shapes       idiomatic statements: while, for, else if, +=, ++
declarations module scope
"""

from .unit import to_unit

__all__ = ["to_unit"]
