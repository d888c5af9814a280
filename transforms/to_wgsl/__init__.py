"""Core IR becomes the syntax tree of a WGSL program.

unit         a whole module
syntax       makes nodes of the syntax tree
spelling     types and constants as expressions
names        names for what has none, and new ones where a name would hide a builtin
constants    operations on constants that const evaluation can do, and those it would refuse
analysis     what the writer must know of a function: constants, live uses, idle Ifs, regions
ordering     which values may wait to be part of a later expression: effects stay in order
depth        names for what would nest too deep
limits       other limits that WGSL and its compilers set
variables    variables for values that control flow carries
expressions  values as expressions
regions      instructions as statements
control      control flow as statements
shapes       statements as people write them: while, for, else if, +=, ++
declarations module scope
"""

from .unit import to_unit

__all__ = ["to_unit"]
