"""One Hercules function as LLVM IR: blocks, data, and how forks run.

A fork runs as a loop over its threads. The outermost, perfectly nested forks, down to the innermost with a dynamic
factor, become one loop over a range of their threads, numbered with the innermost fork's index fastest, so that several
workers share a dispatch. These are the workgroups, and rows of theirs that are outside (see `gangs.choice.row_order`).
That is possible if their Reduces carry only bindings.

The module has one external function:

    void kernel(ptr buffers, ptr dynamic, i64 begin, i64 end, ptr scratch, i1 is_shared)

`buffers` is an array of pointers, one for each parameter; `dynamic` an array of i64, the dynamic constants; `scratch`
memory of the worker alone, 64-byte aligned and of `Emitted.scratch_size` bytes; `is_shared` says whether other workers
run other threads of the dispatch meanwhile. The function computes on memory and does nothing else, so that a thread may
be taken out of it at any instruction (see `pool/stop.h`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from ...base.deadline import check_compile_time
from ...ir.hercules import dynamic
from ...ir.hercules import nodes as h
from ...ir.hercules.analyses import block_leader
from ...ir.hercules.graph import predecessors
from ...ir.hercules.placement import Placement
from ...ir.hercules.types import UNIT, is_collection
from . import data
from .analysed import AnalysedFunction, FewWorkgroups, analyse, analyse_for_gangs, with_gangs
from .called import CalledFunctions, Passing
from .emitted import Emitted, Interface
from .exact_products import is_exact_product
from .extents import extent_of
from .fork_loops import ForkLoops
from .half import CONVERSIONS
from .layout import Layout, dynamic_size
from .llvm import UNROLL_METADATA, FunctionText, ModuleText, Ops
from .machine import measure_if_due
from .memory import IS_SHARED
from .nodes import NodeEmitter
from .options import CpuOptions, Tier
from .packed_dots import FUNCTIONS as PACKED_DOTS
from .parallel_copies import ParallelCopies
from .passes import Passes
from .privatise import private_bindings
from .scratch import assign_scratch
from .straight_loops import StraightLoops
from .target import current_target

if TYPE_CHECKING:
    from .counter_tables import CounterTables
    from .gangs import GangEmitter

_METADATA = f"""!0 = !{{}}
!1 = !{{!"branch_weights", i32 1000, i32 1}}
{UNROLL_METADATA}
!3 = !{{i32 1}}
"""
_FASTEST = CpuOptions()
_BODY, _FOR_FEW = "body", "body.few"
"""The function that does a range of threads, and the one that does so where there are few workgroups."""


def emit_function(function: h.Function, bindings: Mapping[int, Layout], options: CpuOptions = _FASTEST) -> Emitted:
    """The LLVM IR of a function whose parameters are bindings with these layouts.

    The function has no calls and no sums, and returns (a product of) the final versions of its parameters (see
    `transforms.hercules.for_machine`).
    """
    if options.tier != "baseline" and options.private_copies:
        function = _with_direct_counts(function, bindings)
    if options.tier == "gang":
        measure_if_due()
        analysed, obstacle = analyse_for_gangs(function, bindings, current_target().vector_bytes // 4)
        if obstacle is None:
            return _emit(analysed, options, "")
        return _emit(analyse(function, bindings), replace(options, tier="lane"), obstacle)
    if options.tier == "baseline":
        options = replace(options, private_copies=False)
    return _emit(analyse(function, bindings), options, f"the {options.tier} tier was asked for")


def _with_direct_counts(function: h.Function, bindings: Mapping[int, Layout]) -> h.Function:
    """The function without tallies (see `tallies`). Functions without atomic loads need no code for that."""
    if not any(isinstance(it, h.Atomic) and it.op is h.AtomicOp.LOAD for it in function.nodes):
        return function
    from .tallies import with_direct_counts

    return with_direct_counts(function, bindings)


def _emit(analysed: AnalysedFunction, options: CpuOptions, reason: str) -> Emitted:
    module, for_few = _Module(options), analysed.for_few
    if for_few is not None:
        _emitter(for_few.analysed, module, options).emit_body(_FOR_FEW)
    return _emitter(analysed, module, options).emit(reason)


def _emitter(analysed: AnalysedFunction, module: _Module, options: CpuOptions) -> _FunctionEmitter:
    """The emitter of a function whose workgroups workers share, as far as that is possible."""

    def emitter(forks: tuple[h.Fork, ...]) -> _FunctionEmitter:
        return _FunctionEmitter(analysed, forks, module, private_copies=options.private_copies)

    chosen = emitter(_outermost_forks(analysed.placed))
    return chosen if chosen.carries_only_bindings() else emitter(())


class _Module:
    """The module being written, with its called functions."""

    def __init__(self, options: CpuOptions) -> None:
        self.tier: Tier = options.tier
        self.text = ModuleText()
        self.called = CalledFunctions(self._write)
        self._contract = options.contract
        self._count = 0

    def fuse(self, placed: Placement) -> None:
        """Find the products and sums of a function that are one operation: all that may be rounded once if `contract`
        is set, else those of exact products.
        """
        self.text.fused.update(_fused_products(placed, only_exact=not self._contract))

    def _write(self, kernel: h.Function, layouts: Mapping[int, Layout], way: Passing) -> str:
        """Write a called function, as gangs if possible."""
        self._count += 1
        name = f"called{self._count}"
        analysed = analyse(kernel, layouts)
        if self.tier == "gang" and way.lanes > 1:
            ganged, reason = with_gangs(analysed, way.lanes, None)
            analysed = analysed if reason is not None else ganged
        _FunctionEmitter(analysed, (), self, private_copies=False).emit_called(name)
        return name


def _gang_emitters(analysed: AnalysedFunction, nodes: NodeEmitter) -> dict[h.Fork, GangEmitter]:
    """The emitter of each gang, by its fork. Functions without gangs need no code for them."""
    if not analysed.gangs:
        return {}
    from .gangs import GangEmitter

    return {it.body.fork: GangEmitter(it, nodes) for it in analysed.gangs}


def _fused_products(placed: Placement, *, only_exact: bool) -> dict[h.Node, h.Binary | h.Intrinsic]:
    """Sums and differences of floats of 32 bits or more with a product from the same block, where LLVM's passes keep
    them together if they are one operation, and sums with an inner product of bytes from there.
    """
    found: dict[h.Node, h.Binary | h.Intrinsic] = {}
    for node in placed.live:
        if not isinstance(node, h.Binary) or node.op not in (h.BinaryOp.ADD, h.BinaryOp.SUB):
            continue
        for operand in (node.lhs, node.rhs):
            if placed.place.get(operand) is not placed.place[node]:
                continue
            if _is_fused(operand, node.op, placed, only_exact=only_exact):
                found[node] = operand
    return found


def _is_fused(
    operand: h.Node, op: h.BinaryOp, placed: Placement, *, only_exact: bool
) -> TypeGuard[h.Binary | h.Intrinsic]:
    """Whether an operand of a sum or difference is a product that becomes one operation with it."""
    type = placed.types[operand]
    match operand:
        case h.Intrinsic(function=name):
            return name in PACKED_DOTS and op is h.BinaryOp.ADD
        case h.Binary(op=h.BinaryOp.MUL) if isinstance(type, h.Float) and type.bits >= 32:
            return not only_exact or (type.bits == 32 and is_exact_product(operand, placed.types))
        case _:
            return False


def _outermost_forks(placed: Placement) -> tuple[h.Fork, ...]:
    """The perfectly nested outermost forks, outermost first, down to the innermost with a dynamic factor.

    Values between them are computed again for each thread, so no collection may change between, before or after them.
    """
    forks: list[h.Fork] = []
    node: h.Node = placed.graph.order[0]
    end = next((it for it in placed.graph.order if isinstance(it, h.Return)), None)
    control = None if end is None else end.control
    while isinstance(control, h.Join):
        (node,) = placed.graph.successors[node]
        fork = placed.nest.forks[control]
        if node is not fork:
            break
        forks.append(fork)
        control = control.control
    while forks and isinstance(forks[-1].factor, h.DynamicLiteral):
        forks.pop()
    changes = [at for it, at in placed.place.items() if isinstance(it, (h.Write, h.Atomic))]
    around = [sum(fork in placed.nest.around[at] for fork in forks) for at in dict.fromkeys(changes)]
    return tuple(forks[: min(around, default=None)])


_END_OF_LABEL = ":\n"
_RANGE = (
    "ptr noalias noundef readonly %dynamic, i64 %begin, i64 %end, ptr noalias noundef align 64 %scratch, "
    f"i1 zeroext {IS_SHARED}"
)
"""The parameters, beside the bindings, of a function that does a range of threads."""


def _call_for_few(few: FewWorkgroups, arguments: str) -> list[str]:
    """The instructions that call the function for few workgroups, and return, if there are no more."""
    return [
        f"  %place = getelementptr inbounds i64, ptr %dynamic, i64 {few.workgroups.index}",
        "  %workgroups = load i64, ptr %place, align 8",
        f"  %are.few = icmp ule i64 %workgroups, {few.most}",
        "  br i1 %are.few, label %few, label %many",
        "few:",
        f"  call void @{_FOR_FEW}({arguments})",
        "  ret void",
        "many:",
    ]


class _FunctionEmitter:
    """Writes one function. A block is named by its leader; that of a fork is the body of its loop."""

    def __init__(
        self, analysed: AnalysedFunction, forks: tuple[h.Fork, ...], module: _Module, *, private_copies: bool
    ) -> None:
        """`forks`: those whose threads workers share."""
        placed, bindings = analysed.placed, analysed.bindings
        module.fuse(placed)
        self._placed = placed
        self._types = placed.types
        self._joins = placed.nest.joins
        self._fork_of = placed.nest.forks
        self._forks = forks
        self._bindings = bindings
        self._function = placed.function
        self._live = analysed.live
        self._plan = analysed.plan
        self._privates = tuple(private_bindings(placed, self._plan, bindings)) if private_copies else ()
        self._plan.privatise({it.parameter for it in self._privates})
        self._called = module.called
        self._tier: Tier = module.tier
        self._module = module.text
        self._out = FunctionText(self._module)
        self._ops = Ops(self._out)
        self._tables = self._find_tables(analysed)
        scratch = dynamic.literal(self._tables[-1].end) if self._tables else self._called.scratch
        scratch_offsets, self._scratch_end = assign_scratch(self._plan.storages, scratch)
        self._nodes = NodeEmitter(self._ops, placed.types, self._plan, scratch_offsets, self._called)
        self._nodes.memory.tables.update({it.parameter: it for it in self._tables})
        self._labels = {leader: f"{type(leader).__name__.lower()}{n}" for n, leader in enumerate(placed.blocks)}
        self._ends: dict[h.Node, str] = {}
        """The last LLVM block of each block."""
        self._loops = ForkLoops(self._nodes, placed, forks, self._ends)
        self._parallel_copies = ParallelCopies(self._nodes, self._plan, placed.live, self._fork_of)
        self._phis: dict[h.Node, list[h.Phi]] = {}
        self._reduces: dict[h.Node, list[h.Reduce]] = {}
        self._endings: dict[h.Node, list[h.Node]] = {}
        self._find_pinned()
        self._gangs = _gang_emitters(analysed, self._nodes)
        self._unrolled_loops = analysed.unrolled
        self._began = dict[h.Node, float]()
        """The size of the function when each block began."""
        self._for_few = analysed.for_few
        self._straight = analysed.straight
        self._in_gangs = {leader for gang in self._gangs.values() for leader in gang.body.level_of}

    def _find_tables(self, analysed: AnalysedFunction) -> list[CounterTables]:
        """The tables of counters that gangs use, if scratch memory begins with them."""
        if not analysed.gangs or not self._privates or self._called.scratch != dynamic.ZERO:
            return []
        from .counter_tables import find_tables

        return find_tables(self._live, self._plan, self._types, self._privates)

    def carries_only_bindings(self) -> bool:
        """Whether workers may share the threads of the outermost forks."""
        joins = {self._joins[fork] for fork in self._forks}
        for node in self._live:
            if isinstance(node, h.Collect) and node.join in joins:
                return False
            if isinstance(node, h.Reduce) and node.join in joins and not self._is_binding(node):
                return False
        return True

    def _is_binding(self, node: h.Node) -> bool:
        return is_collection(self._types[node]) and self._plan.of(node).is_binding

    def emit(self, reason: str) -> Emitted:
        """Emit the whole module; `reason` says why forks are not gangs."""
        self._emit_blocks()
        self._add_functions()
        parallel = tuple(extent_of(fork.factor) for fork in self._forks)
        footprint: h.DynamicConstant = dynamic.ZERO
        for layout in self._bindings.values():
            footprint = dynamic.add(footprint, dynamic_size(layout))
        scratch = extent_of(self._called.scratch)
        is_quicker_alone = self._module.is_quicker_alone
        interface = Interface(
            parallel, scratch, self._privates, extent_of(footprint), is_quicker_alone, self._tier, reason
        )
        text = str(self._module)
        return Emitted(text, self._passes(text), interface)

    def emit_called(self, name: str) -> None:
        """Emit the function as one that others call."""
        self._nodes.memory.is_shared = "true"
        self._emit_blocks()
        self._add_function(name, "ptr noalias noundef readonly %dynamic, ptr noalias noundef align 64 %scratch")

    def emit_body(self, name: str) -> None:
        """Emit the function as one that does a range of threads."""
        self._emit_blocks()
        self._add_function(name, _RANGE)

    def _emit_blocks(self) -> None:
        self._called.scratch = self._scratch_end
        self._out.open("entry")
        straight = StraightLoops(self._nodes, self._placed, self._phis, self._labels, self._gangs, self._emit_nodes)
        for leader in self._placed.blocks:
            around = self._placed.loops.around[leader]
            if around and around[0] in self._straight:
                if leader is around[0].header:
                    straight.emit(around[0], self._straight[around[0]])
            elif leader not in self._in_gangs:
                self._emit_block(leader)
            elif isinstance(leader, h.Fork) and leader in self._gangs:
                self._emit_gang(leader)
        self._load_incoming_constants()
        self._out.open("entry")
        self._out.do(f"br label %{self._labels[self._placed.graph.order[0]]}")

    def _load_incoming_constants(self) -> None:
        """Load the dynamic constants that phis take, whose operands are written after the entry has ended."""
        for node in self._live:
            if isinstance(node, (h.Phi, h.Reduce)):
                for operand in predecessors(node):
                    if isinstance(operand, h.DynamicConstantNode):
                        self._nodes.value(operand)

    def _passes(self, text: str) -> Passes:
        """The LLVM passes for the module's text. Unrolled nests of loops in lanes get more: iterations and neighbouring
        rows share values. Code of very many blocks gets none for loops.
        """
        if self._tier != "gang":
            return "scalar" if self._tier == "lane" else "baseline"
        from .gangs import budgets

        if text.count(_END_OF_LABEL) > budgets.BLOCKS:
            return "large"
        return "thorough" if self._module.has_short_nests else "quick"

    def _emit_gang(self, fork: h.Fork) -> None:
        before, after = block_leader(fork.control), self._labels[self._joins[fork]]
        self._gangs[fork].emit(self._labels[fork], lambda: self._ends[before], after)

    def _find_pinned(self) -> None:
        """Find the scalars at the start of each block, and the collections copied at its end."""
        for node in self._live:
            is_scalar = not is_collection(self._types.get(node))
            if isinstance(node, h.Phi) and is_scalar:
                self._phis.setdefault(node.region, []).append(node)
            elif isinstance(node, h.Reduce) and is_scalar and isinstance(node.join, h.Join):
                self._reduces.setdefault(self._fork_of[node.join], []).append(node)
            else:
                for leader in dict.fromkeys(self._parallel_copies.blocks(node)):
                    self._endings.setdefault(leader, []).append(node)

    def _add_function(self, name: str, common: str) -> None:
        parameters = "".join(f"ptr noalias noundef %p{index}, " for index in range(len(self._function.parameter_types)))
        head = f"define internal void @{name}({parameters}{common}) nounwind noinline"
        self._module.add_function(name, f'{head} "prefer-vector-width"="512" {{\n{self._out.text()}\n}}\n')

    def _add_functions(self) -> None:
        count = len(self._function.parameter_types)
        self._add_function(_BODY, _RANGE)
        lines: list[str] = []
        for index in range(count):
            lines.append(f"  %a{index} = getelementptr inbounds ptr, ptr %buffers, i64 {index}")
            lines.append(f"  %p{index} = load ptr, ptr %a{index}, align 8")
        arguments = "".join(f"ptr %p{index}, " for index in range(count))
        arguments += f"ptr %dynamic, i64 %begin, i64 %end, ptr %scratch, i1 zeroext {IS_SHARED}"
        if self._for_few is not None:
            lines += _call_for_few(self._for_few, arguments)
        call = f"  call void @{_BODY}({arguments})"
        lines += [*(self._with_tables(call) if self._tables else [call]), "  ret void"]
        given = f"ptr %buffers, ptr %dynamic, i64 %begin, i64 %end, ptr %scratch, i1 zeroext {IS_SHARED}"
        head = f"define void @kernel({given}) nounwind"
        body = "\n".join(lines)
        if not self._module.target.has_half:
            self._module.add_function("conversions", CONVERSIONS)
        self._module.add_function("kernel", f"{head} {{\n{body}\n}}\n\n{_METADATA}")

    def _with_tables(self, call: str) -> list[str]:
        """A call of the function that counts in tables."""
        from .counter_tables import added, cleared

        return [*cleared(self._tables), "  br label %called", "called:", call, *added(self._tables)]

    # Blocks

    def _emit_block(self, leader: h.Node) -> None:
        self._out.open(self._labels[leader])
        self._began[leader] = self._out.size
        if isinstance(leader, h.Fork) and leader not in self._forks[1:]:
            after, reduces = self._labels[self._joins[leader]], self._reduces.get(leader, ())
            self._loops.open(leader, self._labels[leader], after, reduces)
        for phi in self._phis.get(leader, ()):
            self._nodes.values[phi] = self._phi(phi)
        self._emit_nodes(leader)
        self._out.do(self._terminator(self._placed.exits[leader]) + self._unrolled(leader))

    def _emit_nodes(self, leader: h.Node) -> None:
        """The nodes of a block, and the copies at its end."""
        for node in self._placed.blocks[leader]:
            check_compile_time()
            self._nodes.emit(node)
        self._parallel_copies.at_end(leader, self._endings.get(leader, ()))
        self._ends[leader] = self._out.current

    def _unrolled(self, leader: h.Node) -> str:
        """The metadata by which LLVM unrolls the loop whose header is the target of this jump."""
        around = self._placed.loops.around[leader]
        header = self._placed.exits[leader]
        turns = [self._unrolled_loops[it] for it in around if it.header is header and it in self._unrolled_loops]
        if not turns:
            return ""
        from .gangs import budgets

        return self._out.unrolled_loop(self._began[header], turns[0], budgets.UNROLLED)

    def _phi(self, node: h.Phi) -> str:
        assert isinstance(node.region, h.Region)
        pairs = zip(node.region.predecessors, node.values, strict=True)
        incoming = [(value, block_leader(it)) for it, value in pairs if it in self._placed.live]
        return self._out.phi(
            data.llvm_type(self._types[node]),
            lambda: [(self._nodes.value(value), self._ends[leader]) for value, leader in incoming],
        )

    def _terminator(self, node: h.Node) -> str:
        if isinstance(node, h.Return):
            self._check_result(node.value)
            return "ret void"
        if isinstance(node, h.If):
            if_false, if_true = (self._target(node, output) for output in (0, 1))
            return f"br i1 {self._nodes.value(node.condition)}, label %{if_true}, label %{if_false}"
        if isinstance(node, h.Join) and self._fork_of[node] not in self._forks[1:]:
            return f"br label %{self._labels[self._fork_of[node]]}"
        return f"br label %{self._labels[node]}"

    def _target(self, branch: h.If, output: int) -> str:
        for node in self._placed.graph.successors[branch]:
            if isinstance(node, h.Read) and node.indices == [h.ControlIndex(output)]:
                return self._labels[node]
        raise AssertionError(f"{branch} has no way {output}")

    def _check_result(self, value: h.Node) -> None:
        """Check that each result is in its parameter's storage: machine code returns nothing (see `as_kernel`)."""
        for field in value.fields if isinstance(value, h.ProductNode) else [value]:
            is_in_place = is_collection(self._types[field]) and not isinstance(field, h.ConstantNode)
            assert self._types[field] == UNIT or (is_in_place and self._plan.of(field).is_binding)
