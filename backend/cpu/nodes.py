"""Data nodes as LLVM IR: each is written at the end of the current block, in the order of the schedule.

Collections are copied here, too: to the storage of a chain's next version (`transfer`), and into Collects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from ...ir.hercules import nodes as h
from ...ir.hercules.graph import predecessors
from ...ir.hercules.types import F32, is_collection
from ...ir.hercules.versions import is_version_projection
from . import data
from .call_sites import CallSites
from .called import CalledFunctions
from .float_bounds import Bounds, float_bounds
from .llvm import Ops
from .memory import Address, Memory
from .never_nan import is_never_nan
from .packed_dots import FUNCTIONS, packed_dot
from .storage import Storage, StoragePlan


class NodeEmitter:
    """Writes data nodes through `ops`. `values` and `indices` hold those of pinned nodes and thread numbers, and
    `following` the next thread's numbers in forks whose threads workers share.
    """

    def __init__(
        self,
        ops: Ops,
        types: Mapping[h.Node, h.Type],
        plan: StoragePlan,
        scratch_offsets: Mapping[Storage, h.DynamicConstant],
        called: CalledFunctions,
    ) -> None:
        self.values: dict[h.Node, str] = {}
        self.indices: dict[h.Node, str] = {}
        self.following: dict[h.Node, str] = {}
        self.memory = Memory(ops, scratch_offsets, self.indices.__getitem__, self.value, is_in_range)
        self.calls = CallSites(self.memory, plan, types, called)
        self._ops = ops
        self._types = types
        self._plan = plan

    def emit(self, node: h.Node) -> None:
        """Write a floating node."""
        match node:
            case h.ConstantNode() | h.ProductNode():
                return  # collections: made where they are consumed
            case h.Read(collection=h.Atomic() as atomic):
                if not is_version_projection(node):
                    self.values[node] = self.values[atomic]
                return
            case h.Read():
                self._emit_read(node)
                return
            case h.Write():
                self._emit_write(node)
                return
            case h.Atomic():
                self._emit_atomic(node)
                return
            case h.Call():
                self._emit_call(node)
                return
            case h.ScalarNode():
                self.values[node] = compute(self._ops, node, self._types, self.value)
            case h.Parameter() | h.DynamicConstantNode() | h.PinnedNode() | h.ControlNode():
                raise AssertionError(f"{node} is in no block")
            case _:
                assert_never(node)

    def _emit_read(self, node: h.Read) -> None:
        address = self._element(node.collection, node.indices)
        if is_collection(self._types[node]):
            self.memory.copy(address, self.memory.address(self._plan.of(node)))
        else:
            self.values[node] = self.memory.load(address)

    def _element(self, collection: h.Node, indices: Sequence[h.Index]) -> Address:
        if isinstance(collection, h.ConstantNode):
            return self.memory.element(self.memory.constant(collection.value), indices)
        return self.memory.address(self._plan.of(collection), indices)

    def _emit_write(self, node: h.Write) -> None:
        self.transfer(node.collection, node)
        target = self.memory.address(self._plan.of(node), node.indices)
        if not is_collection(self._types[node.value]):
            self.memory.store(self.value(node.value), target)
        elif isinstance(node.value, h.ConstantNode):
            self.memory.fill(node.value.value, target)
        else:
            self.memory.copy(self.memory.address(self._plan.of(node.value)), target)

    def _emit_atomic(self, node: h.Atomic) -> None:
        self.transfer(node.collection, node)
        storage = self._plan.of(node)
        address = self.memory.address(storage, node.indices)
        operands = tuple(map(self.value, node.operands))
        self.values[node] = self.memory.atomic(node.op, address, operands, is_shared=storage.is_shared)

    def _emit_call(self, node: h.Call) -> None:
        site = self.calls.find(node, 1)
        for index, place in site.varying.items():
            self.memory.store(self.value(node.arguments[index]), place)
        self.calls.call(node, site, self.memory.address(self._plan.of(node)).pointer)

    def transfer(self, source: h.Node, target: h.Node) -> None:
        """Copy a version to the storage of the version that continues it."""
        if not self._plan.needs_transfer(source, target):
            return
        address = self.memory.address(self._plan.of(target))
        if isinstance(source, h.ConstantNode):
            self.memory.fill(source.value, address)
        else:
            self.memory.copy(self.memory.address(self._plan.of(source)), address)

    def collect(self, node: h.Collect, fork: h.Fork) -> None:
        """Put the current thread's value into its place."""
        value = node.value
        target = self.memory.slot(self.memory.address(self._plan.of(node)), self.indices[fork])
        if not is_collection(self._types[value]):
            self.memory.store(self.value(value), target)
        elif isinstance(value, h.ConstantNode):
            self.memory.fill(value.value, target)
        elif self._plan.of(value).parent is not self._plan.of(node):
            self.memory.copy(self.memory.address(self._plan.of(value)), target)

    # Values

    def value(self, node: h.Node) -> str:
        """The operand for a scalar."""
        match node:
            case h.ConstantNode(value=value):
                return data.scalar_constant(value)
            case h.DynamicConstantNode(value=value):
                return self.memory.dynamic(value)
            case h.ThreadID(fork=fork):
                return self.indices[fork]
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                return self.values[node]
            case _:
                assert_never(node)


