"""From core IR to Hercules IR: `translate(module, name)` makes a compute entry point a graph of forks and collections.

How it goes, from the outside in:

- `entry_point`: parameters for the bindings, the fork nest over workgroups, builtin inputs, the result.
- `walk`: structured control flow, inlined calls; barriers split the fork over a workgroup's lanes.
- `machine`: where control is, each cell's version, merging where ways meet, carrying scalars from one lane fork to
  the next.
- `instructions`, `arithmetic`, `builtins`, `memory`: single operations on trees of scalars.
- `values`: trees, cells and designators. `forks`: fork nests with their Reduces and Collects. `graph`: the nodes.
- `effects`: what a piece of core IR writes, and where its barriers are. `cleanup`: what is left over goes.
"""

from .entry_point import translate

__all__ = ["translate"]
