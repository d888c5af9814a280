"""Makes control flow around subgroup operations uniform, for a device whose lanes run in lockstep there.

Each invocation keeps in a variable the number of the block where it goes next. The blocks follow one another in the
order of the text, and each does its work only if it is the next one:

    if c { A; x = subgroupAdd(v); B }  C

becomes

    if next == 0 { next = select(2, 1, c); }
    if next == 1 { A; }
    sum = subgroupAdd(select(0, v, next == 1));
    if next == 1 { x = sum; B; next = 2; }
    if next == 2 { C; }

A Loop goes on as long as any invocation of the workgroup goes to its start. So invocations reconverge at the end of
each construct, as in the interpreter (`ir.core.interp_lanes`). Constructs without barriers and subgroup operations that
are left only at their ends stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from ...ir.builtins import builtin
from ...ir.constants import zero_constant
from ...ir.core import nodes
from ...ir.core.builder import Builder, empty_block, u32, variable_type
from ...ir.core.names import NameScope
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.diagnostics import ShaderError, not_supported
from ...ir.ops import BinaryOp
from ...ir.source import Span
from ...ir.types import U32, VOID, Access, AddressSpace, Pointer, Type, atomic, is_constructible, pointer
from .copying import copy_instruction
from .editing import calls_in, module_names, names_in
from .inline import Inline
from .masked_subgroups import masked
from .reg2mem import RegistersToMemory
from .regions import blocks_from, is_unreachable, merge_of, nested, region, users_of_block
from .replacing import copy_constant

_RETURNED = 0
"""The number of the next block for an invocation that has returned."""


def mask_divergence(module: nodes.Module) -> None:
    """Mask the entry points that have subgroup operations (see the module's docstring). All diagnostic filters are
    dropped. Raises ShaderError for a function with subgroup operations that cannot be inlined.
    """
    _drop_filters(module)
    Inline().run(module)
    RegistersToMemory().run(module)
    for function in module.functions:
        for _, call in calls_in(function):
            if _meets(blocks_of(call.callee)):
                what = "a deeply nested call of a function with subgroup operations in divergent control flow"
                raise ShaderError([not_supported(what, call.span)])
        if function.stage is not None and _meets(blocks_of(function)):
            _Masking(module, function).run()


def _drop_filters(module: nodes.Module) -> None:
    """Drop filters: a function that has some of its own would not be inlined."""
    for function in module.functions:
        function.diagnostics = []
        for block in blocks_of(function):
            block.diagnostics = []


def _meets(blocks: Iterable[nodes.Block]) -> bool:
    """Whether blocks have a barrier or subgroup operation."""
    return any(_is_meeting(it) for block in blocks for it in block.instructions)


def _is_meeting(instruction: nodes.Instruction) -> bool:
    info = builtin(instruction.function) if isinstance(instruction, nodes.BuiltinCall) else None
    return info is not None and (info.flags.is_barrier or info.flags.is_subgroup)


def _is_whole(block: nodes.Block) -> bool:
    """Whether a block enters a construct that can stay as it is."""
    if not nested(block):
        return False
    inside = [it for start in nested(block) for it in blocks_from(start)]
    if _meets(inside):
        return False
    known = {id(it) for it in (*inside, merge_of(block))}
    targets = [it.branch.target for it in inside if it.branch is not None]
    leaving = (isinstance(it, nodes.Terminator) and not it.unreachable for it in targets)
    jumping = (isinstance(it, nodes.Block) and id(it) not in known for it in targets)
    return not (any(leaving) or any(jumping))


class _Masking:
    """Masks one function. `builder.block` is the end of the uniform code so far; `at` is the number that an invocation
    has that takes part in what comes next; `tail` is the block that it runs, None where none has begun.
    """

    def __init__(self, module: nodes.Module, function: nodes.Function) -> None:
        self.function = function
        self.names = names_in(module_names(module), function)
        self.entry = empty_block()
        self.builder = Builder(module, self.entry)
        self.builder.span = function.span
        self.numbers: dict[int, int] = {}
        self.at = _RETURNED
        self.tail: nodes.Block | None = None
        self.parts = _Parts(self.entry, self.names)
        self.next = self.parts.variable("next", U32, None)
        self.flag: nodes.Var | None = None

    def run(self) -> None:
        """Replace the body of the function."""
        start = self.function.start_target
        self.builder.store(self.next, u32(self._number(start)))
        self._region(start)
        self._end_part()
        self.builder.return_(self.function)
        self.function.start_target = self.entry
        self.parts.connect(blocks_of(self.function))

    def _number(self, block: nodes.Block) -> int:
        """The number of a block."""
        return self.numbers.setdefault(id(block), len(self.numbers) + 1)

    # Parts: what an invocation runs alone.

    def _part(self) -> nodes.Block:
        """The block to which the work of the invocations goes that take part."""
        if self.tail is None:
            builder = self.builder
            node = builder.enter_if(self._takes_part())
            with builder.at(node.false_target):
                builder.branch(_merge(node))
            self.tail, builder.block = node.true_target, _merge(node)
            self.parts.starts.append(self.tail)
        return self.tail

    def _end_part(self) -> None:
        """Go on in uniform code."""
        if self.tail is not None:
            self.tail.branch = nodes.Branch(_known(self.builder.block), (), span=self.builder.span)
            self.tail = None

    def _go_to(self, value: Value) -> None:
        with self.builder.at(self._part()):
            self.builder.store(self.next, value)
        self._end_part()

    def _takes_part(self) -> Value:
        builder = self.builder
        return builder.binary(BinaryOp.EQUAL, builder.load(self.next), u32(self.at))

    # Control flow.

    def _region(self, start: nodes.Block) -> None:
        self.at = self._number(start)
        for block in list(region(start)):
            merge, is_whole = merge_of(block), _is_whole(block)
            branch, block.branch = block.branch, None
            assert branch is not None
            self._instructions(block)
            self.builder.span = branch.span or self.builder.span
            if is_whole:
                self._part().branch = branch
                self.tail = merge
                continue
            self._leave(branch)
            if merge is not None:
                self.at = self._number(merge)

    def _instructions(self, block: nodes.Block) -> None:
        instructions, block.instructions = block.instructions, []
        for instruction in instructions:
            self.builder.span = instruction.span or self.builder.span
            if isinstance(instruction, nodes.BuiltinCall) and _is_meeting(instruction):
                self._end_part()
                self._meet(instruction)
            else:
                self._part().instructions.append(instruction)

    def _leave(self, branch: nodes.Branch) -> None:
        match branch.target:
            case nodes.If() as node:
                self._if(node)
            case nodes.Switch() as node:
                self._switch(node)
            case nodes.Loop() as node:
                self._loop(node)
            case nodes.Block() as target:
                self._go_to(u32(self._number(target)))
            case nodes.Terminator() as end if end.unreachable:
                if self.tail is not None:
                    self.tail.branch, self.tail = branch, None
            case nodes.Terminator():
                self._go_to(u32(_RETURNED))
            case _:
                assert_never(branch.target)

    def _if(self, node: nodes.If) -> None:
        arms = (node.true_target, node.false_target)
        numbers = [u32(self._number(it)) for it in arms]
        with self.builder.at(self._part()):
            chosen = self.builder.builtin_call("select", [numbers[1], numbers[0], node.condition])
        node.drop_operands()
        self._go_to(chosen)
        for arm in arms:
            self._region(arm)

    def _switch(self, node: nodes.Switch) -> None:
        cases, after = [it.target for it in node.cases], empty_block()
        with self.builder.at(self._part()):
            self.builder.branch(node)
        for case in node.cases:
            number, case.target = u32(self._number(case.target)), empty_block()
            with self.builder.at(case.target):
                self.builder.store(self.next, number)
                self.builder.branch(after)
        node.merge_target = self.tail = after
        self._end_part()
        for start in cases:
            self._region(start)

    def _loop(self, node: nodes.Loop) -> None:
        builder = self.builder
        self._go_to(u32(self._number(node.start_target)))
        self.at = self._number(node.start_target)
        loop = builder.enter_loop()
        builder.block = loop.start_target
        choice = builder.enter_if(self._any())
        with builder.at(choice.true_target):
            builder.branch(_merge(choice))
        with builder.at(choice.false_target):
            builder.branch(loop.merge_target)
        builder.block = _merge(choice)
        self._region(node.start_target)
        if not is_unreachable(node.continuing_target):
            self._region(node.continuing_target)
        builder.branch(loop.continuing_target)
        builder.block = loop.continuing_target
        builder.branch(loop.start_target)
        builder.block = loop.merge_target

    def _any(self) -> Value:
        """Whether any invocation of the workgroup takes part."""
        builder, flag = self.builder, self._flag()
        builder.builtin_call("atomicStore", [flag, u32(0)])
        builder.builtin_call("workgroupBarrier", [])
        vote = builder.builtin_call("select", [u32(0), u32(1), self._takes_part()])
        builder.builtin_call("atomicOr", [flag, vote])
        return builder.binary(BinaryOp.NOT_EQUAL, builder.builtin_call("workgroupUniformLoad", [flag]), u32(0))

    def _flag(self) -> nodes.Var:
        if self.flag is None:
            root = self.builder.module.root
            type = pointer(AddressSpace.WORKGROUP, atomic(U32), Access.READ_WRITE)
            self.flag = nodes.Var(None, type, self.names.unique("any_lane"), span=self.function.span)
            root.instructions.append(self.flag)
            self.function.resources.append(self.flag)
        return self.flag

    # Barriers and subgroup operations.

    def _meet(self, call: nodes.BuiltinCall) -> None:
        """All invocations meet; those that take part keep the result."""
        info = builtin(call.function)
        assert info is not None
        if not info.flags.is_subgroup:
            self.builder.append(call)
            result: Value = call
        else:
            result = masked(self.builder, call, self._takes_part())
            call.drop_operands()
        if call.type is VOID or not call.uses:
            return
        kept = self.parts.variable(call.name or "result", call.type, call.span)
        self.parts.kept.append((call, kept))
        store = nodes.Store(kept, result, VOID, None, span=call.span)
        self._part().instructions.append(store)
        self.parts.keeping.append(store)


class _Parts:
    """Connects parts of code that no longer see each other's values: these are kept in variables.

    `starts` are the first blocks of the parts; `kept` are results that all users load from a variable, which `keeping`
    store there.
    """

    def __init__(self, entry: nodes.Block, names: NameScope) -> None:
        self.entry = entry
        self.names = names
        self.starts: list[nodes.Block] = []
        self.kept: list[tuple[Value, nodes.Var]] = []
        self.keeping: list[nodes.Store] = []
        self._places: dict[int, nodes.Block] = {}
        self._part_of: dict[int, int] = {}

    def variable(self, name: str, type: Type, span: Span | None) -> nodes.Var:
        """A variable of the whole function."""
        made = nodes.Var(None, variable_type(AddressSpace.FUNCTION, type), self.names.unique(name), span=span)
        self.entry.instructions.insert(0, made)
        return made

    def connect(self, blocks: Sequence[nodes.Block]) -> None:
        """Let each part have the values of others that it uses."""
        self._places = {id(user): block for block in blocks for user in users_of_block(block)}
        for number, start in enumerate(self.starts):
            self._part_of |= {id(it): number for it in blocks_from(start)}
        for value, variable in self.kept:
            self._load(value, variable, self._blocks_with_users(value))
        for block in reversed(blocks):
            if id(block) in self._part_of:
                for instruction in list(reversed(block.instructions)):
                    self._share(block, instruction)

    def _blocks_with_users(self, value: Value) -> Sequence[nodes.Block]:
        users = [it for it in value.users if it not in self.keeping]
        return list({id(block): block for block in (self._places[id(it)] for it in users)}.values())

    def _share(self, block: nodes.Block, value: nodes.Instruction) -> None:
        """Let other parts have the value."""
        if not value.uses:
            return
        own = self._part_of[id(block)]
        others = [it for it in self._blocks_with_users(value) if self._part_of.get(id(it), -1) != own]
        if not others:
            return
        position = next(at for at, it in enumerate(block.instructions) if it is value)
        if isinstance(value, nodes.Var):
            self._hoist(block, position, value)
        elif is_constructible(value.type):
            kept = self.variable(value.name or "kept", value.type, value.span)
            self._load(value, kept, others)
            self._put(block, position + 1, nodes.Store(kept, value, VOID, None, span=value.span))
        else:
            for other in others:
                copy = copy_instruction(value, _operand)
                copy.name = None
                self._put_before_users(other, value, copy)

    def _hoist(self, block: nodes.Block, position: int, variable: nodes.Var) -> None:
        """Declare a variable for all parts, and initialise it where it was declared."""
        assert isinstance(variable.type, Pointer)
        store = variable.type.store
        first = variable.initializer or nodes.Constant(zero_constant(store), store, None)
        variable.initializer = None
        del block.instructions[position]
        self._put(block, position, nodes.Store(variable, first, VOID, None, span=variable.span))
        self.entry.instructions.insert(0, variable)

    def _load(self, value: Value, variable: nodes.Var, blocks: Iterable[nodes.Block]) -> None:
        for block in blocks:
            self._put_before_users(block, value, nodes.Load(variable, value.type, None, span=value.span))

    def _put(self, block: nodes.Block, position: int, made: nodes.Instruction) -> None:
        block.instructions.insert(position, made)
        self._places[id(made)] = block

    def _put_before_users(self, block: nodes.Block, value: Value, made: nodes.Instruction) -> None:
        """Put an instruction before the users of a value in a block, which use it instead."""
        users = [it for it in users_of_block(block) if any(one is value for one in it.operands)]
        at = next((at for at, it in enumerate(block.instructions) if it is users[0]), len(block.instructions))
        self._put(block, at, made)
        for user in users:
            for index, operand in enumerate(user.operands):
                if operand is value:
                    user.set_operand(index, made)


def _operand(value: Value) -> Value:
    return copy_constant(value) if isinstance(value, nodes.Constant) else value


def _merge(node: nodes.If) -> nodes.Block:
    return _known(node.merge_target)


def _known(block: nodes.Block | None) -> nodes.Block:
    assert block is not None
    return block
