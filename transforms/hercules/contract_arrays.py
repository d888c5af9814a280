"""Array contraction: an array of which each thread only uses elements of its own becomes a smaller one in each thread,
or a value.

For grids: what two fused forks passed through memory stays in the thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from ...ir.hercules.cache import Analyses
from ...ir.hercules.graph import is_projection, replace_all, replace_predecessor
from ...ir.hercules.nodes import (
    Array,
    Bool,
    ConstantNode,
    Control,
    DynamicLiteral,
    Float,
    Function,
    Integer,
    Module,
    Node,
    PositionIndex,
    Product,
    Read,
    Reduce,
    Summation,
    Type,
    Write,
    ZeroConstant,
)
from ...ir.hercules.types import is_scalar
from .cleanup import remove_dead
from .forks import ForkBody, Forks
from .independence import OwnPlace


@dataclass(frozen=True)
class ContractArrays:
    """Drops a level of each array that a fork carries where that level only keeps threads apart, until none is left.

    That is a Reduce from zeros, which nothing uses after the join, and of which each thread accesses only elements at
    its own place of one level (see `independence`). Each thread then has the other levels to itself, from zeros: a
    scalar if there are none. What is left has at most `limit` scalars, and as many as the text says, since a thread has
    to keep it.

    An element that is read where it was just written, at the same positions, is the value that was written; that also
    holds for arrays that stay.
    """

    limit: int = 64
    name = "contract_arrays"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            changed |= remove_dead(function)
            known = Analyses(function)
            while _forward(known) or _contract_one(known, self.limit):
                remove_dead(function)
                changed = True
        return changed


def _forward(known: Analyses) -> bool:
    """Use scalars where they are read back."""
    forks = Forks.of(known)
    replacements: dict[Node, Node] = {}
    for node in known.function.nodes:
        if not isinstance(node, Read) or is_projection(node) or not is_scalar(forks.placed.types.get(node)):
            continue
        written = node.collection
        if isinstance(written, Write) and written.indices == node.indices and _is_in_range(forks, node):
            replacements[node] = written.value
    replace_all(known.function, replacements)
    return bool(replacements)


def _is_in_range(forks: Forks, read: Read) -> bool:
    at = [level for level, index in enumerate(read.indices) if isinstance(index, PositionIndex)]
    return all((read, level) in forks.proved for level in at)


def _contract_one(known: Analyses, limit: int) -> bool:
    for body in Forks.of(known).bodies():
        for reduce in body.reduces:
            own = own_level(body, reduce)
            if own is not None and obstacle(body, reduce, own, limit) is None:
                _contract(known.function, body, reduce, own.level)
                return True
    return False


def own_level(body: ForkBody, reduce: Reduce) -> OwnPlace | None:
    """The level of an array at which each thread keeps to its own place."""
    return body.iterations.own_place(reduce, reduce.update, body.threads)


def obstacle(body: ForkBody, reduce: Reduce, own: OwnPlace, limit: int) -> str | None:
    """Why the level stays; None if it goes."""
    if body.outside_users(reduce):
        return "the array is used after the fork"
    if not isinstance(reduce.init, ConstantNode) or not isinstance(reduce.init.value, ZeroConstant):
        return "the array does not begin as zeros"
    left = _without(body.forks.placed.types[reduce], own.level)
    if left is None:
        return "the level is inside a product"
    size = _scalars(left)
    if size is None or size > limit:
        return "a thread would keep too much"
    versions = body.iterations.versions(reduce, reduce.update) or []
    accesses = [it for version in versions for it in body.iterations.accesses(version)]
    if not is_scalar(left) and any(len(it.indices) == 1 for it in accesses):
        return "a thread uses a whole part of the array"
    return None


def _without(type: Type, level: int) -> Type | None:
    """An array type without one of its levels."""
    if not isinstance(type, Array):
        return None
    if level == 0:
        return type.element
    inner = _without(type.element, level - 1)
    return None if inner is None else Array(inner, type.extent)


def _scalars(type: Type) -> int | None:
    """How many scalars a value has; None if only the dynamic constants tell, or its variant."""
    match type:
        case Array(element, DynamicLiteral(count)):
            size = _scalars(element)
            return None if size is None else size * count
        case Product(fields):
            sizes = [_scalars(it) for it in fields]
            known = [it for it in sizes if it is not None]
            return sum(known) if len(known) == len(sizes) else None
        case Array() | Summation() | Control():
            return None
        case Bool() | Integer() | Float():
            return 1
        case _:
            assert_never(type)


def _contract(function: Function, body: ForkBody, reduce: Reduce, level: int) -> None:
    left = _without(body.forks.placed.types[reduce], level)
    assert left is not None
    start = ConstantNode(ZeroConstant(left), label=reduce.label, span=reduce.span)
    versions = body.iterations.versions(reduce, reduce.update) or []
    accesses = dict.fromkeys(it for version in versions for it in body.iterations.accesses(version))
    for user in body.inside_users(reduce):
        replace_predecessor(user, reduce, start)
    replacements: dict[Node, Node] = {}
    for access in accesses:
        access.indices = [*access.indices[:level], *access.indices[level + 1 :]]
        if not access.indices:
            replacements[access] = access.collection if isinstance(access, Read) else access.value
    gone = {reduce, *replacements}
    function.nodes = [*(it for it in function.nodes if it not in gone), start]
    replace_all(function, replacements)
