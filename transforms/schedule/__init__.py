"""Nests (`ir.schedule`) become core IR, one entry point for each set of decisions.

- `insert_copies`: values that would be consumed twice, or read too late, are copied.
- `tasks`: what is done in loops: carrying values, keeping them in memory, and storing. `decided`: decisions, resolved.
- `legality`: the table of rules for decisions. `structure`: the tree of levels. `frame`, `addresses`, `lower`: core IR.
- `vectors`: values at adjacent indices. `tiles`, `staging`: copies in workgroup memory. `peeling`: parts without tests.
  `reciprocals`: quotients that are products.
- `gathering`, `scattering`, `scatters`: elements at computed places.
- `kept_values`, `equal_values`: values in memory. `keeping`, `waits`, `sharing`, `memory`: their memory, its barriers
  and its size.
- `error_bounds`: a nest that computes how far the results of another may be off. `computations`: what it is made of.
- `across`: what invocations carry is joined. `stages`: nests whose parts of workgroups a second dispatch joins.
"""
