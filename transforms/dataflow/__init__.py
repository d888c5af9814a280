"""Transforms on dataflow graphs of kernels: which elements a kernel accesses, and kernels fused along one-to-one edges.

`accesses` describes each access of a kernel by forms over its invocations, `grids` evaluates these for the numbers of a
launch, `one_to_one` has the rules for kernels that share an array, `joining` makes one entry point of several, and
`fusion` makes a graph in which the leaves are fused.
"""
