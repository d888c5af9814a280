"""One Hercules function as LLVM IR: blocks, data, and how forks run.

A fork runs as a loop over its threads. The outermost, perfectly nested forks whose factors are dynamic (the workgroups) become
one loop over a range of their threads, numbered with the innermost fork's index fastest, so that several workers share a
dispatch. That is possible if all they carry is bindings updated in place.

The module has one external function:

    void kernel(ptr buffers, ptr dynamic, i64 begin, i64 end, ptr scratch)

`buffers` is an array of pointers, one for each parameter; `dynamic` an array of i64, the dynamic constants; `scratch` memory
of the worker alone, 64-byte aligned and of `Emitted.scratch_size` bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...ir.diagnostics import ShaderError, not_supported
from ...ir.hercules import dynamic
from ...ir.hercules import nodes as h
from ...ir.hercules.analyses import block_leader
from ...ir.hercules.graph import def_use
from ...ir.hercules.schedule import Schedule, schedule
from ...ir.hercules.types import UNIT, is_collection
from ...ir.hercules.versions import is_version_projection, version_of
from . import data, intrinsics
from .layout import ArrayLayout, Layout
from .llvm import FunctionText, ModuleText, Ops
from .memory import STACK_LIMIT, STORAGE_ALIGN, Address, Memory
from .storage import Storage, StoragePlan


@dataclass(frozen=True, slots=True)
class Emitted:
    """A module's text. `parallel`: the factors whose product is the number of threads that workers share."""

    text: str
    parallel: tuple[h.DynamicConstant, ...]
    scratch_size: h.DynamicConstant


def emit_function(function: h.Function, bindings: Mapping[int, Layout]) -> Emitted:
    """The LLVM IR of a function whose parameters are bindings with these layouts.

    The function may only return (a product of) the final versions of its parameters. Raises ShaderError for what is not
    supported.
    """
    placed = schedule(function)
    if placed.problems:
        problem = placed.problems[0]
        raise AssertionError(f"{function.name}: a {type(problem.node).__name__} {problem.message}")
    emitter = _FunctionEmitter(placed, bindings, _outermost_forks(placed))
    if not emitter.carries_only_bindings():
        emitter = _FunctionEmitter(placed, bindings, ())
    return emitter.emit()


def _outermost_forks(placed: Schedule) -> tuple[h.Fork, ...]:
    """The forks with dynamic factors that are all there is on the outside, outermost first."""
    forks: list[h.Fork] = []
    node: h.Node = placed.graph.order[0]
    end = next((it for it in placed.graph.order if isinstance(it, h.Return)), None)
    control = None if end is None else end.control
    while isinstance(control, h.Join):
        (node,) = placed.graph.successors[node]
        fork = placed.nest.forks[control]
        if node is not fork or isinstance(fork.factor, h.DynamicLiteral):
            break
        forks.append(fork)
        control = control.control
    return tuple(forks)