def compute(ops: Ops, node: h.Node, types: Mapping[h.Node, h.Type], value: Callable[[h.Node], str]) -> str:
    """The result of a pure operation on scalars, or lane by lane on vectors; `value` gives the operands."""
    if not isinstance(node, h.ScalarNode):
        raise AssertionError(f"{node} is no operation on scalars")
    match node:
        case h.Unary(op=op, operand=operand):
            return data.unary(ops, op, types[operand], value(operand))
        case h.Binary() if node in ops.out.module.fused:
            return _fused(ops, node, ops.out.module.fused[node], types[node], value)
        case h.Binary(op=op, lhs=lhs, rhs=rhs):
            return _binary(ops, op, (types[lhs], types[rhs]), value(lhs), value(rhs))
        case h.Select(condition=condition, if_true=if_true, if_false=if_false):
            return ops.select(value(condition), data.llvm_type(types[node]), value(if_true), value(if_false))
        case h.Cast(type=h.Integer() as type, operand=operand) if types[operand] == F32:
            return _whole(ops, operand, type, value, float_bounds(operand, types))
        case h.Cast(type=type, operand=operand):
            return data.cast(ops, types[operand], type, value(operand))
        case h.Bitcast(type=type, operand=operand):
            return data.bitcast(ops, types[operand], type, value(operand))
        case h.Intrinsic(function=name, type=type, arguments=arguments):
            return _call(ops, name, type, arguments, (types, value))
        case _:
            assert_never(node)


def _call(
    ops: Ops,
    name: str,
    type: h.Type,
    arguments: Sequence[h.Node],
    operands: tuple[Mapping[h.Node, h.Type], Callable[[h.Node], str]],
) -> str:
    """A builtin function, of arguments whose types and values `operands` gives."""
    from . import intrinsics

    types, value = operands
    is_limit = isinstance(type, h.Float) and name in ("min", "max")
    numbers = tuple(is_never_nan(it, types) for it in arguments) if is_limit else ()
    return intrinsics.emit(ops, name, type, tuple(map(value, arguments)), numbers)


def _whole(ops: Ops, operand: h.Node, type: h.Integer, value: Callable[[h.Node], str], bounds: Bounds | None) -> str:
    """An f32 as an integer. Rounded down, a number that is not negative is converted as it is."""
    if isinstance(operand, h.Intrinsic) and operand.function == "floor" and bounds is not None and bounds[0] >= 0:
        (operand,) = operand.arguments
    return data.cast(ops, F32, type, value(operand), bounds)


def _binary(ops: Ops, op: h.BinaryOp, types: tuple[h.Type, h.Type], left: str, right: str) -> str:
    type, right_type = types
    if isinstance(type, h.Integer) and isinstance(right_type, h.Integer) and type.bits != right_type.bits:
        right = data.cast(ops, right_type, type, right)  # a shift's count
    return data.binary(ops, op, type, left, right)


def _fused(
    ops: Ops, sum: h.Binary, product: h.Binary | h.Intrinsic, type: h.Type, value: Callable[[h.Node], str]
) -> str:
    """A sum or difference with a product, or a sum with an inner product of bytes."""
    rest = value(sum.rhs if sum.lhs is product else sum.lhs)
    first, second = map(value, predecessors(product))
    if isinstance(product, h.Intrinsic):
        return packed_dot(ops, FUNCTIONS[product.function], (first, second), rest)
    if sum.op is h.BinaryOp.SUB and sum.lhs is product:
        rest = ops.unary("fneg", data.llvm_type(type), rest)
    elif sum.op is h.BinaryOp.SUB:
        first = ops.unary("fneg", data.llvm_type(type), first)
    return data.multiply_add(ops, type, (first, second), rest)


def is_in_range(position: h.Node, extent: h.DynamicConstant) -> bool:
    """Whether a position is surely inside an array."""
    match position, extent:
        case h.ConstantNode(value=h.IntegerConstant(value=value)), h.DynamicLiteral(value=count):
            return value < count
        case h.ConstantNode(value=h.ZeroConstant()), h.DynamicLiteral(value=count):
            return count > 0
        case h.ThreadID(fork=h.Fork(factor=h.DynamicLiteral(value=factor))), h.DynamicLiteral(value=count):
            return factor <= count
        case h.ThreadID(fork=h.Fork(factor=factor)), _:
            return factor == extent
        case _:
            return False
