"""Rules on the types of nodes: what each kind takes and gives, after the Hercules IR document."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .. import arithmetic, dynamic
from ..arithmetic import UnknownOperation
from ..graph import control_predecessors, predecessors
from ..nodes import (
    Array,
    ArrayConstant,
    Atomic,
    Binary,
    Bitcast,
    Bool,
    BoolConstant,
    Call,
    Cast,
    Collect,
    Constant,
    ConstantNode,
    Control,
    ControlIndex,
    Float,
    FloatConstant,
    If,
    Integer,
    IntegerConstant,
    Intrinsic,
    Join,
    Match,
    Node,
    Phi,
    PositionIndex,
    Product,
    ProductConstant,
    ProductNode,
    Read,
    Reduce,
    Region,
    Return,
    Select,
    Summation,
    SummationConstant,
    Unary,
    VariantIndex,
    Write,
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
    is_scalar,
    substitute,
)
from .context import Context, Rule, is_well_formed


def _typed(context: Context) -> Iterator[tuple[Node | None, str]]:
    yield from ((node, "has no type") for node in context.function.nodes if node not in context.types)


def _control_input(node: Node, context: Context) -> Iterator[str]:
    for before in control_predecessors(node):
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


def _unary(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, Unary):
        type = context.types[node.operand]
        if not is_scalar(type) or not _exists(lambda: arithmetic.unary(node.op, type)):
            yield f"there is no {node.op.value} of {context.type_text(node.operand)}"


def _binary(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, Binary):
        type = context.types[node.lhs]
        if type != context.types[node.rhs]:
            yield f"the operands have types {context.type_text(node.lhs)} and {context.type_text(node.rhs)}"
        elif not is_scalar(type) or not _exists(lambda: arithmetic.binary(node.op, type)):
            yield f"there is no {node.op.value} of {context.type_text(node.lhs)}"


def _exists(make: Callable[[], object]) -> bool:
    try:
        make()
    except UnknownOperation:
        return False
    return True


def _select(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, Select):
        if context.types[node.condition] != BOOL:
            yield f"the condition has type {context.type_text(node.condition)} instead of bool"
        if context.types[node.if_true] != context.types[node.if_false]:
            yield f"chooses between {context.type_text(node.if_true)} and {context.type_text(node.if_false)}"
        if not is_scalar(context.types[node.if_true]):
            yield "chooses between values that are no scalars; a phi can"


def _conversion(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, (Cast, Bitcast)):
        source, target = context.types[node.operand], node.type
        if not is_scalar(source) or not is_scalar(target) or not is_well_formed(target, context):
            yield "converts what is no scalar"
        elif isinstance(node, Bitcast) and (
            arithmetic.bit_width(source) != arithmetic.bit_width(target) or isinstance(source, Bool)
        ):
            yield f"there is no bitcast from {context.type_text(node.operand)} to {context.type_text(node)}"


def _intrinsic(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, Intrinsic):
        types = [context.types[it] for it in node.arguments]
        scalars = [it for it in types if is_scalar(it)]
        result = node.type
        if len(scalars) != len(types) or not is_scalar(result):
            yield "has an argument or a result that is no scalar"
        elif not _exists(lambda: arithmetic.intrinsic(node.function, scalars, result)):
            given = ", ".join(context.type_text(it) for it in node.arguments)
            yield f"there is no builtin function {node.function}({given}) -> {context.type_text(node)}"


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
    """Read, Write and Atomic: the indices lead somewhere, and positions are u64."""
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
    """What computes takes data, and nothing uses a return."""
    if any(isinstance(it, Return) for it in predecessors(node)):
        yield "uses a return"
    match node:
        case (
            Unary()
            | Binary()
            | Select()
            | Cast()
            | Bitcast()
            | Intrinsic()
            | Call()
            | Write()
            | Atomic()
            | ProductNode()
        ):
            if not all(is_data(context.types[it]) for it in predecessors(node)):
                yield "computes with control"
        case _:
            pass


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
    Rule("unary", "A unary operation has its operand's type", each=_unary),
    Rule("binary", "A binary operation has two operands of one type that has it", each=_binary),
    Rule("select", "A select chooses by a bool between scalars of one type", each=_select),
    Rule("conversion", "Conversions are of scalars; a bitcast keeps the width", each=_conversion),
    Rule("intrinsic", "An intrinsic is a WGSL builtin function of scalars", each=_intrinsic),
    Rule("call", "A call fits its callee's dynamic constants and parameters", each=_call),
    Rule("access", "Indices fit the collection, and positions are u64", each=_access),
    Rule("projection", "Control is read from an if or a match only", each=_projection),
    Rule("write", "A write's value has the type of the element", each=_write),
    Rule("atomic", "An atomic is on an integer, with operands of its type", each=_atomic),
    Rule("product", "The fields of a product are data", each=_product),
    Rule("data", "Computations take data, and nothing takes a return", each=_data_inputs),
)
