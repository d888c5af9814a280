"""What gangs cannot run yet: a table of rules, asked once for each gang before any of its code is written.

A function with a gang that breaks a rule runs a thread after another; the reason is what `CompiledKernel.tier_reason`
says. What the table lets pass can be written: the emitters only assert it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ....ir.hercules import nodes as h
from ....ir.hercules.analyses import block_leader
from ....ir.hercules.types import is_collection
from ..layout import ArrayLayout, Layout, ProductLayout
from ..storage import Storage
from .analysis.analyse import GangAnalysis

PRIVATE_LIMIT = 1 << 17
"""The most bytes of the copies that all lanes of a gang have of one collection: they are on the stack."""
COPIED_LIMIT = 1024
"""The most scalars of a lane-private collection that is filled or copied: each scalar is an instruction or two."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`reason` is what a gang that breaks the rule has, as users read it; `is_broken` says whether a gang does."""

    name: str
    reason: str
    is_broken: Callable[[GangAnalysis], bool]


def obstacle(gangs: Sequence[GangAnalysis]) -> str | None:
    """The reason of the first rule that one of a function's gangs breaks, None if all can run."""
    if not gangs:
        return NO_LANES
    return next((rule.reason for gang in gangs for rule in RULES if rule.is_broken(gang)), None)


# Reduces and Collects


def _reduces(gang: GangAnalysis) -> Iterator[tuple[h.Reduce, h.Fork]]:
    """The Reduces of the gang's forks and of those inside, each with its fork."""
    for fork in _forks(gang):
        yield from ((node, fork) for node in gang.placed.members.reduces.get(fork, ()))


def _collection_reduces(gang: GangAnalysis) -> Iterator[tuple[h.Reduce, h.Fork]]:
    yield from ((node, fork) for node, fork in _reduces(gang) if is_collection(gang.placed.types[node]))


def _collects(gang: GangAnalysis) -> Iterator[tuple[h.Collect, h.Fork]]:
    """The Collects of the gang's forks and of those inside, each with its fork."""
    for fork in _forks(gang):
        yield from ((node, fork) for node in gang.placed.members.collects.get(fork, ()))


def _forks(gang: GangAnalysis) -> list[h.Fork]:
    """The gang's forks and those inside."""
    inside = (it for it in gang.body.level_of if isinstance(it, h.Fork))
    return list(dict.fromkeys((*gang.gang.forks, *inside)))


def _reduces_number(gang: GangAnalysis) -> bool:
    return any(not is_collection(gang.placed.types[node]) for node, _ in _reduces(gang))


def _copies_in_fork(gang: GangAnalysis) -> bool:
    for node, fork in _collection_reduces(gang):
        is_opened = fork is not gang.body.fork and gang.plan.needs_transfer(node.init, node)
        if (is_opened and gang.plan.of(node) not in gang.private) or gang.plan.needs_transfer(node.update, node):
            return True
    return False


def _collects_inside(gang: GangAnalysis) -> bool:
    forks = gang.gang.forks
    return any(fork not in forks and fork in gang.body.level_of for _, fork in _collects(gang))


def _collects_apart(gang: GangAnalysis) -> bool:
    return any(
        (fork in gang.gang.forks[:-1] and not _is_nested(node, gang))
        or (fork is gang.gang.forks[-1] and _depth(gang.plan.of(node)) < len(gang.gang.forks) - 1)
        for node, fork in _collects(gang)
    )


def _is_nested(node: h.Collect, gang: GangAnalysis) -> bool:
    """Whether what a Collect gathers is put straight into its place."""
    inner = node.value
    return isinstance(inner, h.Collect) and gang.plan.of(inner).parent is gang.plan.of(node)


def _depth(storage: Storage) -> int:
    """How many storages one is inside of."""
    return 0 if storage.parent is None else 1 + _depth(storage.parent)


def _collects_collections(gang: GangAnalysis) -> bool:
    innermost = gang.gang.forks[-1]
    return any(fork is innermost and is_collection(gang.placed.types[node.value]) for node, fork in _collects(gang))


# Copies from storage to storage


def _phi_copies(gang: GangAnalysis) -> Iterator[tuple[h.Node, list[tuple[h.Node, h.Phi]]]]:
    """The blocks of a body with what goes from each end to the Phis of collections."""
    found: dict[h.Node, list[tuple[h.Node, h.Phi]]] = {}
    for region in gang.body.level_of:
        if not isinstance(region, h.Region):
            continue
        for phi in gang.placed.members.phis.get(region, ()):
            for value, before in zip(phi.values, region.predecessors, strict=True):
                if before in gang.placed.live and is_collection(gang.placed.types[phi]):
                    found.setdefault(block_leader(before), []).append((value, phi))
    yield from found.items()


