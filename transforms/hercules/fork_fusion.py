"""Fork fusion: of two forks one after the other, each thread of the first goes on as one of the second.

For grids: one dispatch instead of two, and no array between them. The pipeline for the CPU does not run it, because
gangs rely on the forks as they are translated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...ir.hercules.cache import Analyses
from ...ir.hercules.graph import is_control, predecessors, replace_all, replace_predecessor
from ...ir.hercules.nodes import Collect, Fork, Function, Module, Node, Phi, PositionIndex, Read, Reduce
from ...ir.hercules.types import is_collection, is_scalar
from ...ir.hercules.versions import consumed, is_version_projection, version_of
from .cleanup import Snapshot, remove_dead
from .forks import PLACED_CALLS, ForkBody, Forks


@dataclass(frozen=True)
class ForkFusion:
    """Fuses neighbouring forks, until none can be; arrays that only went from one to the other disappear.

    Two forks become one if

    - the second begins right where the first is joined, and they have the same factor (the same expression);
    - what the first Collects, the second's threads read only at their own number: they get the value itself. The array
      stays if someone else wants it;
    - what the first carries, the second carries on, and then both fold it by the same operation, or both keep to
      elements at one function of their number (see `independence`). Each thread then does the second's part after its
      own first part, and before other threads' first parts: neither shows;
    - of other arrays that the first carries, the second's threads read only elements that the first's thread of their
      number keeps to;
    - nothing else that the second needs is made from what the first leaves;
    - the grid does not get fewer levels: forks around others may only be fused if these can be, too, and a fork whose
      threads are independent, or only fold, is not fused with another (see `ForkBody.levels`). This is asked of the
      outermost forks;
    - of what the second carries, the first's threads read only elements that the second's thread of their number keeps
      to: others would be overwritten too early.
    """

    name = "fork_fusion"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            changed |= remove_dead(function)
            known = Analyses(function)
            while _fuse_one(known):
                changed = True
            remove_dead(function)
        return changed


def _fuse_one(known: Analyses) -> bool:
    kept: set[Node] = set()
    while (pair := _candidate(Forks.of(known), kept)) is not None:
        first, second = pair
        if not first.is_outermost:
            _fuse(known.function, first, second)
            return True
        before, levels = Snapshot.of(known.function), (first.levels, second.levels)
        if levels[0] == levels[1]:
            _fuse(known.function, first, second)
            _fuse_inside(known, first.fork)
            if Forks.of(known).body(first.fork).levels >= levels[0]:
                return True
            before.restore()
        kept.add(first.fork)
    return False


def _candidate(forks: Forks, kept: set[Node]) -> tuple[ForkBody, ForkBody] | None:
    """Neighbours that can be fused, the first of which is none of those that are kept as they are."""
    for first in forks.bodies():
        second = following(first)
        if first.fork not in kept and second is not None and obstacle(first, second) is None:
            return first, second
    return None


def _fuse_inside(known: Analyses, fork: Fork) -> None:
    """Fuse the forks inside a fork where that is possible."""
    while True:
        forks = Forks.of(known)
        around = forks.placed.nest.around
        outside: set[Node] = {it.fork for it in forks.bodies() if it.fork is fork or fork not in around[it.fork]}
        pair = _candidate(forks, outside)
        if pair is None:
            return
        _fuse(known.function, *pair)


def following(first: ForkBody) -> ForkBody | None:
    """The fork right after a join."""
    (after,) = first.forks.placed.graph.successors[first.join]
    return first.forks.body(after) if isinstance(after, Fork) else None


def obstacle(first: ForkBody, second: ForkBody) -> str | None:
    """Why two neighbouring forks cannot become one; None if they can."""
    if first.fork.factor != second.fork.factor:
        return "the forks have different factors"
    if first.has_placed_calls or second.has_placed_calls:
        return PLACED_CALLS
    for collect in first.collects:
        if not all(_is_own_read(it, collect, second) for it in second.inside_users(collect)):
            return "a thread of the second reads what others of the first have collected"
    pairs = _pairs(first, second)
    for reduce, on in pairs.items():
        if first.outside_users(reduce) != [on]:
            return "what lies between the forks is wanted"
        if not _may_interleave(first, reduce, second, on):
            return "the order of the threads shows in what both carry"
    for reduce in first.reduces:
        if reduce not in pairs and not _keep_to(second, second.inside_users(reduce), reduce, first):
            return "the second needs what is made from what the first leaves"
    if _is_fed(first, second, pairs):
        return "the second needs what is made from what the first leaves"
    for on in second.reduces:
        if on.init not in pairs and not _may_overwrite(first, second, on):
            return "the second overwrites what the first reads"
    return None


def _keep_to(body: ForkBody, users: list[Node], carried: Reduce, by: ForkBody) -> bool:
    """Whether users in a fork are Reads that keep to the elements that the threads of their number keep to, in the fork
    `by` that carries an array.
    """
    if not users:
        return True
    own = by.iterations.own_place(carried, carried.update, by.threads)
    if own is None:
        return False
    return all(
        isinstance(it, Read)
        and it.collection in (carried, carried.init)
        and any((at.level, at.form) == (own.level, own.form) for at in body.iterations.places(it, body.threads))
        for it in users
    )


def _may_overwrite(first: ForkBody, second: ForkBody, on: Reduce) -> bool:
    """Whether the second may carry an array in the first's threads already."""
    if not is_collection(first.forks.placed.types[on]):
        return True
    others = [it for version in _overwritten(first, on) if version is not on.init for it in first.inside_users(version)]
    return not others and _keep_to(first, first.inside_users(on.init), on, second)


