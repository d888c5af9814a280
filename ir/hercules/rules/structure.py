"""Rules on the structure of a function, which later groups rely on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from .. import dynamic
from ..graph import predecessors
from ..nodes import (
    Array,
    Bool,
    Call,
    Collect,
    ConstantNode,
    Control,
    ControlNode,
    DynamicConstant,
    DynamicConstantNode,
    Float,
    FloatingNode,
    Fork,
    Integer,
    Join,
    Node,
    Parameter,
    Phi,
    PinnedNode,
    Product,
    Reduce,
    Region,
    Start,
    Summation,
    ThreadID,
    Type,
)
from ..types import (
    constant_type,
    is_data,
)
from .context import Context, Rule, is_well_formed


def _start(context: Context) -> Iterator[tuple[Node | None, str]]:
    nodes = context.function.nodes
    if not nodes or not isinstance(nodes[0], Start):
        yield None, "the first node is no start"
    yield from ((node, "is a second start") for node in nodes[1:] if isinstance(node, Start))


def _members(context: Context) -> Iterator[tuple[Node | None, str]]:
    seen: set[Node] = set()
    for node in context.function.nodes:
        if node in seen:
            yield node, "stands twice in the node list"
        seen.add(node)
        if any(it not in context.members for it in predecessors(node)):
            yield node, "uses a node that is not in the function"


def _parameters(context: Context) -> Iterator[tuple[Node | None, str]]:
    function = context.function
    if len(function.parameter_names) != len(function.parameter_types):
        yield None, f"{len(function.parameter_names)} parameter names for {len(function.parameter_types)} types"
    if len(set(function.parameter_names)) != len(function.parameter_names):
        yield None, "two parameters have one name"
    if len(set(function.dynamic_constants)) != len(function.dynamic_constants):
        yield None, "two dynamic constants have one name"
    for type in (*function.parameter_types, function.return_type):
        if not is_data(type):
            yield None, "control is passed or returned"
        if not is_well_formed(type, context):
            yield None, "the type of a parameter or of the result is not well-formed"


def _parameter(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, Parameter) and not 0 <= node.index < len(context.function.parameter_types):
        yield f"there is no parameter {node.index}"


def _dynamic(node: Node, context: Context) -> Iterator[str]:
    count = len(context.function.dynamic_constants)
    if any(not 0 <= index < count for it in _dynamic_constants(node) for index in dynamic.parameters(it)):
        yield "there is no such dynamic constant"


def _dynamic_constants(node: Node) -> Iterator[DynamicConstant]:
    match node:
        case Fork(factor=factor):
            yield factor
        case DynamicConstantNode(value):
            yield value
        case Call(dynamic_constants=them):
            yield from them
        case ConstantNode(value):
            yield from _extents(constant_type(value))
        case FloatingNode() | PinnedNode() | ControlNode():
            pass
        case _:
            assert_never(node)


def _extents(type: Type) -> Iterator[DynamicConstant]:
    match type:
        case Array(element, extent):
            yield extent
            yield from _extents(element)
        case Product(parts) | Summation(parts):
            for part in parts:
                yield from _extents(part)
        case Control(factors):
            yield from factors
        case Bool() | Integer() | Float():
            pass
        case _:
            assert_never(type)


def _pins(node: Node, context: Context) -> Iterator[str]:
    if not isinstance(node, PinnedNode):
        return
    match node:
        case Phi(region):
            if not isinstance(region, Region):
                yield "a phi belongs to a region"
        case ThreadID(fork):
            if not isinstance(fork, Fork):
                yield "a thread_id belongs to a fork"
        case Collect(join) | Reduce(join):
            if not isinstance(join, Join):
                yield f"a {type(node).__name__.lower()} belongs to a join"
        case _:
            assert_never(node)


def _callee(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, Call) and node.callee not in context.module.functions:
        yield "calls a function that is not in the module"


STRUCTURE: tuple[Rule, ...] = (
    Rule("start", "The first node is the only start", whole=_start),
    Rule("members", "A function holds every node that it uses, once", whole=_members),
    Rule("parameters", "Parameters and dynamic constants have distinct names and data types", whole=_parameters),
    Rule("parameter", "A parameter's index is in range", each=_parameter),
    Rule("dynamic", "Dynamic constants are those of the function", each=_dynamic),
    Rule("pins", "Phi, thread_id, collect and reduce belong to a region, fork or join", each=_pins),
    Rule("callee", "Called functions are in the module", each=_callee),
)
