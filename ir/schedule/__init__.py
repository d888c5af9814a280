"""Loop nests whose schedule is left open, after the values of Telamon: what is computed, and decisions on how.

A `Nest` has sizes, iteration dimensions, arrays and statements. Its values are of four sorts: `inst`, the value of an
instruction, which is executed for each point of its dimensions; `v0 fby v1 on [dims]` ("followed by"), a value carried
from iteration to iteration; `last v on [dims]`; and `map v on [dims]`, a value at equal indices of other dimensions.

    nest row_sums(rows, columns) {
      dim i: rows
      dim j: columns
      in x: f32[rows, columns]
      out sums: f32[rows]

      x0: f32 = inst x[i, j] on [i, j]
      acc: f32 = 0.0f fby total on [j]
      total: f32 = inst acc + x0 on [i, j]
      row: f32 = last acc on [j]
      sums[i] = row on [i]
    }

Nothing says how the dimensions are executed: that is a value of its own, `Decisions`, one point of the space of
schedules. Here rows are spread over workgroups of 64, and a row is added up in a loop:

    i: workgroup * invocation(64)
    j: loop

Modules here:

- `nodes` (generated from the schema), `functions`: the data structures, and what a `Compute` may do. `text`: printers
  and parsers. `codec`: JSON and ATerms.
- `reductions`: carried values that may be accumulated in parts. `combines`: how parts of several values are joined.
- `scope`: names and iteration dimensions. `dependence`: what needs what, which values share a location, broadcasts.
- `rules`: the tables of rules that `verify` checks. `extents`: sizes as numbers, and what is checked of them.
- `interp`: the reference interpreter.
"""