def _pairs(first: ForkBody, second: ForkBody) -> dict[Reduce, Reduce]:
    """What the first carries and the second carries on."""
    return {init: it for it in second.reduces for init in first.reduces if it.init is init}


def _is_own_read(user: Node, collect: Collect, second: ForkBody) -> bool:
    """Whether a thread of the second reads a scalar that the first's thread of its number has collected."""
    if not isinstance(user, Read) or user.collection is not collect:
        return False
    own, *rest = user.indices
    is_own = isinstance(own, PositionIndex) and own.position in second.threads
    at_rest = [it.position for it in rest if isinstance(it, PositionIndex)]
    return is_own and collect not in at_rest and is_scalar(second.forks.placed.types[user])


def _may_interleave(first: ForkBody, reduce: Reduce, second: ForkBody, on: Reduce) -> bool:
    """Whether threads may do both their parts of a chain at once."""
    fold = first.iterations.fold(reduce, reduce.update)
    if fold is not None:
        return fold == second.iterations.fold(on, on.update)
    before = first.iterations.own_place(reduce, reduce.update, first.threads)
    after = second.iterations.own_place(on, on.update, second.threads)
    return before is not None and after is not None and (before.level, before.form) == (after.level, after.form)


def _is_fed(first: ForkBody, second: ForkBody, pairs: Mapping[Reduce, Reduce]) -> bool:
    """Whether nodes outside both forks bring something of the first into the second, or read, at a place that the
    first decides, what the second carries.
    """
    carried = {version_of(it.init) for it in second.reduces}
    users = first.forks.users
    seen: set[Node] = set()
    left: list[Node] = [*first.collects, *(it for it in first.reduces if it not in pairs)]
    pending = [user for it in left for user in first.outside_users(it) if not second.is_inside(user)]
    while pending:
        node = pending.pop()
        if node in seen or is_control(node) or isinstance(node, (Phi, Reduce, Collect)):
            continue
        seen.add(node)
        if any(version_of(it) in carried for it in predecessors(node)):
            return True
        if any(second.is_inside(it) for it in users[node]):
            return True
        pending.extend(users[node])
    return False


def _overwritten(first: ForkBody, on: Reduce) -> Iterator[Node]:
    """The versions of collections that are gone when the second begins to carry its own."""
    placed = first.forks.placed
    pending = [version_of(on.init)] if is_collection(placed.types[on.init]) else []
    while pending:
        version = pending.pop()
        yield version
        yield from (it for it in first.forks.users[version] if is_version_projection(it))
        pending.extend(it for it, use in consumed(version, placed.types, placed.nest.forks) if use.control is None)


def _fuse(function: Function, first: ForkBody, second: ForkBody) -> None:
    dead: set[Node] = {second.fork, first.join, *_use_values(function, first, second)}
    for reduce, on in _pairs(first, second).items():
        outside, inside = second.outside_users(on), second.inside_users(on)
        for user in inside:
            replace_predecessor(user, on, reduce.update)
        for user in outside:
            replace_predecessor(user, on, reduce)
        reduce.update = on.update
        dead.add(on)
    _share_arrays(first, second)
    for reduce in first.reduces:
        reduce.join = second.join
    for collect in first.collects:
        collect.join = second.join
    for thread in second.threads:
        thread.fork = first.fork
    if first.threads:
        replace_all(function, dict.fromkeys(second.threads, first.threads[0]))
        dead.update(second.threads)
    (after,) = first.forks.placed.graph.successors[second.fork]
    replace_predecessor(after, second.fork, first.join.control)
    function.nodes = [it for it in function.nodes if it not in dead]


def _share_arrays(first: ForkBody, second: ForkBody) -> None:
    """Have each fork's threads read what the other carries in the same thread."""
    pairs = _pairs(first, second)
    for reduce in first.reduces:
        for user in second.inside_users(reduce) if reduce not in pairs else ():
            replace_predecessor(user, reduce, reduce.update)
    for on in second.reduces:
        for user in first.inside_users(on.init) if on not in pairs.values() else ():
            if is_collection(first.forks.placed.types[on]):
                replace_predecessor(user, on.init, on)


def _use_values(function: Function, first: ForkBody, second: ForkBody) -> list[Node]:
    """Have the second's threads use values in place of elements of the first's arrays; the Reads that are gone."""
    replacements: dict[Node, Node] = {}
    for collect in first.collects:
        for user in second.inside_users(collect):
            assert isinstance(user, Read)
            if len(user.indices) == 1:
                replacements[user] = collect.value
            else:
                user.collection, user.indices = collect.value, user.indices[1:]
    replace_all(function, replacements)
    return list(replacements)
