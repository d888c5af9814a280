"""Dataflow graphs of kernels, after the HPVM Language Reference: which kernels run, on which data, in which order.

A `Module` has shaders, node functions and a root node. A *leaf* is a compute entry point of a shader; a *leaf on the
host* is a function of the host's language, known by name; a *graph* is the function of an internal node and has
children of its own, which execute leaves or other graphs. So modules are hierarchies, without recursion; the host runs
the root's graph.

    shader filters = file("filters.wgsl")

    leaf blur(in source: array<f32>, inout blurred: array<f32>, in size.width: u32, in size.height: u32) {
      entry(filters, blur)
      workgroup_size(16, 4, 1)
    }

    graph soften(in picture: array<f32>, in width: u32, in height: u32, out soft: array<f32>) {
      room = malloc(array<f32>, width * height)
      first = createNode2D(blur, width, height)
      bind.input(first, picture, source)
      bind.input(first, room, blurred)
      bind.input(first, width, size.width)
      bind.input(first, height, size.height)
      bind.output(first, blurred, soft)
    }

    root = createNode(soften)

Ports: inputs and outputs of a function. WGSL has no write-only storage buffers, so that a binding that a kernel writes
is an input and an output (`inout`), and its output is a new version of its input. A uniform structure is one port or a
port for each member.

Instances: a node has instances in up to three dimensions, whose extents are whole numbers that are known when the node
starts: expressions of the graph's inputs, lengths of arrays, numbers that other nodes gave. Those of a leaf are its
invocations; those of a graph are executions of the graph. A leaf on the host is executed once.

Values: a connection hands over a value, not a place. `malloc` gives each node that it is bound to zeros of its own,
and what a node writes nobody sees but over its outputs. A one-to-one edge says that each instance of its sink reads
only what its own instance of the source wrote; that is a promise, of which the verifier checks that the grids are
equal.

Modules here:

- `nodes` (generated from the schema), `types`, `expressions`: the data structures. `text`: printer and parser.
  `codec`: JSON and ATerms.
- `scope`: the names and connections in one graph, and the order of its nodes. `hierarchy`: graphs within graphs.
- `rules`: the tables of rules that `verify` checks.
- `interp`: the reference interpreter; values and leaves are left to a `Machine`.
- `dot`: pictures.
"""
