"""Hercules IR: a sea of nodes with fork/join parallelism.

A `Module` is a list of functions, a `Function` a list of nodes; each node names its predecessors, which is the only
order. *Control nodes* (Start, Region, If, Match, Fork, Join, Return, and the Reads that name the outputs of an If or
Match) form the control flow graph. *Data nodes* float: they run wherever their operands are known. Only Phi, ThreadID,
Collect and Reduce are pinned, to a Region, Fork or Join. There are no effects: a call is as pure as an addition.

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
around it. A value leaves a fork through a Collect, an array of one value per thread, or through a Reduce, a value
passed from thread to thread, in any order. A Reduce is two values: the one so far inside its fork, and the last one
after the join.

Storage: there is no memory. A *collection* (product, sum or array) is a value, and Write and Atomic make a new
version of it. Each version is consumed at most once on any path (see `versions`), so that a chain of versions is one
piece of storage that changes in place and no copy is ever made silently. Readers come before the consumer.

Dynamic constants are u64 arguments of a run, and expressions of them: extents of arrays, factors of forks. They do not
change within a run.

Modules here:

- `nodes` (generated from the schema), `types`, `dynamic`: the data structures. `builder`: constructs them.
  `graph`: use-def edges.
- `operations`: operand rules, result types and evaluators of operations on scalars. `inference`: the type of each node.
- `text`: printer and parser. `rules`: the table of rules that `verify` checks. `interp`: the reference interpreter;
  `arithmetic` and `storage` are its values, `dispatch` runs whole entry points.
- `analyses`: dominance, forks, loops. `versions`: consumers and readers of collections, and their order.
  `placement`: a block for each node. `conditions`: comparisons of integers that branches imply; `intervals`, `ranges`:
  proved bounds of integers, and of positions in arrays. `cache`: keeps analyses by version.
- `dot`: pictures.
- `entry`: the description of a WGSL entry point that a backend gets.
- `program`: a function as kernels over buffers and the steps that a host runs; `program_text` prints programs,
  `program_interp` runs them.
"""