def _transfers(gang: GangAnalysis) -> Iterator[tuple[h.Node, h.Node]]:
    """The versions that gangs continue in other storage, each with what continues it."""
    pairs: list[tuple[h.Node, h.Node]] = [pair for _, copies in _phi_copies(gang) for pair in copies]
    pairs += [(node.init, node) for node, fork in _collection_reduces(gang) if fork is not gang.body.fork]
    pairs += [(node.collection, node) for node in _nodes(gang) if isinstance(node, (h.Write, h.Atomic))]
    yield from (pair for pair in pairs if gang.plan.needs_transfer(*pair))


def _nodes(gang: GangAnalysis) -> Iterator[h.Node]:
    """The nodes in the blocks of a body."""
    for leader in gang.body.level_of:
        yield from gang.placed.blocks[leader]


def _exchanges_arrays(gang: GangAnalysis) -> bool:
    return any(_overwrites(gang, copy, copies) for _, copies in _phi_copies(gang) for copy in copies)


def _overwrites(gang: GangAnalysis, copy: tuple[h.Node, h.Phi], copies: Iterable[tuple[h.Node, h.Phi]]) -> bool:
    """Whether a copy writes to the storage of another value that leaves the block."""
    value, phi = copy
    if not gang.plan.needs_transfer(value, phi):
        return False
    others = [it for it, _ in copies if it is not value and not isinstance(it, h.ConstantNode)]
    return any(gang.plan.of(it) is gang.plan.of(phi) for it in others)


def _begins_with_table(gang: GangAnalysis) -> bool:
    sources = (it for it, _ in _transfers(gang) if isinstance(it, h.ConstantNode))
    return any(not isinstance(it.value, h.ZeroConstant) for it in sources)


def _copies_shared(gang: GangAnalysis) -> bool:
    sources = (it for it, _ in _transfers(gang) if not isinstance(it, h.ConstantNode))
    return any(gang.plan.of(it) not in gang.private for it in sources)


# Inner forks, accesses and private memory


def _has_unknown_fork(gang: GangAnalysis) -> bool:
    forks = [level.container for level in gang.body.levels[1:] if isinstance(level.container, h.Fork)]
    return any(not isinstance(it.factor, h.DynamicLiteral) or it.factor.value == 0 for it in forks)


def _reads_collection(gang: GangAnalysis) -> bool:
    reads = (it for it in _nodes(gang) if isinstance(it, h.Read) and not isinstance(it.collection, h.Atomic))
    return any(is_collection(gang.placed.types[it]) for it in reads)


def _writes_collection(gang: GangAnalysis) -> bool:
    writes = (it for it in _nodes(gang) if isinstance(it, h.Write))
    return any(is_collection(gang.placed.types[it.value]) for it in writes)


def _has_unsized_array(gang: GangAnalysis) -> bool:
    return any(_scalars(it.layout) is None for it in gang.private)


def _has_large_array(gang: GangAnalysis) -> bool:
    sizes = [it.constant_size or 0 for it in gang.private]
    copied = [_scalars(gang.plan.of(target).layout) or 0 for _, target in _transfers(gang)]
    return any(it * gang.gang.threads > PRIVATE_LIMIT for it in sizes) or any(it > COPIED_LIMIT for it in copied)


def _scalars(layout: Layout) -> int | None:
    """How many scalars a layout has, None if that depends on dynamic constants."""
    match layout:
        case ArrayLayout(extent=h.DynamicLiteral(value=count), element=element):
            inner = _scalars(element)
            return None if inner is None else count * inner
        case ArrayLayout():
            return None
        case ProductLayout(fields=fields):
            counts = [_scalars(it) for it in fields]
            return None if None in counts else sum(it for it in counts if it is not None)
        case _:
            return 1


NO_LANES = "the workgroups have one invocation"
"""Why a function without gangs has none."""

RULES = (
    Rule("lanes reduce no numbers", "a number reduced over lanes", _reduces_number),
    Rule("a fork's collection stays where it is", "a collection copied in a fork", _copies_in_fork),
    Rule("only the gang's forks collect", "a fork inside that collects", _collects_inside),
    Rule("what several forks collect is one storage", "a collection collected over several forks", _collects_apart),
    Rule("scalars are collected", "collections that are collected", _collects_collections),
    Rule("factors of inner forks are known", "a fork inside whose factor is not known", _has_unknown_fork),
    Rule("scalars are read", "a copy of a collection", _reads_collection),
    Rule("scalars are written", "an access to a whole collection", _writes_collection),
    Rule("no arrays are exchanged", "private arrays that change places", _exchanges_arrays),
    Rule("private arrays begin as zeros", "a private array that begins with a table", _begins_with_table),
    Rule("only lane-private collections are copied", "a private copy of a shared collection", _copies_shared),
    Rule("private arrays have a size", "a private array of unknown size", _has_unsized_array),
    Rule("private arrays are small", "a large private array", _has_large_array),
)
"""In the order in which they are asked."""
