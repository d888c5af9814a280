"""The rules of Hercules IR, as a table, and the verifier that goes through it.

Rules come in groups, and a group is looked at only where all before it hold: a rule may rely on what earlier groups
guarantee. The last group is `schedule`, which finds values that do not dominate their uses and collections that are not
used linearly. All rules are in this file, long as it is, so that there is one place to look what is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from . import arithmetic, dynamic
from .analyses import (
    ControlGraph,
    Dominators,
    ForkNest,
    control_graph,
    dominators,
    fork_nest,
    loop_nest,
    post_dominators,
)
from .arithmetic import UnknownOperation
from .graph import control_predecessors, predecessors
from .nodes import (
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
    DynamicConstant,
    DynamicConstantNode,
    Float,
    FloatConstant,
    Fork,
    Function,
    If,
    Integer,
    IntegerConstant,
    Intrinsic,
    Join,
    Match,
    Module,
    Node,
    Parameter,
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
    Start,
    Summation,
    SummationConstant,
    ThreadID,
    Type,
    Unary,
    VariantIndex,
    Write,
    ZeroConstant,
)
from .schedule import schedule
from .text import print_function, type_text
from .types import (
    BOOL,
    U64,
    constant_type,
    indexed_type,
    infer_types,
    is_collection,
    is_data,
    is_scalar,
    substitute,
)


@dataclass(frozen=True, slots=True)
class Mistake:
    """A broken rule: a sentence about a node, or, where that is None, about a whole function."""

    rule: str
    function: Function
    node: Node | None
    message: str


class VerifyError(Exception):
    """A module that breaks rules. The message shows its functions with each mistake under its line."""

    def __init__(self, mistakes: list[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__(_report(mistakes))


def check(module: Module) -> None:
    """Raise VerifyError if the module breaks a rule."""
    mistakes = verify(module)
    if mistakes:
        raise VerifyError(mistakes)


def verify(module: Module) -> list[Mistake]:
    """Everything that is wrong with a module."""
    mistakes = list(_check_module(module))
    if not mistakes:
        for function in module.functions:
            mistakes += verify_function(function, module)
    return mistakes


def verify_function(function: Function, module: Module) -> list[Mistake]:
    """What the first group of rules that the function breaks has to say."""
    context = Context(function, module)
    for group in (STRUCTURE, TYPING, CONTROL):
        nodes = context.typed if group is TYPING else function.nodes
        mistakes = [it for rule in group for it in rule.mistakes(context, nodes)]
        if mistakes:
            return mistakes
    problems = schedule(function, context.types).problems
    found = {(it.node, it.message): Mistake("schedule", function, it.node, it.message) for it in problems}
    return list(found.values())


def _report(mistakes: Iterable[Mistake]) -> str:
    by_function: dict[Function, list[Mistake]] = {}
    for mistake in mistakes:
        by_function.setdefault(mistake.function, []).append(mistake)
    texts: list[str] = []
    for function, those in by_function.items():
        notes: dict[Node, list[str]] = {}
        for it in those:
            if it.node is not None:
                notes.setdefault(it.node, []).append(f"{it.message} [{it.rule}]")
        head = [f"{function.name}: {it.message} [{it.rule}]" for it in those if it.node is None]
        absent = [text for node, said in notes.items() if node not in function.nodes for text in said]
        texts.append("\n".join([*head, *absent, print_function(function, notes)]))
    return "\n".join(texts)


def _check_module(module: Module) -> Iterator[Mistake]:
    names: set[str] = set()
    for function in module.functions:
        if function.name in names:
            yield Mistake("function-names", function, None, "a function of this name exists already")
        names.add(function.name)
    for function in _recursive(module):
        yield Mistake("no-recursion", function, None, "calls itself, however indirectly")


def _recursive(module: Module) -> Iterator[Function]:
    callees = {it: {node.callee for node in it.nodes if isinstance(node, Call)} for it in module.functions}
    for function in module.functions:
        seen: set[Function] = set()
        pending = list(callees[function])
        while pending:
            callee = pending.pop()
            if callee not in seen:
                seen.add(callee)
                pending.extend(callees.get(callee, ()))
        if function in seen:
            yield function


@dataclass(frozen=True)
class Context:
    """What the rules look at, computed when first needed."""

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


# Structure


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
        if not _is_well_formed(type, context):
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
        case _:
            pass


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


def _is_well_formed(type: Type, context: Context) -> bool:
    """Whether its widths exist, its sums have variants and its extents are of this function."""
    count = len(context.function.dynamic_constants)
    match type:
        case Bool():
            return True
        case Integer(bits):
            return bits in (8, 16, 32, 64)
        case Float(bits):
            return bits in (16, 32, 64)
        case Product(parts):
            return all(_is_well_formed(it, context) for it in parts)
        case Summation(parts):
            return len(parts) > 0 and all(_is_well_formed(it, context) for it in parts)
        case Array(element, extent):
            return _is_well_formed(element, context) and all(0 <= it < count for it in dynamic.parameters(extent))
        case Control(factors):
            return all(0 <= it < count for factor in factors for it in dynamic.parameters(factor))


def _pins(node: Node, context: Context) -> Iterator[str]:
    match node:
        case Phi(region) if not isinstance(region, Region):
            yield "a phi belongs to a region"
        case ThreadID(fork) if not isinstance(fork, Fork):
            yield "a thread_id belongs to a fork"
        case Collect(join) | Reduce(join) if not isinstance(join, Join):
            yield f"a {type(node).__name__.lower()} belongs to a join"
        case _:
            pass


def _callee(node: Node, context: Context) -> Iterator[str]:
    if isinstance(node, Call) and node.callee not in context.module.functions:
        yield "calls a function that is not in the module"


# Typing


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
        if not is_data(type) or not _is_well_formed(type, context):
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
        if not is_scalar(source) or not is_scalar(target) or not _is_well_formed(target, context):
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


# Control


def _one_successor(node: Node, context: Context) -> Iterator[str]:
    if node not in context.graph.successors:
        return
    after = context.graph.successors[node]
    match node:
        case Return():
            pass
        case If() | Match():
            yield from _ways(node, after, context)
        case _:
            if len(after) != 1:
                yield f"control goes on to {len(after)} nodes instead of one"


def _ways(node: Node, after: tuple[Node, ...], context: Context) -> Iterator[str]:
    type = context.types[node]
    count = len(type.fields) if isinstance(type, Product) else 0
    taken = [it.output for way in after if isinstance(way, Read) for it in way.indices if isinstance(it, ControlIndex)]
    if len(taken) != len(after) or sorted(taken) != list(range(count)):
        yield f"must be followed by {count} reads, one for each way out"


def _return_exists(context: Context) -> Iterator[tuple[Node | None, str]]:
    if not any(isinstance(it, Return) for it in context.graph.order):
        yield None, "no return can be reached"


def _fork_join(context: Context) -> Iterator[tuple[Node | None, str]]:
    nest = context.nest
    for node in nest.inconsistent:
        yield node, "the forks around it are not the same on every path, or it is a second join of one fork"
    for fork, join in nest.joins.items():
        if not context.dominators.dominates(fork, join):
            yield join, "its fork does not dominate it"
        if not context.post_dominators.dominates(join, fork):
            yield fork, "its join does not post-dominate it"
    for node in context.graph.order:
        if isinstance(node, Fork) and node not in nest.joins:
            yield node, "has no join"


def _reducible(context: Context) -> Iterator[tuple[Node | None, str]]:
    for node in loop_nest(context.graph, context.dominators).irreducible:
        yield node, "a loop can be entered in two places"


STRUCTURE: tuple[Rule, ...] = (
    Rule("start", "The first node is the only start", whole=_start),
    Rule("members", "A function holds every node that it uses, once", whole=_members),
    Rule("parameters", "Parameters and dynamic constants have distinct names and data types", whole=_parameters),
    Rule("parameter", "A parameter's index is in range", each=_parameter),
    Rule("dynamic", "Dynamic constants are those of the function", each=_dynamic),
    Rule("pins", "Phi, thread_id, collect and reduce belong to a region, fork or join", each=_pins),
    Rule("callee", "Called functions are in the module", each=_callee),
)
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
CONTROL: tuple[Rule, ...] = (
    Rule(
        "successors",
        "Control goes on to one node, and from an if or a match by a read for each way",
        each=_one_successor,
    ),
    Rule("returns", "A return can be reached", whole=_return_exists),
    Rule("fork-join", "Forks dominate their only joins, which post-dominate them", whole=_fork_join),
    Rule("reducible", "A loop is entered at its header", whole=_reducible),
)
