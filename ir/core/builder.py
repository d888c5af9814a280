"""Builder: makes core IR, one method for each single operation.

A builder appends to `block`, its insertion point, and gives each new node the span `span`. The type of each result
follows from the operands (`operations`). The methods that only construct an operation are generated: see
`OperationBuilder`. Control flow is built in two steps: a method makes the node with empty blocks and ends the current
block with a branch to the node; the caller then moves the insertion point (`at`) and fills the blocks.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from ..constants import ConstantValue, RawValue
from ..ops import BinaryOp
from ..source import Span
from ..types import (
    BOOL,
    U32,
    VOID,
    AddressSpace,
    BindingPoint,
    IoAttributes,
    Pointer,
    Scalar,
    Stage,
    Type,
    default_access,
    pointer,
)
from .nodes import (
    Block,
    BlockArgument,
    Branch,
    BuiltinCall,
    Constant,
    Construct,
    Convert,
    DiagnosticFilter,
    Flow,
    Function,
    FunctionParameter,
    If,
    InstructionT,
    Loop,
    Module,
    OperationBuilder,
    Override,
    Switch,
    SwitchCase,
    Terminator,
    Var,
)
from .operations import result_type
from .rules import RuleError
from .values import UNTYPED, Value

_NO_IO = IoAttributes()


def empty_block(arguments: Iterable[BlockArgument] = ()) -> Block:
    """A block without instructions that does not branch yet."""
    return Block(list(arguments), [], None)


def empty_module() -> Module:
    """A module without declarations or functions."""
    return Module([], [], [], [], empty_block(), [])


def constant(type: Type, value: RawValue, *, span: Span | None = None) -> Constant:
    """A new constant operand; constants belong to no block."""
    return Constant(ConstantValue(type, value), type, None, span=span)


def bool_constant(value: bool) -> Constant:
    """`true` or `false`."""
    return constant(BOOL, value)


def u32(value: int) -> Constant:
    """A u32 constant, such as the index of a structure member."""
    return constant(U32, value)


class Builder(OperationBuilder):
    """Appends single operations and branches at `block`. `block` is None where nothing can follow."""

    def __init__(self, module: Module, block: Block | None = None) -> None:
        self.module = module
        self.block = block
        self.span: Span | None = None

    @contextmanager
    def at(self, block: Block | None) -> Generator[None, None, None]:
        """Move the insertion point to `block`; on exit, move it back to where it was."""
        before, self.block = self.block, block
        try:
            yield
        finally:
            self.block = before

    def append(self, instruction: InstructionT) -> InstructionT:
        """Put an instruction at the end of the current block."""
        assert self.block is not None, "nothing can be built after a branch"
        assert self.block.branch is None, "nothing can be built after a branch"
        self.block.instructions.append(instruction)
        return instruction

    # Single operations.

    def add(self, operation: InstructionT, /) -> InstructionT:
        """Give a new operation its type and the builder's span, and append it. Raises RuleError."""
        try:
            operation.type = result_type(operation)
        except RuleError:
            operation.drop_operands()
            raise
        operation.span = self.span
        return self.append(operation)

    def convert(self, type: Type, operand: Value, *, name: str | None = None) -> Convert:
        """`type(operand)`, a value conversion."""
        return self.add(Convert(operand, type, name))

    def construct(self, type: Type, elements: Iterable[Value], *, name: str | None = None) -> Construct:
        """`type(elements…)`, a value constructor."""
        return self.add(Construct(elements, type, name))

    def var(
        self,
        type: Pointer,
        *,
        name: str | None = None,
        initializer: Value | None = None,
        binding: BindingPoint | None = None,
    ) -> Var:
        """A variable; `type` is the pointer to it (`variable_type`)."""
        return self.add(Var(initializer, type, name, binding=binding))

    def override(
        self, type: Scalar, *, name: str | None = None, default: Value | None = None, id: int | None = None
    ) -> Override:
        """A pipeline-overridable constant."""
        return self.add(Override(default, type, name, id=id))

    def builtin_call(
        self,
        function: str,
        arguments: Sequence[Value],
        *,
        template_arguments: Sequence[Type] = (),
        name: str | None = None,
    ) -> BuiltinCall:
        """A call of a builtin function by its WGSL name."""
        return self.add(BuiltinCall(function, template_arguments, arguments, UNTYPED, name))

    # Branches and control flow.

    def branch(self, target: Flow, arguments: Iterable[Value] = ()) -> Branch:
        """End the current block; nothing can be built until the insertion point moves."""
        assert self.block is not None, "nothing can be built after a branch"
        assert self.block.branch is None, "nothing can be built after a branch"
        branch = Branch(target, arguments, span=self.span)
        self.block.branch = branch
        self.block = None
        return branch

    def return_(self, function: Function, value: Value | None = None) -> Branch:
        """End the current block and the function."""
        return self.branch(function.end_target, () if value is None else (value,))

    def unreachable(self) -> Branch:
        """End a block that control never enters."""
        return self.branch(Terminator(unreachable=True))

    def enter_if(self, condition: Value, merge_arguments: Iterable[BlockArgument] = ()) -> If:
        """End the current block with an If, whose arms and merge are empty blocks. A merge that stays unreached must
        become None.
        """
        node = If(condition, empty_block(), empty_block(), empty_block(merge_arguments), span=self.span)
        self.branch(node)
        return node

    def enter_scope(self, filters: Iterable[DiagnosticFilter]) -> If:
        """End the current block with a scope, whose true arm and merge are empty. A merge that stays unreached must
        become None.
        """
        node = self.enter_if(bool_constant(True))
        node.true_target.diagnostics = list(filters)
        with self.at(node.false_target):
            self.unreachable()
        return node

    def enter_loop(self, carried: Iterable[BlockArgument] = (), initial: Iterable[Value] = ()) -> Loop:
        """End the current block with a Loop of empty blocks. `carried` are the arguments of `start_target`, `initial`
        their first values.
        """
        node = Loop(empty_block(carried), empty_block(), empty_block(), span=self.span)
        self.branch(node, initial)
        return node

    @contextmanager
    def when(self, condition: Value) -> Generator[None]:
        """An If: what is built inside of the `with` is executed where the condition holds."""
        node = self.enter_if(condition)
        assert node.merge_target is not None
        with self.at(node.false_target):
            self.branch(node.merge_target)
        self.block = node.true_target
        yield
        self.branch(node.merge_target)
        self.block = node.merge_target

    def repeat(self, loop: Loop, *, until: Value) -> None:
        """End the body of an entered loop, which is executed again until the condition holds; go on after the loop."""
        done = self.enter_if(until)
        assert done.merge_target is not None
        with self.at(done.true_target):
            self.branch(loop.merge_target)
        with self.at(done.false_target):
            self.branch(done.merge_target)
        self.block = done.merge_target
        self.branch(loop.continuing_target)
        with self.at(loop.continuing_target):
            self.branch(loop.start_target)
        self.block = loop.merge_target

    @contextmanager
    def counting(self, first: Value, end: Value, *, step: int = 1, name: str | None = None) -> Generator[Value]:
        """A loop whose body is what is built inside of the `with`, for each number from `first` to before `end`."""
        counter = self.var(variable_type(AddressSpace.FUNCTION, U32), name=name, initializer=first)
        loop = self.enter_loop()
        self.block = loop.start_target
        test = self.enter_if(self.binary(BinaryOp.LESS, self.load(counter), end))
        assert test.merge_target is not None
        with self.at(test.false_target):
            self.branch(loop.merge_target)
        with self.at(test.true_target):
            self.branch(test.merge_target)
        self.block = test.merge_target
        yield self.load(counter)
        self.branch(loop.continuing_target)
        with self.at(loop.continuing_target):
            self.store(counter, self.binary(BinaryOp.ADD, self.load(counter), u32(step)))
            self.branch(loop.start_target)
        self.block = loop.merge_target

    def enter_switch(self, condition: Value, cases: Iterable[tuple[Sequence[ConstantValue], bool]]) -> Switch:
        """End the current block with a Switch. Each case is its selectors and whether it is the default too."""
        made = [SwitchCase(list(selectors), is_default, empty_block()) for selectors, is_default in cases]
        node = Switch(condition, made, empty_block(), span=self.span)
        self.branch(node)
        return node

    # Declarations.

    def function(
        self,
        name: str,
        parameters: Iterable[FunctionParameter] = (),
        return_type: Type = VOID,
        *,
        stage: Stage | None = None,
        workgroup_size: Iterable[Value] = (),
        return_io: IoAttributes = _NO_IO,
    ) -> Function:
        """A new function of the module with an empty start block, which becomes the insertion point."""
        function = Function(
            name, stage, workgroup_size, parameters, return_type, return_io, empty_block(), Terminator(), span=self.span
        )
        self.module.functions.append(function)
        self.block = function.start_target
        return function


def variable_type(space: AddressSpace, store: Type) -> Pointer:
    """The pointer type of a variable with the default access mode."""
    return pointer(space, store, default_access(space))


def parameter(type: Type, name: str | None, io: IoAttributes = _NO_IO) -> FunctionParameter:
    """A function parameter."""
    return FunctionParameter(io, type, name)


def block_argument(type: Type, name: str | None = None) -> BlockArgument:
    """A block argument."""
    return BlockArgument(type, name)
