"""Compiles functions of core IR to closures for the interpreter: each instruction is decoded once, then runs many
times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, assert_never

from ..builtins import builtin
from ..constants import RawValue
from ..diagnostics import ShaderError, not_supported, with_article
from ..types import AddressSpace, Pointer
from . import nodes
from .interp_frame import (
    FIRST_PARAMETER,
    RESULT,
    CompiledBlock,
    CompiledFunction,
    Frame,
    Operation,
    PausingOperation,
    PointerValue,
    Steps,
)
from .interp_operations import load_operation, operation
from .interp_pauses import pausing_call, pausing_operation, uniform_load
from .root_values import RootValues
from .structure import blocks_of, entered_blocks
from .values import Value

if TYPE_CHECKING:
    from .interp_observer import Observer


class Compiler:
    """Compiles the functions that an entry point needs. `buffers` are the pointers to the bound variables."""

    def __init__(
        self,
        root: RootValues,
        buffers: Mapping[nodes.Var, PointerValue],
        steps: Steps,
        observer: Observer | None = None,
    ) -> None:
        self.root = root
        self.buffers = buffers
        self.steps = steps
        self.observer = observer
        self.declared: set[Value] = set(root.module.root.instructions)
        self.variables: list[nodes.Var] = []
        self._numbers: dict[nodes.Var, int] = {}
        self._functions: dict[nodes.Function, CompiledFunction] = {}

    def function(self, function: nodes.Function) -> CompiledFunction:
        """The compiled function; its callees are compiled too."""
        if function not in self._functions:
            self._functions[function] = FunctionCompiler(self, function).compile()
        return self._functions[function]

    def variable_number(self, variable: nodes.Var) -> int:
        """The index of a private or workgroup variable in `Invocation.variables`."""
        if variable not in self._numbers:
            self._numbers[variable] = len(self.variables)
            self.variables.append(variable)
        return self._numbers[variable]


class FunctionCompiler:
    """Compiles one function. A subclass may compile blocks in another form."""

    def __init__(self, compiler: Compiler, function: nodes.Function) -> None:
        self.compiler = compiler
        self.function = function
        self.made = CompiledFunction(compiler.steps, [None] * FIRST_PARAMETER)
        self.slots: dict[Value, int] = {}
        self.blocks: dict[int, CompiledBlock] = {}

    def compile(self) -> CompiledFunction:
        """The function, ready to run."""
        for parameter in self.function.parameters:
            self.slot(parameter)
        blocks = blocks_of(self.function)
        self.blocks = {id(block): self.new_block() for block in blocks}
        self.made.start = self.blocks[id(self.function.start_target)]
        self.number(blocks)
        for block in blocks:
            self.block(block)
        return self.made

    def new_block(self) -> CompiledBlock:
        """The block that the code of a block goes into."""
        return CompiledBlock()

    def number(self, blocks: Sequence[nodes.Block]) -> None:
        """Number the blocks as they follow in the text, and note the loops around each."""
        for order, block in enumerate(blocks):
            made = self.blocks[id(block)]
            made.order = order
            for inner, loops in _entered(block, made.loops):
                self.blocks[id(inner)].loops = loops
        for made in self.blocks.values():
            made.loops = tuple(self.blocks[start].order for start in made.loops)
            made.starts_turn = made.order in made.loops[-1:]

    def slot(self, value: Value) -> int:
        """The frame slot of a value; constants are stored in their slots once, before the shader runs."""
        if value not in self.slots:
            self.slots[value] = len(self.made.template)
            self.made.template.append(self.known(value, self.slots[value]))
        return self.slots[value]

    def known(self, value: Value, slot: int) -> RawValue | PointerValue | None:
        """What a slot holds before the function runs; None for what the function computes."""
        if isinstance(value, nodes.Constant):
            return value.value.value
        if value not in self.compiler.declared:
            return None
        if not isinstance(value, nodes.Var):
            return self.compiler.root.value(value)
        if value in self.compiler.buffers:
            return self.compiler.buffers[value]
        assert isinstance(value.type, Pointer)
        if value.type.space is AddressSpace.HANDLE:
            raise ShaderError([not_supported(f"{with_article(str(value.type.store))} in the interpreter", value.span)])
        self.made.imports.append((slot, self.compiler.variable_number(value)))
        return None

    def block(self, block: nodes.Block) -> None:
        """Compile a block into its `CompiledBlock`."""
        made = self.blocks[id(block)]
        ready: list[Operation] = []
        for instruction in block.instructions:
            pausing = self.pausing(instruction)
            if pausing is None:
                ready.append(self.operation(instruction))
                continue
            made.segments.append((tuple(ready), pausing))
            ready = []
            self.made.pauses = True
        made.segments.append((tuple(ready), None))
        made.steps = len(block.instructions) + 1
        assert block.branch is not None
        self.leave(made, block.branch)

    def pausing(self, node: nodes.Instruction) -> PausingOperation | None:
        """The operation of an instruction that may wait; None for others."""
        arguments = tuple(map(self.slot, node.operands))
        match node:
            case nodes.Call(callee=callee):
                function = self.compiler.function(callee)
                return pausing_call(function, arguments, self.slot(node)) if function.pauses else None
            case nodes.BuiltinCall(function=name):
                flags = builtin(name)
                waits = flags is not None and (flags.flags.is_barrier or flags.flags.is_subgroup)
                return self.pausing_builtin(node, arguments) if waits else None
            case _:
                return None

    def pausing_builtin(self, node: nodes.BuiltinCall, arguments: tuple[int, ...]) -> PausingOperation:
        """A barrier, a subgroup operation, or a load between barriers."""
        target = self.slot(node)
        if node.function != "workgroupUniformLoad":
            return pausing_operation(node, arguments, target)
        return uniform_load(node, self.uniform_load(node, arguments))

    def uniform_load(self, node: nodes.BuiltinCall, arguments: tuple[int, ...]) -> Operation:
        """The load of a `workgroupUniformLoad`, without its barriers."""
        target = self.slot(node)
        load = load_operation(node.arguments[0].type, arguments[0], target, self.compiler.root.counts)
        return self.watched(node, arguments, target, load)

    def operation(self, node: nodes.Instruction) -> Operation:
        """The closure of an instruction that does not wait."""
        arguments = tuple(map(self.slot, node.operands))
        target = self.slot(node)
        if isinstance(node, nodes.Call):
            return _call(self.compiler.function(node.callee), arguments, target)
        return self.watched(node, arguments, target, operation(node, arguments, target, self.compiler.root.counts))

    def watched(self, node: nodes.Instruction, arguments: tuple[int, ...], target: int, run: Operation) -> Operation:
        """The operation as the observer wants it."""
        observer = self.compiler.observer
        return run if observer is None else observer.watched(node, arguments, target, run)

    def leave(self, made: CompiledBlock, branch: nodes.Branch) -> None:
        """Compile the branch at the end of a block."""
        arguments = tuple(map(self.slot, branch.arguments))
        target = branch.target
        match target:
            case nodes.Block():
                self.jump(made, target, arguments)
            case nodes.Loop():
                self.jump(made, target.start_target, arguments)
            case nodes.Terminator():
                if arguments:
                    self.return_value(made, arguments[0])
            case nodes.If():
                self.enter_if(made, target)
            case nodes.Switch():
                self.enter_switch(made, target)
            case _:
                assert_never(target)

    def jump(self, made: CompiledBlock, target: nodes.Block, arguments: tuple[int, ...]) -> None:
        """Go on at a block, and give its arguments their values."""
        following = self.blocks[id(target)]
        parameters = tuple(map(self.slot, target.arguments))
        pairs = tuple(zip(parameters, arguments, strict=True))

        def pass_on(frame: Frame) -> CompiledBlock:
            values = [frame[argument] for _, argument in pairs]  # all are read before any is written
            for (parameter, _), value in zip(pairs, values, strict=True):
                frame[parameter] = value
            return following

        def go(frame: Frame) -> CompiledBlock:
            return following

        made.leave = pass_on if pairs else go

    def return_value(self, made: CompiledBlock, value: int) -> None:
        """Return a value."""

        def leave(frame: Frame) -> None:
            frame[RESULT] = frame[value]

        made.leave = leave

    def enter_if(self, made: CompiledBlock, node: nodes.If) -> None:
        """Go on in one of two arms."""
        condition = self.slot(node.condition)
        true, false = self.blocks[id(node.true_target)], self.blocks[id(node.false_target)]
        made.leave = lambda frame: true if frame[condition] else false

    def enter_switch(self, made: CompiledBlock, node: nodes.Switch) -> None:
        """Go on in the case that is selected."""
        condition = self.slot(node.condition)
        cases = {
            selector.value: self.blocks[id(case.target)]
            for case in node.cases
            for selector in case.selectors
            if isinstance(selector.value, int)
        }
        default = next(self.blocks[id(case.target)] for case in node.cases if case.is_default)
        made.leave = lambda frame: cases.get(frame[condition], default)


def _entered(block: nodes.Block, loops: tuple[int, ...]) -> Iterator[tuple[nodes.Block, tuple[int, ...]]]:
    """The blocks that a block enters, each with the identities of the first blocks of the loops around it."""
    target = None if block.branch is None else block.branch.target
    for inner in entered_blocks(block):
        is_inside = isinstance(target, nodes.Loop) and inner is not target.merge_target
        yield inner, (*loops, id(target.start_target)) if isinstance(target, nodes.Loop) and is_inside else loops


def _call(function: CompiledFunction, arguments: tuple[int, ...], target: int) -> Operation:
    def run(frame: Frame) -> None:
        inner = function.frame(frame[0], [frame[argument] for argument in arguments])
        function.run(inner)
        frame[target] = inner[RESULT]

    return run
