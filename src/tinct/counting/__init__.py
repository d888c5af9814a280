"""Kernels that count how often each of their blocks runs, and what the counts say of the source.

`places` finds the statements, branches and functions of a program, and the block that counts for each; `kernel` runs a
kernel with counters in a buffer of our own; `recorders` are told the counts. Only `recorders` is imported before
anybody measures.
"""
