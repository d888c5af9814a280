"""Core IR back to syntax: what `to_program` is made of.

syntax       makes nodes of the syntax tree
spelling     types and constants as expressions
names        names for what has none, and new ones where a name would hide a builtin
constants    operations on constants that const evaluation can do, and those it would refuse
ordering     which values may wait to be part of a later expression: effects stay in order
expressions  values as expressions
regions      blocks and control flow as statements
shapes       statements as people write them: while, for, else if, +=, ++
declarations module scope
"""
