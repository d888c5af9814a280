"""Rules on the declarations of a graph, and on the expressions of all its statements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ...hints import unknown_name
from .. import types
from ..expressions import depth, expressions_of, leaves
from ..nodes import (
    Access,
    Binary,
    BindInput,
    CreateNode,
    Element,
    Expression,
    FloatLiteral,
    Graph,
    Host,
    IntegerLiteral,
    Leaf,
    Length,
    Malloc,
    Query,
    Question,
    Reference,
    Selector,
    Split,
    Statement,
    Type,
)
from ..scope import Scope
from ..text import expression_text, type_text
from .table import StatementRule, each

IDENTIFIER: Final = re.compile(r"[^\W\d]\w*\Z")
MOST_NESTED: Final = 50
"""Maximum nesting of expressions, types and graphs."""
_MOST_COPIES: Final = 1024
_TEXTURE_EXTENTS: Final = {"1d": 1, "2d": 2, "cube": 2}


def _name(statement: Statement) -> str | None:
    return statement.name if isinstance(statement, (CreateNode, Split, Malloc)) else None


def _identifier(statement: Statement, scope: Scope) -> Iterator[str]:
    name = _name(statement)
    if name is not None and not IDENTIFIER.match(name):
        yield f"{name!r} is no identifier"


def _local_name(statement: Statement, scope: Scope) -> Iterator[str]:
    name = _name(statement)
    if name is None:
        return
    if name in scope.inputs:
        yield f"{name!r} is an input of the graph already"
    elif name in scope.children:
        yield f"{name!r} is a node already"
    elif name in scope.transients:
        yield f"{name!r} is a transient buffer already"


def _function_exists(node: CreateNode, scope: Scope) -> Iterator[str]:
    if node.function not in scope.functions:
        message = f"node {node.name!r}: no leaf or graph is named {node.function!r}"
        yield unknown_name(message, node.function, scope.functions)


def _dimensions(node: CreateNode, scope: Scope) -> Iterator[str]:
    if len(node.extents) > 3:
        yield f"node {node.name!r} has {len(node.extents)} dimensions; a node has at most 3"


def _host_extents(node: CreateNode, scope: Scope) -> Iterator[str]:
    if node.extents and isinstance(scope.functions.get(node.function), Host):
        yield f"node {node.name!r} executes {node.function!r} on the host, once: it takes no extents"


def _capacity(node: CreateNode, scope: Scope) -> Iterator[str]:
    if node.capacity is None:
        return
    if node.capacity < 1:
        yield f"node {node.name!r} has the capacity {node.capacity}; a capacity is at least 1"
    if not isinstance(scope.functions.get(node.function), Leaf):
        yield f"node {node.name!r} has a capacity, but executes no leaf"
    written = [it for extent in node.extents for it in leaves(extent) if _is_written(it, scope)]
    if not written:
        yield f"node {node.name!r} has a capacity, but no node writes an extent of it"


def _repeat(node: CreateNode, scope: Scope) -> Iterator[str]:
    function = scope.functions.get(node.function)
    if node.repeat is None or function is None:
        return
    if isinstance(node.repeat, IntegerLiteral) and node.repeat.value < 0:
        yield f"node {node.name!r} is repeated {node.repeat.value} times; a repeat is at least 0"
    if not isinstance(function, Graph):
        yield f"node {node.name!r} has a repeat, but executes no graph"
    elif all(it.access is not Access.INOUT for it in function.ports):
        yield f"node {node.name!r} is repeated, but no output of {function.name!r} has the name of one of its inputs"


def _is_written(part: Expression, scope: Scope) -> bool:
    return isinstance(part, Reference) and part.name in scope.children


def _copies(split: Split, scope: Scope) -> Iterator[str]:
    if not 2 <= split.count <= _MOST_COPIES:
        yield f"split {split.name!r} makes {split.count} copies; a split makes 2 to {_MOST_COPIES}"


def _type_depth(statement: Statement, scope: Scope) -> Iterator[str]:
    if isinstance(statement, (Split, Malloc)) and types.depth(statement.type) > MOST_NESTED:
        yield f"the type of {statement.name!r} is nested more than {MOST_NESTED} levels deep"


def _malloc_extents(malloc: Malloc, scope: Scope) -> Iterator[str]:
    least, most = _extents_of(malloc.type)
    count = len(malloc.extents)
    if least <= count <= most:
        return
    wanted = {(0, 0): "no extent", (1, 1): "one extent, its number of elements"}.get((least, most), f"{least} extents")
    yield f"transient buffer {malloc.name!r}: {type_text(malloc.type)} takes {wanted}, not {count}"


def _extents_of(type: Type) -> tuple[int, int]:
    """The least and the largest number of extents. A structure may end in a runtime-sized array."""
    if types.is_texture(type):
        dimension = type.name.rpartition("_")[2]
        count = _TEXTURE_EXTENTS.get(dimension, 3)
        return count, count
    if types.is_runtime_sized(type):
        return 1, 1
    is_known = bool(type.arguments) or types.is_scalar(type)
    return (0, 0) if is_known else (0, 1)


def _expression_depth(statement: Statement, scope: Scope) -> Iterator[str]:
    if any(depth(it) > MOST_NESTED for it in expressions_of(statement)):
        yield f"an expression is nested more than {MOST_NESTED} levels deep"


def _references(statement: Statement, scope: Scope) -> Iterator[str]:
    for expression in expressions_of(statement):
        for part in leaves(expression):
            if isinstance(part, Length):
                yield from _misused(part.value, scope)
                if not part.value.selectors or scope.endpoint_of(part.value):
                    yield from _without_length(part.value, scope)
            elif isinstance(part, Reference):
                yield from _misused(part, scope)


def _misused(reference: Reference, scope: Scope) -> Iterator[str]:
    """Why a reference leads nowhere."""
    if reference.name in scope.children:
        yield from _misused_child(reference, scope)
        return
    value = scope.value_of(reference.name)
    if value is None:
        known = [*scope.inputs, *scope.transients, *scope.children]
        message = f"{reference.name!r} is no input of the graph, no transient buffer and no node"
        yield unknown_name(message, reference.name, known)
        return
    yield from _wrong_selectors(value.type, reference.selectors, reference)


def _misused_child(reference: Reference, scope: Scope) -> Iterator[str]:
    endpoint = scope.endpoint_of(reference)
    if endpoint is None:
        yield f"{expression_text(reference)!r} is a node: name one of its outputs, as in {reference.name}.count"
        return
    if not scope.is_known(endpoint.node):
        return
    outputs = scope.outputs_of(endpoint.node)
    if endpoint.port not in outputs:
        yield unknown_name(f"node {endpoint.node!r} has no output {endpoint.port!r}", endpoint.port, outputs)
        return
    yield from _wrong_selectors(outputs[endpoint.port], reference.selectors[1:], reference)


def _wrong_selectors(type: Type, selectors: tuple[Selector, ...], reference: Reference) -> Iterator[str]:
    end = _selected(type, selectors)
    if end is not None and isinstance(end, str):
        yield f"{expression_text(reference)}: {end}"


def _selected(type: Type, selectors: tuple[Selector, ...]) -> Type | str | None:
    """The type that selectors lead to, what is wrong with them, or None inside of a structure."""
    for selector in selectors:
        inner = types.element(type)
        if isinstance(selector, Element):
            if inner is None:
                return f"{type_text(type)} has no elements"
            count = type.arguments[1].name if len(type.arguments) > 1 else ""
            if selector.index < 0 or (count.isdigit() and selector.index >= int(count)):
                return f"there is no element {selector.index}"
            type = inner
        elif inner is not None or types.is_scalar(type):
            return f"{type_text(type)} has no members"
        else:
            return None
    return type


def _without_length(reference: Reference, scope: Scope) -> Iterator[str]:
    type = type_of(reference, scope)
    if type is not None and (types.is_scalar(type) or types.is_texture(type)):
        yield f"len({expression_text(reference)}): {type_text(type)} has no elements"


def type_of(reference: Reference, scope: Scope) -> Type | None:
    """The type of the value that a reference leads to; None where it is unknown or the reference is wrong."""
    endpoint = scope.endpoint_of(reference)
    selectors = reference.selectors if endpoint is None else reference.selectors[1:]
    if endpoint is not None:
        known = scope.outputs_of(endpoint.node) if scope.is_known(endpoint.node) else {}
        type = known.get(endpoint.port)
    else:
        value = scope.value_of(reference.name)
        type = None if value is None else value.type
    found = None if type is None else _selected(type, selectors)
    return None if isinstance(found, str) else found


def _numbers(statement: Statement, scope: Scope) -> Iterator[str]:
    for expression in expressions_of(statement):
        if isinstance(statement, BindInput) and not isinstance(expression, Binary):
            continue
        for part in leaves(expression):
            if isinstance(part, FloatLiteral):
                yield f"{expression_text(part)} is no whole number"
            elif isinstance(part, Reference):
                type = type_of(part, scope)
                if type is not None and not types.is_integer(type):
                    yield f"{expression_text(part)} is of type {type_text(type)}, and no whole number"


def _malloc_references(malloc: Malloc, scope: Scope) -> Iterator[str]:
    for expression in malloc.extents:
        for part in leaves(expression):
            reference = part.value if isinstance(part, Length) else part
            if isinstance(reference, Reference) and reference.name in scope.transients:
                yield f"the size of transient buffer {malloc.name!r} depends on that of another, {reference.name!r}"


def _queries(statement: Statement, scope: Scope) -> Iterator[str]:
    for expression in expressions_of(statement):
        for part in leaves(expression):
            if isinstance(part, Query):
                yield from _wrong_query(part, statement)


def _wrong_query(query: Query, statement: Statement) -> Iterator[str]:
    text = expression_text(query)
    if (query.dimension is None) != (query.question is Question.NUM_DIMS):
        wanted = "takes no dimension" if query.question is Question.NUM_DIMS else "needs a dimension, .x, .y or .z"
        yield f"{text} {wanted}"
    if query.level > 0:
        return
    if query.level < 0:
        yield "a query is about a node or one of its ancestors"
    elif not isinstance(statement, BindInput):
        yield f"{text}: the extents of a node are not known before it is made; ask getParentNode(getNode())"
    elif query.question is Question.NODE_INSTANCE_ID:
        yield f"{text} differs between the instances of a node: in a leaf, use WGSL's builtin values"


DEPTHS: Final = (
    StatementRule("expression-depth", "expressions are nested at most 50 levels deep", _expression_depth),
    StatementRule("type-depth", "types are nested at most 50 levels deep", _type_depth),
)
"""For each statement, before all else, since much recurses on expressions and types."""

DECLARATIONS: Final = (
    StatementRule("identifier", "nodes and transient buffers are named by identifiers", _identifier),
    StatementRule("local-names", "inputs, nodes and transient buffers of a graph have different names", _local_name),
    StatementRule(
        "node-function", "a node executes a leaf or a graph of the program", each(CreateNode, _function_exists)
    ),
    StatementRule("dimensions", "a node has at most three dimensions", each(CreateNode, _dimensions)),
    StatementRule(
        "capacity",
        "a capacity is positive, of a leaf's node with an extent that a node writes",
        each(CreateNode, _capacity),
    ),
    StatementRule(
        "repeat",
        "a node that is repeated executes a graph with an output that becomes its input",
        each(CreateNode, _repeat),
    ),
    StatementRule("host-extents", "a leaf on the host is executed once", each(CreateNode, _host_extents)),
    StatementRule("split-count", "a split makes at least two copies", each(Split, _copies)),
    StatementRule("malloc-extents", "a transient buffer has the extents of its type", each(Malloc, _malloc_extents)),
)
"""For each statement that declares a name, before the name is added to the scope."""

EXPRESSIONS: Final = (
    StatementRule("references", "a reference leads to a value", _references),
    StatementRule("whole-numbers", "extents and arithmetic are of whole numbers", _numbers),
    StatementRule(
        "malloc-size", "the size of a transient buffer depends on no other", each(Malloc, _malloc_references)
    ),
    StatementRule("query-form", "a query names a dimension and an ancestor", _queries),
)
"""For each statement, when all names of the graph are known."""
