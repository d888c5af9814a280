"""Hercules IR: a sea of nodes with fork/join parallelism.

A `Module` is a list of functions, a `Function` a list of nodes; each node names its predecessors, and that is all the
order there is. *Control nodes* (Start, Region, If, Match, Fork, Join, Return, and the Reads that name the ways out of
an If or Match) form a graph that control walks. *Data nodes* float: they run wherever their operands are known. Only
Phi, ThreadID, Collect and Reduce are pinned, to a Region, Fork or Join. There are no effects: a call is as pure as an
addition.

    fn dot<n>(a: array<f32, n>, b: array<f32, n>) -> f32 {
      zero = constant(f32 0.0)
      f = fork(start, n)
      i = thread_id(f)
      x = read(a, position(i))
      y = read(b, position(i))
      p = mul(x, y)
      sum = reduce(j, zero, next)
      next = add(sum, p)
      j = join(f)
      done = return(j, sum)
    }

Parallelism: a Fork makes `factor` threads of one, a Join one of all of them; the type of control is the list of factors
around it. What leaves a fork does so by a Collect, an array of one value a thread, or by a Reduce, a value handed
from thread to thread, in any order. A Reduce is two values: inside its fork the one so far, after the join the last
one.

Storage: there is no memory. A *collection* (product, sum or array) is a value, and Write and Atomic make a new
version of it. Each version is consumed at most once on any path (see `versions`), so that a chain of versions is one
piece of storage that changes in place and no copy is ever made silently. Readers come before the consumer.

Dynamic constants are u64 numbers that a program is started with, and expressions of them: extents of arrays, factors of
forks. Within one run they do not change.

Modules here:

- `nodes` (generated from the schema), `types`, `dynamic`: what there is. `builder`: makes it. `graph`: its edges.
- `operations`: what operations on scalars take, give and compute. `inference`: the type of each node.
- `text`: printer and parser. `rules`: what is allowed; `verify` checks it. `interp`: the reference interpreter;
  `arithmetic` and `storage` are its values, `dispatch` runs whole entry points.
- `analyses`: dominance, forks, loops. `versions`: who consumes and reads collections, and what must come first.
  `schedule`: a place for each node. `conditions`: what branches say of integers; `intervals`, `ranges`: what is proved
  of them, and of positions. `cache`: keeps analyses by version.
- `dot`: pictures.
- `entry`: what a backend gets for a WGSL entry point.
"""
