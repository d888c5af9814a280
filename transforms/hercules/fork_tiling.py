"""Fork tiling: a fork of n threads becomes a fork of tiles, each a fork of so many threads.

For other schedules of `.hir` functions. No pipeline runs it: gangs rely on the forks as they are translated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...ir.hercules import dynamic
from ...ir.hercules.cache import Analyses
from ...ir.hercules.graph import replace_all, replace_predecessor
from ...ir.hercules.nodes import (
    Binary,
    BinaryOp,
    ControlIndex,
    DynamicBinary,
    DynamicConstant,
    DynamicConstantNode,
    DynamicLiteral,
    DynamicOp,
    Fork,
    Function,
    If,
    Join,
    Module,
    Node,
    Phi,
    Read,
    Reduce,
    Region,
    ThreadID,
)
from .cleanup import remove_dead
from .forks import PLACED_CALLS, ForkBody, Forks


@dataclass(frozen=True)
class ForkTiling:
    """Makes of each fork that allows it, or only of those with the label `fork`, a fork of tiles of `size` threads.

    Thread i of tile t is thread t · size + i of before. Where the factor is no multiple of the size, as far as the
    expression tells, there are enough tiles for all, and the threads past the end do nothing: they are guarded by
    a branch. The threads' order stays, so every fork may be tiled but one that Collects, whose array would get
    another type (`expand_collects` makes it writes), and one that fits a tile, which gains nothing.
    """

    size: int = 8
    fork: str = ""
    name = "fork_tiling"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            changed |= remove_dead(function)
            changed |= _tile_all(function, self.size, self.fork)
        return changed


def _tile_all(function: Function, size: int, label: str) -> bool:
    wanted = [it for it in function.nodes if isinstance(it, Fork) and label in ("", it.label)]
    known = Analyses(function)
    changed = False
    for fork in wanted:
        body = Forks.of(known).body(fork)
        if obstacle(body, size) is None:
            tile(body, Tiles.of(fork.factor, size), blocked)
            changed = True
    return changed


def obstacle(body: ForkBody, size: int) -> str | None:
    """Why the fork is not tiled; None if it is."""
    if size < 1:
        return "a tile has no threads"
    if body.collects:
        return "its collects would change their type"
    if body.has_placed_calls:
        return PLACED_CALLS
    if isinstance(body.fork.factor, DynamicLiteral) and body.fork.factor.value <= size:
        return "it fits a tile"
    return None


def _is_multiple(factor: DynamicConstant, size: int) -> bool:
    """Whether tiles surely have no rest. A product that wraps is a multiple still, if the size is a power of two."""
    match factor:
        case DynamicLiteral(value):
            return value % size == 0
        case DynamicBinary(DynamicOp.MUL, _, DynamicLiteral(value)):
            return value % size == 0 and size & (size - 1) == 0
        case _:
            return size == 1


def _tiles(factor: DynamicConstant, size: int) -> DynamicConstant:
    """How many tiles hold all threads."""
    if _is_multiple(factor, size):
        return dynamic.div(factor, dynamic.literal(size))
    return dynamic.ceil_div(factor, size)


@dataclass(frozen=True, slots=True)
class Tiles:
    """How a fork is divided: how many tiles there are, how many threads each has, and whether none has a rest."""

    count: DynamicConstant
    size: DynamicConstant
    is_exact: bool

    @staticmethod
    def of(factor: DynamicConstant, size: int) -> Tiles:
        """As many tiles of a size as hold all threads."""
        return Tiles(_tiles(factor, size), dynamic.literal(size), _is_multiple(factor, size))

    @staticmethod
    def in_blocks(factor: DynamicConstant, size: int) -> Tiles:
        """Tiles for `interleaved`: as many blocks of `size` tiles as hold all threads."""
        width, area = dynamic.literal(size), size * size
        return Tiles(dynamic.mul(_tiles(factor, area), width), width, _is_multiple(factor, area))


Numbering = Callable[[ThreadID, ThreadID, Tiles], list[Node]]
"""Makes the number that a thread had before, which comes last, of the number of its tile and its number in the tile."""


def blocked(outer: ThreadID, inner: ThreadID, tiles: Tiles) -> list[Node]:
    """Neighbouring threads are in one tile: `outer * size + inner`."""
    width = DynamicConstantNode(tiles.size)
    start = Binary(BinaryOp.MUL, outer, width)
    return [width, start, Binary(BinaryOp.ADD, start, inner)]


def strided(outer: ThreadID, inner: ThreadID, tiles: Tiles) -> list[Node]:
    """Neighbouring threads are in neighbouring tiles: `inner * count + outer`."""
    count = DynamicConstantNode(tiles.count)
    start = Binary(BinaryOp.MUL, inner, count)
    return [count, start, Binary(BinaryOp.ADD, start, outer)]


def interleaved(outer: ThreadID, inner: ThreadID, tiles: Tiles) -> list[Node]:
    """As many neighbouring tiles as have threads share a block, of which neighbouring threads are in neighbouring
    tiles: with tiles of s threads, `outer / s * s * s + inner * s + outer % s`.
    """
    width = DynamicConstantNode(tiles.size)
    block, lane = Binary(BinaryOp.DIV, outer, width), Binary(BinaryOp.REM, outer, width)
    rows = Binary(BinaryOp.MUL, block, width)
    row = Binary(BinaryOp.ADD, rows, inner)
    start = Binary(BinaryOp.MUL, row, width)
    return [width, block, lane, rows, row, start, Binary(BinaryOp.ADD, start, lane)]


def tile(body: ForkBody, tiles: Tiles, numbering: Numbering) -> None:
    """Replace a fork by one of tiles around one of the threads of a tile."""
    function, fork, join, factor = body.forks.placed.function, body.fork, body.join, body.fork.factor
    (first,) = body.forks.placed.graph.successors[fork]
    users = {reduce: body.inside_users(reduce) for reduce in body.reduces}
    inside, number, made = _numbered(body, tiles, numbering)
    end = Join(inside if first is join else join.control, span=join.span)
    carried = {it: Reduce(end, it, it.update, label=it.label, span=it.span) for it in body.reduces}
    for reduce, inner in carried.items():
        inner.update = carried.get(reduce.update, reduce.update) if isinstance(reduce.update, Reduce) else reduce.update
        for user in users[reduce]:
            replace_predecessor(user, reduce, inner)
        reduce.update = inner
    if tiles.is_exact:
        if first is not join:
            replace_predecessor(first, fork, inside)
    else:
        made += _guard(inside, end, None if first is join else first, number, factor, fork, list(carried.values()))
    join.control, fork.factor = end, tiles.count
    function.nodes = [it for it in [*function.nodes, *made, *carried.values(), end] if it not in body.threads]
    replace_all(function, dict.fromkeys(body.threads, number))


def _numbered(body: ForkBody, tiles: Tiles, numbering: Numbering) -> tuple[Fork, Node, list[Node]]:
    """The fork of a tile's threads, the number that a thread had before, and all nodes made for them."""
    inside = Fork(body.fork, tiles.size, span=body.fork.span)
    outer, inner = ThreadID(body.fork), ThreadID(inside)
    made = numbering(outer, inner, tiles)
    made[-1].label = next((it.label for it in body.threads), "")
    return inside, made[-1], [inside, outer, inner, *made]


def _guard(
    tile: Fork, end: Join, first: Node | None, number: Node, factor: DynamicConstant, fork: Fork, carried: list[Reduce]
) -> list[Node]:
    """Have only the threads that there were before run the body; the nodes made for that."""
    limit = DynamicConstantNode(factor)
    is_thread = Binary(BinaryOp.LESS, number, limit)
    test = If(tile, is_thread)
    past, inside = Read(test, [ControlIndex(0)]), Read(test, [ControlIndex(1)])
    if first is not None:
        replace_predecessor(first, fork, inside)
    region = Region([past, inside if first is None else end.control])
    end.control = region
    made: list[Node] = [limit, is_thread, test, past, inside, region]
    for reduce in carried:
        reduce.update = Phi(region, [reduce, reduce.update], span=reduce.span)
        made.append(reduce.update)
    return made
