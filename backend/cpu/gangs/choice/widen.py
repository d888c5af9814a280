"""Merges adjacent workgroups, so that rows of threads fill a vector.

If threads use their indices along the innermost fork only as `workgroup * size + thread`, and nothing is computed
between the forks, several workgroups are equivalent to one of several times the size. The last one may then have
threads that do not exist; their gang masks them.

Where workgroups have several rows and threads are bound by memory, rows get longer than a vector: a workgroup's rows
are far apart in a picture, so that each one loads a few elements of many memory pages and cache lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .....ir.hercules import dynamic
from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import control_graph, loop_nest
from .....ir.hercules.copying import copy_of
from .....ir.hercules.graph import def_use, is_control
from .....ir.hercules.types import U32
from .transposing import is_transposed

_SHORT_ROW, _ROW = 32, 64
"""Threads in a row that is bound by memory, where threads run in the order of workgroups, and in that of rows (see
`row_order`). 32 threads have two cache lines of 4-byte elements, which processors fetch together; of rows of 16 to 256,
they were fastest (Zen 3): pictures of 2048 by 2048 in workgroups of 8 by 8 and 16 by 4 took 0.69 and 0.44 of the time.
In the order of rows, 32, 64 and 128 threads were equal within 5 % (Emerald Rapids).
"""

_Users = Mapping[h.Node, Sequence[h.Node]]


@dataclass(frozen=True, slots=True)
class ThreadLimit:
    """Only the first `count` threads exist along two forks, where each outer thread has `size` inner ones."""

    outer: h.Fork
    inner: h.Fork
    size: int
    count: h.DynamicConstant


def widened(function: h.Function, lanes: int) -> tuple[h.Function, ThreadLimit | None]:
    """The function with an innermost fork of `lanes` threads or more, and the limit of its threads; the function itself
    if that is not possible, or rows are long enough.
    """
    users = def_use(function)
    nest = perfect_nest(function, users)
    if nest is None:
        return function, None
    forks, joins = nest
    outer, inner = _pair(forks)
    if outer is None or not isinstance(inner.factor, h.DynamicLiteral):
        return function, None
    size = inner.factor.value
    numbers = _numbers(function, outer, inner, size, users)
    at = forks.index(outer)
    length = max(lanes, _wanted(function, forks, outer))
    if length % size or size >= length or not numbers or not hands_through(function, joins[at:]):
        return function, None
    return _copy(function, outer, inner, numbers, length)


def perfect_nest(function: h.Function, users: _Users) -> tuple[list[h.Fork], list[h.Join]] | None:
    """The function's forks, outermost first, and their joins, if they are perfectly nested."""
    returns = [it for it in function.nodes if isinstance(it, h.Return)]
    if len(returns) != 1:
        return None
    forks: list[h.Fork] = []
    joins: list[h.Join] = []
    node, end = function.nodes[0], returns[0].control
    while isinstance(end, h.Join):
        after = [it for it in users[node] if is_control(it)]
        if len(after) != 1 or not isinstance(after[0], h.Fork):
            break
        node = after[0]
        forks.append(node)
        joins.append(end)
        end = end.control
    is_all = len(forks) == sum(isinstance(it, h.Fork) for it in function.nodes)
    return (forks, joins) if forks and is_all else None


def _wanted(function: h.Function, forks: Sequence[h.Fork], workgroups: h.Fork) -> int:
    """How many threads a row should have for memory's sake; 1 if that does not matter."""
    if any(isinstance(it.factor, h.DynamicLiteral) for it in forks[: forks.index(workgroups)]):
        return _ROW
    has_rows = forks[-2] is not workgroups
    return _SHORT_ROW if has_rows and _goes_along_rows(function, *forks[-2:]) else 1


def _goes_along_rows(function: h.Function, outer: h.Fork, inner: h.Fork) -> bool:
    """Whether threads have no loops, in which they may take longer than memory, and access nothing by columns."""
    accesses = (it for it in function.nodes if isinstance(it, (h.Read, h.Write)))
    has_loops = bool(loop_nest(control_graph(function)).loops)
    return not has_loops and not any(is_transposed(it, outer, inner) for it in accesses)


