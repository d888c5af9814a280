"""Rules on the types of nodes: operand and result types of each kind, after the Hercules IR document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from .. import arithmetic, dynamic, operations
from ..graph import control_predecessors, predecessors
from ..nodes import (
    Array,
    ArrayConstant,
    Atomic,
    BoolConstant,
    Call,
    Collect,
    Constant,
    ConstantNode,
    Control,
    ControlIndex,
    ControlNode,
    Float,
    FloatConstant,
    If,
    InputNode,
    Integer,
    IntegerConstant,
    Join,
    Match,
    Node,
    Phi,
    PinnedNode,
    PositionIndex,
    Product,
    ProductConstant,
    ProductNode,
    Read,
    Reduce,
    Region,
    Return,
    ScalarNode,
    Summation,
    SummationConstant,
    VariantIndex,
    Write,
    WritingNode,
    ZeroConstant,
)
from ..text import type_text
from ..types import (
    BOOL,
    U64,
    constant_type,
    indexed_type,
    is_collection,
    is_data,
    substitute,
)
from .context import Context, Rule, is_well_formed


def _typed(context: Context) -> Iterator[tuple[Node | None, str]]:
    yield from ((node, "has no type") for node in context.function.nodes if node not in context.types)


def _control_input(node: Node, context: Context) -> Iterator[str]:
    at = (node.control,) if isinstance(node, Call) and node.control is not None else ()
    for before in (*control_predecessors(node), *at):
        is_branch = isinstance(node, Read) and isinstance(before, (If, Match))
        if not is_branch and not isinstance(context.types[before], Control):
            yield f"control comes from a node of type {context.type_text(before)}"


def _region(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, Region):
        if not node.predecessors:
            yield "a region needs a predecessor"
        if len({context.types[it] for it in node.predecessors}) > 1:
            yield "the predecessors have different control types"
        if len(set(node.predecessors)) != len(node.predecessors):
            yield "control comes twice from one node"


def _if(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, If) and context.types[node.condition] != BOOL:
        yield f"the condition has type {context.type_text(node.condition)} instead of bool"


def _match(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, Match) and not isinstance(context.types[node.sum], Summation):
        yield f"matches a value of type {context.type_text(node.sum)}, which is no sum"


def _join(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, Join):
        type = context.types[node.control]
        if isinstance(type, Control) and not type.factors:
            yield "there is no fork to join"


def _phi(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, Phi) and isinstance(node.region, Region):
        if len(node.values) != len(node.region.predecessors):
            yield f"has {len(node.values)} values for a region of {len(node.region.predecessors)} predecessors"
        if len({context.types[it] for it in node.values}) > 1:
            yield "the values have different types"
        if not is_data(context.types[node]):
            yield "the values are control"


def _reduce(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, Reduce):
        if context.types[node.init] != context.types[node.update]:
            yield (f"starts from {context.type_text(node.init)} but goes on with {context.type_text(node.update)}")
        if not is_data(context.types[node.init]):
            yield "carries control"


def _collect(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, Collect) and not is_data(context.types[node.value]):
        yield "collects control"


def _return(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, Return):
        if context.types[node.control] != Control(()):
            yield "returns from within a fork"
        if context.types[node.value] != context.function.return_type:
            wanted = type_text(context.function.return_type, context.function.dynamic_constants)
            yield f"returns type {context.type_text(node.value)} instead of {wanted}"


def _constant(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, ConstantNode):
        type = constant_type(node.value)
        if not is_data(type) or not is_well_formed(type, context):
            yield "the constant's type is not well-formed"
        elif not _fits(node.value):
            yield "the constant is no value of its type"


def _fits(constant: Constant) -> bool:
    match constant:
        case BoolConstant() | ZeroConstant():
            return True
        case IntegerConstant(type, value):
            return isinstance(type, Integer) and arithmetic.is_exact(type, value)
        case FloatConstant(type, value):
            return isinstance(type, Float) and arithmetic.is_exact(type, value)
        case ProductConstant(type, parts):
            return (
                isinstance(type, Product) and tuple(map(constant_type, parts)) == type.fields and all(map(_fits, parts))
            )
        case SummationConstant(type, variant, value):
            is_one = isinstance(type, Summation) and 0 <= variant < len(type.variants)
            return is_one and indexed_type(type, [VariantIndex(variant)]) == constant_type(value) and _fits(value)
        case ArrayConstant(type, parts):
            if not isinstance(type, Array) or type.extent != dynamic.literal(len(parts)):
                return False
            return all(constant_type(it) == type.element and _fits(it) for it in parts)
        case _:
            assert_never(constant)


def _operation(rule: operations.OperandRule) -> Rule:
    """The rule of the verifier on the operands of operations on scalars."""

    def mistakes(node: Node, context: Context) -> Iterator[str]:
        if isinstance(node, ScalarNode) and isinstance(node, rule.kinds):
            yield from operations.mistakes(node, context.types, context.type_text)

    return Rule(rule.name, rule.sentence, each=mistakes)


def _call(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, Call):
        callee, given = node.callee, node.dynamic_constants
        if len(given) != len(callee.dynamic_constants):
            yield f"gives {len(given)} dynamic constants instead of {len(callee.dynamic_constants)}"
        elif len(node.arguments) != len(callee.parameter_types):
            yield f"gives {len(node.arguments)} arguments instead of {len(callee.parameter_types)}"
        else:
            for argument, parameter in zip(node.arguments, callee.parameter_types, strict=True):
                wanted = substitute(parameter, given)
                if context.types[argument] != wanted:
                    text = type_text(wanted, context.function.dynamic_constants)
                    yield f"gives an argument of type {context.type_text(argument)} instead of {text}"


def _access(node: Node, context: Context) -> Iterator[str]:
    """Read, Write and Atomic: the indices fit the type of the collection, and positions are u64."""
    if not isinstance(node, (Read, Write, Atomic)):
        return
    above = context.types[node.collection]
    if indexed_type(above, node.indices) is None:
        yield f"the indices do not fit type {context.type_text(node.collection)}"
    for index in node.indices:
        if isinstance(index, PositionIndex) and context.types[index.position] != U64:
            yield f"a position has type {context.type_text(index.position)} instead of u64"
    if isinstance(node, (Write, Atomic)) and (not is_collection(above) or not node.indices):
        yield "writes to what is no element of a collection"


def _projection(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, Read) and any(isinstance(it, ControlIndex) for it in node.indices):
        if not isinstance(node.collection, (If, Match)) or len(node.indices) != 1:
            yield "only an if or a match has ways out"
    elif isinstance(node, Read) and not is_data(context.types[node.collection]):
        yield "reads control; a way out of an if or a match is read with control"


def _write(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, Write):
        wanted = indexed_type(context.types[node.collection], node.indices)
        if wanted is not None and context.types[node.value] != wanted:
            text = type_text(wanted, context.function.dynamic_constants)
            yield f"writes a value of type {context.type_text(node.value)} into an element of type {text}"


def _atomic(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, Atomic):
        element = indexed_type(context.types[node.collection], node.indices)
        wanted = arithmetic.ATOMIC_OPERANDS.get(node.op, 1)
        if not isinstance(element, Integer):
            yield "the element is no integer"
        if len(node.operands) != wanted:
            yield f"an atomic {node.op.value} has {wanted} operands"
        if any(context.types[it] != element for it in node.operands):
            yield "an operand is not of the element's type"


def _product(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, ProductNode) and not all(is_data(context.types[it]) for it in node.fields):
        yield "has a field that is control"


def _data_inputs(node: Node, context: Context) -> Iterator[str]:
    """Operands of computations are data, and nothing uses a return."""
    if any(isinstance(it, Return) for it in predecessors(node)):
        yield "uses a return"
    match node:
        case Call(arguments=arguments):
            if not all(is_data(context.types[it]) for it in arguments):
                yield "computes with control"
        case ScalarNode() | WritingNode() | ProductNode():
            if not all(is_data(context.types[it]) for it in predecessors(node)):
                yield "computes with control"
        case Read() | InputNode() | PinnedNode() | ControlNode():
            pass
        case _:
            assert_never(node)


TYPING: tuple[Rule, ...] = (
    Rule(
        "typed", "Every node has a type; so control is reachable, as its types come from the start alone", whole=_typed
    ),
    Rule("control-input", "Control comes from nodes of control type", each=_control_input),
    Rule("region", "The predecessors of a region have one control type", each=_region),
    Rule("if", "The condition of an if is a bool", each=_if),
    Rule("match", "A match takes a sum", each=_match),
    Rule("join", "A join is inside a fork", each=_join),
    Rule("phi", "A phi has one value of its type for each predecessor of its region", each=_phi),
    Rule("reduce", "A reduce has one type of data", each=_reduce),
    Rule("collect", "A collect takes data", each=_collect),
    Rule("return", "A return is outside all forks and gives the function's type", each=_return),
    Rule("constant", "A constant is a value of its type", each=_constant),
    *map(_operation, operations.OPERAND_RULES),
    Rule("call", "A call fits its callee's dynamic constants and parameters", each=_call),
    Rule("access", "Indices fit the collection, and positions are u64", each=_access),
    Rule("projection", "Control is read from an if or a match only", each=_projection),
    Rule("write", "A write's value has the type of the element", each=_write),
    Rule("atomic", "An atomic is on an integer, with operands of its type", each=_atomic),
    Rule("product", "The fields of a product are data", each=_product),
    Rule("data", "Computations take data, and nothing takes a return", each=_data_inputs),
)