class _FunctionEmitter:
    """Writes one function. A block is named by its leader; that of a fork is the body of its loop."""

    def __init__(self, placed: Schedule, bindings: Mapping[int, Layout], forks: tuple[h.Fork, ...]) -> None:
        self._placed = placed
        self._types = placed.types
        self._joins = placed.nest.joins
        self._fork_of = placed.nest.forks
        self._forks = forks
        self._function = placed.function
        self._live = [node for node in placed.function.nodes if node in placed.live]
        users = def_use(placed.function)
        self._plan = StoragePlan(self._live, placed.types, bindings, users, placed.nest.forks)
        self._module = ModuleText()
        self._out = FunctionText(self._module)
        self._ops = Ops(self._out)
        scratch_offsets, self._scratch_size = _assign_scratch(self._plan.storages)
        self._memory = Memory(self._ops, scratch_offsets, self._thread_index, self._value, _is_in_range)
        self._labels = {leader: f"{type(leader).__name__.lower()}{n}" for n, leader in enumerate(placed.blocks)}
        self._values: dict[h.Node, str] = {}
        self._indices: dict[h.Node, str] = {}
        self._ends: dict[h.Node, str] = {}
        """The last LLVM block of each block."""
        self._phis: dict[h.Node, list[h.Phi | h.Reduce]] = {}
        self._endings: dict[h.Node, list[h.Node]] = {}
        self._find_pinned()

    def carries_only_bindings(self) -> bool:
        """Whether workers may share the threads of the outermost forks."""
        joins = {self._joins[fork] for fork in self._forks}
        for node in self._live:
            if isinstance(node, h.Collect) and node.join in joins:
                return False
            if isinstance(node, h.Reduce) and node.join in joins:
                if not is_collection(self._types[node]) or not self._plan.of(node).is_shared:
                    return False
        return True

    def emit(self) -> Emitted:
        """The whole module."""
        self._out.open("entry")
        for leader in self._placed.blocks:
            self._emit_block(leader)
        self._out.open("entry")
        self._out.do(f"br label %{self._labels[self._placed.graph.order[0]]}")
        self._add_functions()
        return Emitted(str(self._module), tuple(fork.factor for fork in self._forks), self._scratch_size)

    def _find_pinned(self) -> None:
        """Which scalars begin each block, and which collections are handed on at its end."""
        for node in self._live:
            match node:
                case h.Phi(region=region) if not is_collection(self._types[node]):
                    self._phis.setdefault(region, []).append(node)
                case h.Reduce(join=h.Join() as join) if not is_collection(self._types[node]):
                    self._phis.setdefault(self._fork_of[join], []).append(node)
                case _:
                    for leader in dict.fromkeys(self._ending_blocks(node)):
                        self._endings.setdefault(leader, []).append(node)

    def _ending_blocks(self, node: h.Node) -> list[h.Node]:
        match node:
            case h.Phi(region=h.Region(predecessors=predecessors)):
                return [block_leader(it) for it in predecessors if it in self._placed.live]
            case h.Reduce(join=h.Join() as join):
                return [block_leader(self._fork_of[join].control), block_leader(join.control)]
            case h.Collect(join=h.Join() as join):
                return [block_leader(join.control)]
            case _:
                return []

    def _add_functions(self) -> None:
        count = len(self._function.parameter_types)
        parameters = "".join(f"ptr noalias noundef %p{index}, " for index in range(count))
        common = "ptr noalias noundef readonly %dynamic, i64 %begin, i64 %end, ptr noalias noundef align 64 %scratch"
        self._module.add_function(
            "body", f"define internal void @body({parameters}{common}) nounwind noinline {{\n{self._out.text()}\n}}\n"
        )
        lines: list[str] = []
        for index in range(count):
            lines.append(f"  %a{index} = getelementptr inbounds ptr, ptr %buffers, i64 {index}")
            lines.append(f"  %p{index} = load ptr, ptr %a{index}, align 8")
        arguments = "".join(f"ptr %p{index}, " for index in range(count))
        lines.append(f"  call void @body({arguments}ptr %dynamic, i64 %begin, i64 %end, ptr %scratch)")
        lines.append("  ret void")
        body = "\n".join(lines)
        self._module.add_function(
            "kernel",
            f"define void @kernel(ptr %buffers, ptr %dynamic, i64 %begin, i64 %end, ptr %scratch) nounwind {{\n{body}\n}}\n"
            "\n!0 = !{}\n",
        )

    # Blocks

    def _emit_block(self, leader: h.Node) -> None:
        self._out.open(self._labels[leader])
        if isinstance(leader, h.Fork) and leader not in self._forks[1:]:
            self._emit_loop_head(leader)
        for node in self._phis.get(leader, ()):
            if isinstance(node, h.Phi):
                self._values[node] = self._phi(node)
        for node in self._placed.blocks[leader]:
            self._emit_node(node)
        for node in self._endings.get(leader, ()):
            self._emit_ending(node, leader)
        self._ends[leader] = self._out.current
        self._out.do(self._terminator(self._placed.exits[leader]))

    def _phi(self, node: h.Phi) -> str:
        assert isinstance(node.region, h.Region)
        pairs = zip(node.region.predecessors, node.values, strict=True)
        ways = [(value, block_leader(it)) for it, value in pairs if it in self._placed.live]
        return self._out.phi(
            data.llvm_type(self._types[node]),
            lambda: [(self._value(value), self._ends[leader]) for value, leader in ways],
        )

    def _emit_loop_head(self, fork: h.Fork) -> None:
        """The loop of a fork tests before its first turn: a factor of 0 runs nothing. The body is left open."""
        label, join = self._labels[fork], self._joins[fork]
        before, latch = block_leader(fork.control), block_leader(join.control)
        is_shared = fork in self._forks
        first, count = ("%begin", "%end") if is_shared else ("0", self._memory.dynamic(fork.factor))
        following = f"%{label}.next"
        index = self._out.phi("i64", lambda: [(first, self._ends[before]), (following, self._ends[latch])])
        for node in self._phis.get(fork, ()):
            if isinstance(node, h.Reduce):
                self._values[node] = self._reduce_phi(node, before, latch)
        self._out.do(f"{following} = add nuw i64 {index}, 1")
        going = self._ops.binary("icmp ult", "i64", index, count)
        self._out.do(f"br i1 {going}, label %{label}.body, label %{self._labels[join]}")
        self._out.open(f"{label}.body")
        self._indices[fork] = index
        if is_shared:
            self._split_index(index)

    def _reduce_phi(self, node: h.Reduce, before: h.Node, latch: h.Node) -> str:
        return self._out.phi(
            data.llvm_type(self._types[node]),
            lambda: [(self._value(node.init), self._ends[before]), (self._value(node.update), self._ends[latch])],
        )

    def _split_index(self, number: str) -> None:
        """The thread index in each shared fork from the number of the thread among all."""
        for fork in reversed(self._forks[1:]):
            factor = self._memory.dynamic(fork.factor)
            self._indices[fork] = self._ops.binary("urem", "i64", number, factor)
            number = self._ops.binary("udiv", "i64", number, factor)
        self._indices[self._forks[0]] = number

    def _terminator(self, node: h.Node) -> str:
        match node:
            case h.Return(value=value):
                self._check_result(node, value)
                return "ret void"
            case h.If(condition=condition):
                if_false, if_true = (self._target(node, output) for output in (0, 1))
                return f"br i1 {self._value(condition)}, label %{if_true}, label %{if_false}"
            case h.Match():
                raise _unsupported("a match on the CPU", node)
            case h.Join() if self._fork_of[node] not in self._forks[1:]:
                return f"br label %{self._labels[self._fork_of[node]]}"
            case _:
                return f"br label %{self._labels[node]}"

    def _target(self, branch: h.If, output: int) -> str:
        for node in self._placed.graph.successors[branch]:
            if isinstance(node, h.Read) and node.indices == [h.ControlIndex(output)]:
                return self._labels[node]
        raise _unsupported("a branch with one way out", branch)

    def _check_result(self, node: h.Return, value: h.Node) -> None:
        for field in value.fields if isinstance(value, h.ProductNode) else [value]:
            is_empty = self._types[field] == UNIT
            if not is_empty and (not is_collection(self._types[field]) or isinstance(field, h.ConstantNode)):
                raise _unsupported("a result that is not a parameter, on the CPU", node)
            if not is_empty and not self._plan.of(field).is_shared:
                raise _unsupported("a result that is not a parameter, on the CPU", node)

    # Nodes

    def _emit_node(self, node: h.Node) -> None:
        ops = self._ops
        match node:
            case h.Unary(op=op, operand=operand):
                result = data.unary(ops, op, self._types[operand], self._value(operand))
            case h.Binary(op=op, lhs=lhs, rhs=rhs):
                result = self._binary(op, lhs, rhs)
            case h.Select(condition=condition, if_true=if_true, if_false=if_false):
                if is_collection(self._types[node]):
                    raise _unsupported("a select of collections on the CPU", node)
                type = data.llvm_type(self._types[node])
                result = ops.select(self._value(condition), type, self._value(if_true), self._value(if_false))
            case h.Cast(type=type, operand=operand):
                result = data.cast(ops, self._types[operand], type, self._value(operand))
            case h.Bitcast(type=type, operand=operand):
                result = data.bitcast(ops, self._types[operand], type, self._value(operand))
            case h.Intrinsic(function=name, type=type, arguments=arguments):
                if not intrinsics.is_known(name):
                    raise _unsupported(f"the function {name} on the CPU", node)
                result = intrinsics.emit(ops, name, type, tuple(map(self._value, arguments)))
            case h.ConstantNode() | h.ProductNode():
                return  # collections: made where they are consumed
            case h.Read(collection=h.Atomic() as atomic):
                if not is_version_projection(node):
                    self._values[node] = self._values[atomic]
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
                raise _unsupported("a call that was not inlined, on the CPU", node)
            case _:
                raise AssertionError(f"{type(node).__name__} has no place of its own")
        self._values[node] = result

    def _binary(self, op: h.BinaryOp, lhs: h.Node, rhs: h.Node) -> str:
        type, right_type = self._types[lhs], self._types[rhs]
        right = self._value(rhs)
        if isinstance(type, h.Integer) and isinstance(right_type, h.Integer) and type.bits != right_type.bits:
            right = data.cast(self._ops, right_type, type, right)  # a shift's count
        return data.binary(self._ops, op, type, self._value(lhs), right)

    def _emit_read(self, node: h.Read) -> None:
        address = self._element(node.collection, node.indices)
        if is_collection(self._types[node]):
            self._memory.copy(address, self._memory.address(self._plan.of(node)))
        else:
            self._values[node] = self._memory.load(address)

    def _element(self, collection: h.Node, indices: Sequence[h.Index]) -> Address:
        if isinstance(collection, h.ConstantNode):
            return self._memory.element(self._memory.constant(collection.value), indices)
        return self._memory.address(self._plan.of(collection), indices)

    def _emit_write(self, node: h.Write) -> None:
        self._transfer(node.collection, node)
        target = self._memory.address(self._plan.of(node), node.indices)
        if not is_collection(self._types[node.value]):
            self._memory.store(self._value(node.value), target)
        elif isinstance(node.value, h.ConstantNode):
            self._memory.fill(node.value.value, target)
        else:
            self._memory.copy(self._memory.address(self._plan.of(node.value)), target)

    def _emit_atomic(self, node: h.Atomic) -> None:
        self._transfer(node.collection, node)
        storage = self._plan.of(node)
        address = self._memory.address(storage, node.indices)
        operands = tuple(map(self._value, node.operands))
        self._values[node] = self._memory.atomic(node.op, address, operands, is_shared=storage.is_shared)

    def _transfer(self, source: h.Node, target: h.Node) -> None:
        """Bring a version to where the version that continues it lives."""
        if not self._plan.needs_transfer(source, target):
            return
        address = self._memory.address(self._plan.of(target))
        if isinstance(source, h.ConstantNode):
            self._memory.fill(source.value, address)
        else:
            self._memory.copy(self._memory.address(self._plan.of(source)), address)

    def _emit_ending(self, node: h.Node, leader: h.Node) -> None:
        match node:
            case h.Phi(region=h.Region(predecessors=predecessors), values=values):
                for predecessor, value in zip(predecessors, values, strict=True):
                    if predecessor in self._placed.live and block_leader(predecessor) is leader:
                        self._check_no_swap(node, value)
                        self._transfer(value, node)
            case h.Reduce(join=h.Join() as join, init=init, update=update):
                if block_leader(self._fork_of[join].control) is leader:
                    self._transfer(init, node)
                if block_leader(join.control) is leader:
                    self._transfer(update, node)
            case h.Collect(join=h.Join() as join, value=value):
                self._emit_collect(node, self._fork_of[join], value)
            case _:
                raise AssertionError("nothing ends here")

    def _check_no_swap(self, node: h.Phi, value: h.Node) -> None:
        """Copies into the Phis of a region happen one after the other: none may read what another one has overwritten."""
        if isinstance(value, h.Phi) and value.region is node.region and self._plan.needs_transfer(value, node):
            raise _unsupported("arrays that change places in a loop", node)

    def _emit_collect(self, node: h.Collect, fork: h.Fork, value: h.Node) -> None:
        target = self._memory.slot(self._memory.address(self._plan.of(node)), self._thread_index(fork))
        if not is_collection(self._types[value]):
            self._memory.store(self._value(value), target)
        elif isinstance(value, h.ConstantNode):
            self._memory.fill(value.value, target)
        elif self._plan.of(value).parent is not self._plan.of(node):
            self._memory.copy(self._memory.address(self._plan.of(value)), target)

    # Values

    def _value(self, node: h.Node) -> str:
        match node:
            case h.ConstantNode(value=value):
                return data.scalar_constant(value)
            case h.DynamicConstantNode(value=value):
                return self._memory.dynamic(value)
            case h.ThreadID(fork=fork):
                return self._thread_index(fork)
            case _:
                return self._values[node]

    def _thread_index(self, fork: h.Node) -> str:
        return self._indices[fork]


