"""Conditional constant propagation."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import TypeAlias, assert_never

from ...base.deadline import check_compile_time
from ...base.records import dataclass, field
from ...ir.hercules import arithmetic, operations
from ...ir.hercules.graph import control_predecessors, def_use, is_control, predecessors, replace_all
from ...ir.hercules.inference import infer_types
from ...ir.hercules.nodes import (
    AnyScalarNode,
    ArrayConstant,
    Binary,
    BinaryOp,
    BoolConstant,
    Constant,
    ConstantNode,
    ControlIndex,
    ControlNode,
    DynamicConstantNode,
    DynamicLiteral,
    FieldIndex,
    FloatConstant,
    FloatingNode,
    Fork,
    Function,
    If,
    Index,
    IntegerConstant,
    Join,
    Module,
    Node,
    Phi,
    PinnedNode,
    PositionIndex,
    ProductConstant,
    Read,
    Reduce,
    Region,
    Return,
    ScalarNode,
    Select,
    Start,
    ThreadID,
    Type,
    ZeroConstant,
)
from ...ir.hercules.types import BOOL, U64, Scalar, constant_type, indexed_type, is_scalar
from .cleanup import remove_dead, remove_unreachable


class _Level(enum.Enum):
    UNKNOWN = "no value has been seen yet"
    VARYING = "more than one value is possible"


UNKNOWN, VARYING = _Level.UNKNOWN, _Level.VARYING
Lattice: TypeAlias = Constant | _Level


@dataclass(frozen=True)
class ConditionalConstantPropagation:
    """Replaces values that are always the same constant, and branches that always take the same arm.

    Constants are found along with the control that can be reached, so a value that is constant because a branch is
    never taken is found as well. A function of which no return could be reached any more is left as it is. After
    Wegman and Zadeck, "Constant Propagation with Conditional Branches", 1991.

    With `ranges`, what guards, loops, dynamic constants and thread numbers say of integers counts too (see
    `ir.hercules.ranges`): comparisons that they decide are constants, and a bound that never binds is gone. Each may
    decide more for the other, so both go on until nothing changes. `counts`: see `RangeSimplification`.
    """

    ranges: bool = False
    counts: int = 64
    name = "ccp"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            changed |= _propagate(function)
            while self.ranges and self._simplify(function):
                changed = True
                _propagate(function)
        return changed

    def _simplify(self, function: Function) -> bool:
        """Simplify by ranges, which few pipelines do."""
        from .ranges import simplify_by_ranges

        return simplify_by_ranges(function, self.counts)


def _propagate(function: Function) -> bool:
    solution = _Solver(function, infer_types(function)).solve()
    if not any(isinstance(node, Return) and node in solution.reached for node in function.nodes):
        return False
    constants = dict(_constants(function, solution))
    replacements = dict(_chosen(function, solution)) | constants | dict(_taken_ways(function, solution))
    if not replacements:
        return False
    decided = {it.collection for it in replacements if isinstance(it, Read) and isinstance(it.collection, If)}
    function.nodes = [it for it in _with_constants(function, constants) if it not in replacements and it not in decided]
    replace_all(function, replacements)
    remove_unreachable(function)
    remove_dead(function)
    return True


def _with_constants(function: Function, constants: Mapping[Node, Node]) -> Iterator[Node]:
    """The node list, with each new constant before the first node that it replaces."""
    present = set(function.nodes)
    for node in function.nodes:
        constant = constants.get(node)
        if constant is not None and constant not in present:
            present.add(constant)
            yield constant
        yield node


def _constants(function: Function, solution: _Solver) -> Iterator[tuple[Node, Node]]:
    """The nodes that are constants, each with the constant to put there."""
    known: dict[Constant, Node] = {}
    for node in function.nodes:
        if isinstance(node, ConstantNode) and is_scalar(solution.types.get(node)):
            known.setdefault(node.value, node)
    for node in function.nodes:
        value = solution.values.get(node, UNKNOWN)
        if not isinstance(value, _Level) and not isinstance(node, ConstantNode):
            if value not in known:
                known[value] = ConstantNode(value, label=node.label, span=node.span)
            yield node, known[value]


def _chosen(function: Function, solution: _Solver) -> Iterator[tuple[Node, Node]]:
    """The selects that always choose the same operand, each with that operand."""
    for node in function.nodes:
        if isinstance(node, Select):
            condition = solution.value(node.condition)
            if isinstance(condition, BoolConstant):
                yield node, node.if_true if condition.value else node.if_false


def _taken_ways(function: Function, solution: _Solver) -> Iterator[tuple[Node, Node]]:
    """The branch outputs that are always taken, each with the control before the branch."""
    for node in function.nodes:
        if isinstance(node, Read) and isinstance(branch := node.collection, If) and node in solution.reached:
            condition = solution.value(branch.condition)
            if not isinstance(condition, _Level):
                yield node, branch.control


@dataclass(slots=True)
class _Solver:
    function: Function
    types: Mapping[Node, Type]
    values: dict[Node, Lattice] = field(default_factory=dict[Node, Lattice])
    reached: set[Node] = field(default_factory=set[Node])
    _users: dict[Node, tuple[Node, ...]] = field(default_factory=dict[Node, tuple[Node, ...]])

    def solve(self) -> _Solver:
        """Solve from the top of the lattice: values only descend, so this terminates."""
        self._users = def_use(self.function)
        pending = list(self.function.nodes)
        while pending:
            check_compile_time()
            node = pending.pop()
            if self._reach(node) if is_control(node) else self._evaluate(node):
                pending.extend(self._users.get(node, ()))
                if is_control(node):
                    pending.extend(
                        it for user in self._users[node] if isinstance(user, Region) for it in self._users[user]
                    )
        return self

    def value(self, node: Node) -> Lattice:
        """The current lattice value of a node."""
        return self.values.get(node, UNKNOWN)

    def _reach(self, node: Node) -> bool:
        """Whether the control node turns out to be reachable just now, or a reached branch needs another look."""
        if isinstance(node, If) and node in self.reached:
            return any(self._is_taken(it) and it not in self.reached for it in self._users[node])
        if node in self.reached or not self._is_taken(node):
            return False
        self.reached.add(node)
        return True

    def _is_taken(self, node: Node) -> bool:
        if isinstance(node, Start):
            return True
        if not any(it in self.reached for it in control_predecessors(node)):
            return False
        if isinstance(node, Read) and isinstance(node.collection, If):
            condition = self.value(node.collection.condition)
            if isinstance(condition, BoolConstant):
                return node.indices == [ControlIndex(int(condition.value))]
            return condition is VARYING
        return True

    def _evaluate(self, node: Node) -> bool:
        """Whether the value of a data node goes down."""
        old = self.value(node)
        new = VARYING if old is VARYING else self._transfer(node)
        if new is UNKNOWN or (not isinstance(old, _Level) and not isinstance(new, _Level) and old == new):
            return False
        self.values[node] = VARYING if not isinstance(old, _Level) else new
        return old is not self.values[node]

    def _transfer(self, node: Node) -> Lattice:
        match node:
            case ConstantNode(value):
                return _scalar_constant(value)
            case DynamicConstantNode(DynamicLiteral(number)):
                return IntegerConstant(U64, number)
            case ThreadID(Fork(factor=DynamicLiteral(1))):
                return IntegerConstant(U64, 0)
            case Phi(Region() as region, values):
                incoming = zip(values, region.predecessors, strict=True)
                return _meet([self.value(value) for value, predecessor in incoming if predecessor in self.reached])
            case Reduce(Join(), init, update):
                return _meet([self.value(init), self.value(update)])
            case Select(condition, if_true, if_false):
                return self._select(self.value(condition), self.value(if_true), self.value(if_false))
            case Binary():
                return self._binary(node)
            case ScalarNode():
                return self._compute(node)
            case Read(ConstantNode(value), indices):
                return self._element(value, indices)
            case FloatingNode() | PinnedNode() | ControlNode():
                return VARYING
            case _:
                assert_never(node)

    def _select(self, condition: Lattice, if_true: Lattice, if_false: Lattice) -> Lattice:
        if isinstance(condition, BoolConstant):
            return if_true if condition.value else if_false
        return UNKNOWN if condition is UNKNOWN else _meet([if_true, if_false])

    def _binary(self, node: Binary) -> Lattice:
        """Also where one operand decides: false and x, true or x, 0 · x for integers."""
        for operand in (node.lhs, node.rhs):
            value = self.value(operand)
            if not isinstance(value, _Level) and _absorbs(node.op, value):
                return value
        return self._compute(node)

    def _compute(self, node: AnyScalarNode) -> Lattice:
        operands = predecessors(node)
        values = [self.value(it) for it in operands]
        if UNKNOWN in values:
            return UNKNOWN  # a constant that decides may still come
        if VARYING in values:
            return VARYING
        types = [self.types[it] for it in operands]
        result = self.types[node]
        scalars = [it for it in types if is_scalar(it)]
        assert is_scalar(result)
        return _make(result, operations.kernel(node, scalars, result)(*map(_python, values)))

    def _element(self, value: Constant, indices: list[Index]) -> Lattice:
        """An element of a constant collection."""
        for number, index in enumerate(indices):
            match value, index:
                case ZeroConstant(type), _:
                    inner = indexed_type(type, indices[number:])
                    return VARYING if not is_scalar(inner) else _make(inner, arithmetic.zero(inner))
                case ProductConstant(fields=parts), FieldIndex(position):
                    value = parts[position]
                case ArrayConstant(elements=parts), PositionIndex(node):
                    position_value = self.value(node)
                    if not isinstance(position_value, IntegerConstant) or not parts:
                        return UNKNOWN if position_value is UNKNOWN else VARYING
                    value = parts[min(position_value.value, len(parts) - 1)]
                case _:
                    return VARYING
        return _scalar_constant(value)


def _meet(values: list[Lattice]) -> Lattice:
    result: Lattice = UNKNOWN
    for value in values:
        if value is UNKNOWN:
            continue
        if isinstance(value, _Level) or (not isinstance(result, _Level) and result != value):
            return VARYING
        result = value
    return result


def _scalar_constant(value: Constant) -> Lattice:
    type = constant_type(value)
    if not is_scalar(type):
        return VARYING
    return _make(type, arithmetic.zero(type)) if isinstance(value, ZeroConstant) else value


def _make(type: Scalar, value: arithmetic.ScalarValue) -> Constant:
    if type == BOOL:
        return BoolConstant(bool(value))
    return FloatConstant(type, value) if isinstance(value, float) else IntegerConstant(type, value)


def _python(value: Lattice) -> arithmetic.ScalarValue:
    assert isinstance(value, (BoolConstant, IntegerConstant, FloatConstant))
    return value.value


def _absorbs(op: BinaryOp, value: Constant) -> bool:
    match value:
        case BoolConstant(known):
            return (op is BinaryOp.AND and not known) or (op is BinaryOp.OR and known)
        case IntegerConstant(value=number):
            return number == 0 and op in (BinaryOp.AND, BinaryOp.MUL)
        case _:
            return False
