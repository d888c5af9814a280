"""Random nests and decisions: any tree of the schema that the text form can hold, mostly no valid nests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tinct.ir.schedule import nodes as n

NAMES = st.sampled_from(("a", "b", "i", "j", "rows", "é"))
NUMBERS = st.integers(-(10**10), 10**10)
TYPES = st.sampled_from(n.ElementType)
TERMS = st.lists(st.builds(n.Term, NUMBERS, NAMES), max_size=3, unique_by=lambda it: it.name)
SUMS = st.builds(n.Affine, TERMS.map(tuple), NUMBERS)
HALVES = st.floats(width=16, allow_nan=False, allow_infinity=False).map(
    lambda it: n.FloatLiteral(float(np.float16(it)))
)
CONSTANTS = st.one_of(
    st.builds(n.Constant, st.just(n.ElementType.BOOL), st.builds(n.BoolLiteral, st.booleans())),
    st.builds(
        n.Constant, st.sampled_from((n.ElementType.I32, n.ElementType.U32)), st.builds(n.IntegerLiteral, NUMBERS)
    ),
    st.builds(n.Constant, st.sampled_from((n.ElementType.F32, n.ElementType.F16)), HALVES),
)
OPERANDS = st.one_of(st.builds(n.Use, NAMES), CONSTANTS)


def several(items: st.SearchStrategy[object], most: int = 3) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(items, max_size=most).map(tuple)


ON = several(NAMES)
STATEMENTS = st.one_of(
    st.builds(n.Load, NAMES, TYPES, NAMES, several(SUMS), st.sampled_from(n.Boundary), ON),
    st.builds(n.Gather, NAMES, TYPES, NAMES, several(OPERANDS), st.sampled_from(n.Boundary), ON),
    st.builds(n.Index, NAMES, TYPES, SUMS, ON),
    st.builds(n.Compute, NAMES, TYPES, st.sampled_from(("+", "<<", "<=")), st.tuples(OPERANDS, OPERANDS), ON),
    st.builds(n.Compute, NAMES, TYPES, st.sampled_from(("-", "!", "~")), st.tuples(OPERANDS), ON),
    st.builds(n.Compute, NAMES, TYPES, st.sampled_from(("max", "copy", "nothing")), several(OPERANDS), ON),
    st.builds(n.Fby, NAMES, TYPES, OPERANDS, NAMES, ON),
    st.builds(n.Last, NAMES, TYPES, NAMES, ON),
    st.builds(n.Map, NAMES, TYPES, NAMES, several(st.builds(n.Pair, NAMES, NAMES))),
    st.builds(n.Store, NAMES, several(SUMS), OPERANDS, ON),
    st.builds(n.Scatter, NAMES, several(OPERANDS), OPERANDS, st.sampled_from(("+", "min")), OPERANDS, ON),
)
DIMENSIONS = several(st.builds(n.Dimension, NAMES, SUMS))
ARRAYS = several(st.builds(n.Array, st.sampled_from(n.Direction), NAMES, TYPES, several(SUMS)))
COMBINES = several(
    st.builds(
        n.Combine,
        several(NAMES),
        several(OPERANDS),
        several(NAMES),
        several(NAMES),
        several(STATEMENTS),
        several(OPERANDS),
    ),
    most=1,
)
NESTS = st.builds(n.Nest, NAMES, several(NAMES), DIMENSIONS, ARRAYS, several(STATEMENTS, 6), COMBINES)
LEVELS = st.builds(n.Level, st.sampled_from(n.Execution), st.none() | st.integers(0, 10**10))
DECIDED = st.builds(n.DimensionLevels, NAMES, st.lists(LEVELS, min_size=1, max_size=3).map(tuple))
ORDERS = several(st.builds(n.LevelName, NAMES, st.integers(0, 9)))
PLACES = st.none() | st.builds(n.LevelName, NAMES, st.integers(0, 9))
LOADS = st.lists(NAMES, min_size=1, max_size=3).map(tuple)
BUFFERING = st.sampled_from(n.Buffering)
STAGES = several(st.builds(n.Stage, LOADS, PLACES, padding=st.integers(0, 9), buffering=BUFFERING))
DECISIONS = st.builds(
    n.Decisions,
    several(DECIDED),
    ORDERS,
    stages=STAGES,
    peeled=several(NAMES),
    grid=several(NAMES),
    private=several(NAMES),
    kept=several(st.builds(n.Keep, NAMES, st.sampled_from(n.Location))),
)
