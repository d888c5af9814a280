"""From core IR to Hercules IR: `translate(module, name)` makes a compute entry point a graph of forks and collections.

The parts, from the outermost to the innermost:

- `entry_point`: parameters for the bindings, the fork nest over workgroups, builtin inputs, the result.
- `walk`: structured control flow, inlined calls; barriers split the fork over a workgroup's lanes.
- `machine`: the current control node, the version of each cell, merges of control flow, and scalars that cross from
  one lane fork to the next.
- `instructions`, `arithmetic`, `builtins`, `memory`: single operations on trees of scalars.
- `values`: trees, cells and designators. `forks`: fork nests with their Reduces and Collects. `graph`: the nodes.
- `effects`: what a piece of core IR writes, and where its barriers are. `cleanup`: removes redundant nodes.
"""

from .entry_point import translate

__all__ = ["translate"]