def _pair(forks: Sequence[h.Fork]) -> tuple[h.Fork | None, h.Fork]:
    """The innermost fork over workgroups, and the innermost fork."""
    outer = [it for it in forks if not isinstance(it.factor, h.DynamicLiteral)]
    return outer[-1] if outer else None, forks[-1]


def _numbers(function: h.Function, outer: h.Fork, inner: h.Fork, size: int, users: _Users) -> list[h.Binary]:
    """The products in `outer * size + inner` if two forks' thread numbers have no other use, else nothing."""
    products: list[h.Binary] = []
    sums: set[h.Node] = set()
    for cast in casts_of(function, outer, users):
        for product in users[cast] if cast is not None else [None]:
            if not _is_multiple(product, cast, size):
                return []
            assert isinstance(product, h.Binary)
            products.append(product)
            sums.update(users[product])
    casts = casts_of(function, inner, users)
    if None in casts or not products:
        return []
    added = {user for cast in casts if cast is not None for user in users[cast]}
    is_all = added == sums and all(
        isinstance(it, h.Binary) and it.op is h.BinaryOp.ADD and _is_pair(it, products, casts) for it in added
    )
    return products if is_all else []


def casts_of(function: h.Function, fork: h.Fork, users: _Users) -> list[h.Node | None]:
    """The casts of the fork's thread numbers to u32; None stands for any other use."""
    ids = [it for it in function.nodes if isinstance(it, h.ThreadID) and it.fork is fork]
    return [it if isinstance(it, h.Cast) and it.type == U32 else None for number in ids for it in users[number]]


def _is_multiple(node: h.Node | None, factor: h.Node | None, size: int) -> bool:
    if not isinstance(node, h.Binary) or node.op is not h.BinaryOp.MUL or node.lhs is not factor:
        return False
    right = node.rhs
    return isinstance(right, h.ConstantNode) and right.value == h.IntegerConstant(U32, size)


def _is_pair(node: h.Binary, products: Sequence[h.Node], casts: Sequence[h.Node | None]) -> bool:
    return (node.lhs in products and node.rhs in casts) or (node.rhs in products and node.lhs in casts)


def hands_through(function: h.Function, joins: Sequence[h.Join]) -> bool:
    """Whether Reduces pass straight through all forks: nothing is changed between them."""
    for node in function.nodes:
        if isinstance(node, h.Collect) and node.join in joins:
            return False
        if not isinstance(node, h.Reduce) or node.join not in joins:
            continue
        at = joins.index(node.join)
        if at > 0 and not _is_reduce(node.init, joins[at - 1]):
            return False
        if at + 1 < len(joins) and not _is_reduce(node.update, joins[at + 1]):
            return False
    return True


def _is_reduce(node: h.Node, join: h.Join) -> bool:
    return isinstance(node, h.Reduce) and node.join is join


def _copy(
    function: h.Function, outer: h.Fork, inner: h.Fork, products: Sequence[h.Binary], length: int
) -> tuple[h.Function, ThreadLimit]:
    made, copies = copy_of(function)
    wide, row = copies[outer], copies[inner]
    assert isinstance(wide, h.Fork)
    assert isinstance(row, h.Fork)
    assert isinstance(inner.factor, h.DynamicLiteral)
    size = inner.factor.value
    count = dynamic.mul(outer.factor, dynamic.literal(size))
    together = length // size
    wide.factor = dynamic.div(dynamic.add(outer.factor, dynamic.literal(together - 1)), dynamic.literal(together))
    row.factor = dynamic.literal(length)
    step = h.ConstantNode(h.IntegerConstant(U32, length))
    for product in products:
        copy = copies[product]
        assert isinstance(copy, h.Binary)
        copy.rhs = step
    made.nodes.insert(1, step)
    return made, ThreadLimit(wide, row, length, count)
