"""Gathers workgroups of one invocation, so that they are the threads of gangs.

Such workgroups share nothing and never wait, so that several of them are equivalent to one of several invocations. The
last of the new ones may have threads that do not exist; their gang masks them. A gang takes as long for one thread as
for all, so that few workgroups are better run one after another, each by a worker: that code is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .....ir.hercules import dynamic
from .....ir.hercules import nodes as h
from .....ir.hercules.copying import copy_of
from .....ir.hercules.graph import def_use, map_predecessors
from .....ir.hercules.types import U32
from .widen import ThreadLimit, casts_of, hands_through, perfect_nest


@dataclass(frozen=True, slots=True)
class WorkgroupsOfOne:
    """A function whose workgroups have one invocation, which `casts` make integers of the last number of; there are
    `count` of them along that axis. Its forks and joins are perfectly nested, outermost first.
    """

    function: h.Function
    forks: Sequence[h.Fork]
    joins: Sequence[h.Join]
    casts: Sequence[h.Node]
    count: h.DynamicParameter


@dataclass(frozen=True, slots=True)
class Grouped:
    """A function whose workgroups are gathered, with the limit of its threads. It may only run if there are more
    `workgroups` along an axis than `few`.
    """

    function: h.Function
    limit: ThreadLimit
    workgroups: h.DynamicParameter
    few: int


def workgroups_of_one(function: h.Function) -> WorkgroupsOfOne | None:
    """The workgroups of a function, None if they have several invocations or know more than their number."""
    users = def_use(function)
    nest = perfect_nest(function, users)
    if nest is None or len(nest[0]) < 2 or any(isinstance(it.factor, h.DynamicLiteral) for it in nest[0]):
        return None
    forks, joins = nest
    casts = casts_of(function, forks[-1], users)
    found = [it for it in casts if it is not None]
    count = forks[-1].factor
    if not found or None in casts or not isinstance(count, h.DynamicParameter) or not hands_through(function, joins):
        return None
    return WorkgroupsOfOne(function, forks, joins, found, count)


def grouped(single: WorkgroupsOfOne, lanes: int, *, few: int) -> Grouped:
    """The function with workgroups of `lanes` threads, where there are more than `few` of its own."""
    count = single.count
    made, outer, inner = _copy(single.function, single.forks[-1], single.joins[-1], single.casts, lanes)
    outer.factor = extent_of_workgroups(count, few, lanes)
    return Grouped(made, ThreadLimit(outer, inner, lanes, count), count, few)


def extent_of_workgroups(count: h.DynamicConstant, few: int, lanes: int) -> h.DynamicConstant:
    """The number of new workgroups: `count` if that is not more than `few`, else one for each gang."""
    literal = dynamic.literal
    are_many = dynamic.binary(h.DynamicOp.MIN, dynamic.div(count, literal(few + 1)), dynamic.ONE)
    gangs = dynamic.div(dynamic.add(count, literal(lanes - 1)), literal(lanes))
    alone = dynamic.mul(dynamic.sub(dynamic.ONE, are_many), count)
    return dynamic.add(dynamic.mul(are_many, gangs), alone)


def _copy(
    function: h.Function, fork: h.Fork, join: h.Join, casts: Sequence[h.Node], lanes: int
) -> tuple[h.Function, h.Fork, h.Fork]:
    """A copy with a new fork inside of the innermost one; these two forks."""
    wide, copies = copy_of(function)
    nodes = wide.nodes
    outer, last = copies[fork], copies[join]
    assert isinstance(outer, h.Fork)
    assert isinstance(last, h.Join)
    inner, own_join = h.Fork(outer, dynamic.literal(lanes)), h.Join(last.control)
    pairs = [(it, h.Reduce(own_join, it, it.update)) for it in nodes if isinstance(it, h.Reduce) and it.join is last]
    numbers = [_number(copies[cast], inner, lanes) for cast in casts]
    replaced: dict[h.Node, h.Node] = {outer: inner, **dict(pairs)}
    replaced |= {copies[cast]: made[-1] for cast, made in zip(casts, numbers, strict=True)}
    around = {it for it in nodes if isinstance(it, h.ThreadID) or (isinstance(it, h.Reduce) and it.join is not last)}
    for node in [*(it for it in nodes if it not in around), own_join, *(made for _, made in pairs)]:
        map_predecessors(node, lambda used: replaced.get(used, used))
    for before, made in pairs:
        made.init, before.update = before, made
    last.control = own_join
    nodes[1:1] = [inner, own_join, *(made for _, made in pairs), *(it for made in numbers for it in made)]
    return wide, outer, inner


def _number(cast: h.Node, inner: h.Fork, lanes: int) -> list[h.Node]:
    """The nodes that compute a workgroup's number, which is last, where a cast has the new workgroup's."""
    size = h.ConstantNode(h.IntegerConstant(U32, lanes))
    first = h.Binary(h.BinaryOp.MUL, cast, size)
    thread = h.ThreadID(inner)
    own = h.Cast(U32, thread)
    return [size, first, thread, own, h.Binary(h.BinaryOp.ADD, first, own)]
