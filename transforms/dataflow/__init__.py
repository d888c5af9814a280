"""Transforms on dataflow graphs of kernels: which elements a kernel accesses, and kernels fused along one-to-one edges.

`accesses` describes each access of a kernel by forms over its invocations, `grids` evaluates these for the numbers of a
launch, and `one_to_one` has the rules for kernels that share an array. In `flat` graphs, `kernel_graph` knows lengths
and numbers in terms of the graph's inputs; `storings` finds which bindings of kernels are one, and `groups` which
kernels are fused, if a launch keeps the `launch_conditions`. `joining` makes one entry point of several, whose forks
are `nests`, with values instead of the reads that `passing` replaces; `strides` knows when loops of kernels have the
same iterations, and `merged_loops` makes one of them. `fusion` makes a graph in which the leaves are fused, those of
inner graphs, too, whose numbers `inner_numbers` knows outside; `edges` checks what edges promise.
"""
