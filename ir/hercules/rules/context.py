"""The definition of a rule, and the facts about a function that rules use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

from ....base.cached import cached_property
from .. import dynamic
from ..analyses import (
    ControlGraph,
    Dominators,
    ForkNest,
    control_graph,
    dominators,
    fork_nest,
    post_dominators,
)
from ..graph import predecessors
from ..inference import infer_types
from ..nodes import (
    Array,
    Bool,
    Control,
    Float,
    Function,
    Integer,
    Module,
    Node,
    Product,
    Summation,
    Type,
)
from ..text import type_text
from ..types import has_known_width


@dataclass(frozen=True, slots=True)
class Mistake:
    """A broken rule: a sentence about a node, or, where that is None, about a whole function."""

    rule: str
    function: Function
    node: Node | None
    message: str


@dataclass(frozen=True)
class Context:
    """The facts about a function that rules use, computed on first use."""

    function: Function
    module: Module

    @cached_property
    def types(self) -> dict[Node, Type]:
        """The type of each node that has one."""
        return infer_types(self.function)

    @cached_property
    def typed(self) -> list[Node]:
        """The nodes whose predecessors all have types."""
        return [node for node in self.function.nodes if all(it in self.types for it in predecessors(node))]

    @cached_property
    def members(self) -> frozenset[Node]:
        """The nodes of the function."""
        return frozenset(self.function.nodes)

    @cached_property
    def graph(self) -> ControlGraph:
        """Its control flow."""
        return control_graph(self.function)

    @cached_property
    def dominators(self) -> Dominators:
        """Its dominator tree."""
        return dominators(self.graph)

    @cached_property
    def post_dominators(self) -> Dominators:
        """Its post-dominator tree."""
        return post_dominators(self.graph)

    @cached_property
    def nest(self) -> ForkNest:
        """Its forks and joins."""
        return fork_nest(self.graph)

    def type_text(self, node: Node) -> str:
        """The type of a node, for messages."""
        type = self.types.get(node)
        return "no type" if type is None else type_text(type, self.function.dynamic_constants)


NodeCheck = Callable[[Node, Context], Iterator[str]]
FunctionCheck = Callable[[Context], "Iterator[tuple[Node | None, str]]"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: for each node by itself, or for a function as a whole. `sentence` is what it demands."""

    name: str
    sentence: str
    each: NodeCheck | None = None
    whole: FunctionCheck | None = None

    def mistakes(self, context: Context, nodes: Iterable[Node]) -> Iterator[Mistake]:
        """Where the function breaks it; a rule for each node looks at these nodes."""
        if self.each is not None:
            for node in nodes:
                for message in self.each(node, context):
                    yield Mistake(self.name, context.function, node, message)
        if self.whole is not None:
            for place, message in self.whole(context):
                yield Mistake(self.name, context.function, place, message)


def is_well_formed(type: Type, context: Context) -> bool:
    """Whether its widths exist, its sums have variants and its extents are of this function."""
    count = len(context.function.dynamic_constants)
    match type:
        case Bool() | Integer() | Float():
            return has_known_width(type)
        case Product(parts):
            return all(is_well_formed(it, context) for it in parts)
        case Summation(parts):
            return len(parts) > 0 and all(is_well_formed(it, context) for it in parts)
        case Array(element, extent):
            return is_well_formed(element, context) and all(0 <= it < count for it in dynamic.parameters(extent))
        case Control(factors):
            return all(0 <= it < count for factor in factors for it in dynamic.parameters(factor))
        case _:
            assert_never(type)
