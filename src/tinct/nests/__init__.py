"""Loop nests whose schedule is left open (`ir.schedule`), from Python.

- `builder`: `Nest`, built value by value. `values`: dimensions, sums of sizes and indices, and values. `recipes`:
  reductions of several values. `places`: lines of the user's Python. `numbers`: constants.
- `loop_nest`: what all nests can do. `lowered`: a nest with decisions: WGSL, a case file, dispatches.
  `lowered_stages`: the same, if it takes several dispatches. `tuned`: the fastest one that `tuning` found, with
  `tune_options`.
"""

from .builder import Nest
from .loop_nest import LoopNest, ParsedNest, lowered_nest, parse_nest
from .lowered import LoweredNest
from .tuned import TunedNest
from .values import Carried, Dim, Sum, Value

__all__ = [
    "Carried",
    "Dim",
    "LoopNest",
    "LoweredNest",
    "Nest",
    "ParsedNest",
    "Sum",
    "TunedNest",
    "Value",
    "lowered_nest",
    "parse_nest",
]