def _is_in_range(position: h.Node, extent: h.DynamicConstant) -> bool:
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


def _assign_scratch(storages: Sequence[Storage]) -> tuple[dict[Storage, h.DynamicConstant], h.DynamicConstant]:
    """Offsets in the scratch memory for storages that are too large for the stack, and the size of it all."""
    offsets: dict[Storage, h.DynamicConstant] = {}
    end: h.DynamicConstant = dynamic.ZERO
    known_first = sorted(storages, key=lambda it: it.constant_size is None)
    for storage in known_first:
        size = storage.constant_size
        if storage.is_shared or storage.parent is not None or (size is not None and size <= STACK_LIMIT):
            continue
        offsets[storage] = end
        end = dynamic.add(end, _rounded_size(storage, size))
    return offsets, end


def _rounded_size(storage: Storage, size: int | None) -> h.DynamicConstant:
    if size is not None:
        return dynamic.literal(-(-size // STORAGE_ALIGN) * STORAGE_ALIGN)
    assert isinstance(storage.layout, ArrayLayout)
    exact = dynamic.mul(storage.layout.extent, dynamic.literal(storage.layout.stride))
    lines = dynamic.div(dynamic.add(exact, dynamic.literal(2 * STORAGE_ALIGN - 1)), dynamic.literal(STORAGE_ALIGN))
    return dynamic.mul(lines, dynamic.literal(STORAGE_ALIGN))


def _unsupported(what: str, node: h.Node) -> ShaderError:
    return ShaderError([not_supported(what, node.span)])
