"""Promotes local variables to values; at merges of control flow their values become block arguments.

A variable is promoted if it is only loaded and stored, as a whole or by constant indices, and if its type has a name:
WGSL could not declare a variable for a block argument otherwise. Structured control flow shows where values merge:
at the merge of an If or Switch that stores, at the start, continuing part and merge of a Loop that does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

from ...ir.constants import zero_constant
from ...ir.core import nodes
from ...ir.core.builder import Builder, u32
from ...ir.core.names import NameScope
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.types import (
    AddressSpace,
    Matrix,
    Pointer,
    Scalar,
    Type,
    Vector,
    element_count,
    element_type,
    has_no_name,
    is_constructible,
)
from .editing import any_of, module_names, names_in
from .purity import root_of
from .regions import blocks_from, branches_to, destination, is_unreachable, last_block, nested, region
from .replacing import replace

_MOST_PARTS = 4
"""Maximum number of parts: storing one part rebuilds the value from all parts."""


@dataclass(frozen=True)
class MemoryToRegisters:
    """Promotes function-scope variables to values and block arguments, which keep the variable's name."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "mem2reg"

    def run(self, module: nodes.Module) -> bool:
        """Whether a variable was promoted."""
        names = module_names(module)
        return any_of(_promote(module, names, function) for function in module.functions)


def _promote(module: nodes.Module, module_scope: NameScope, function: nodes.Function) -> bool:
    instructions = [it for block in blocks_of(function) for it in block.instructions]
    variables = [it for it in instructions if isinstance(it, nodes.Var) and _is_promotable(it)]
    if not variables:
        return False
    _Promotion(module, _names_without(module_scope, function, variables), variables).run(function)
    return True


def _is_promotable(variable: nodes.Var) -> bool:
    assert isinstance(variable.type, Pointer)
    store = variable.type.store
    if variable.type.space is not AddressSpace.FUNCTION or not is_constructible(store) or has_no_name(store):
        return False
    if all(_is_whole(use.user, use.index) for use in variable.uses):
        return isinstance(store, (Scalar, Vector, Matrix)) or _is_small(store)
    return _is_small(store) and all(
        _is_whole(use.user, use.index) or _is_part(use.user, use.index, store) for use in variable.uses
    )


def _is_whole(user: object, index: int) -> bool:
    return isinstance(user, nodes.Load) or (isinstance(user, nodes.Store) and index == 0)


def _is_part(user: object, index: int, whole: Type) -> bool:
    """A pointer to a part by constant indices in range, only loaded and stored."""
    if not isinstance(user, nodes.Access) or index != 0 or not all(_is_whole(it.user, it.index) for it in user.uses):
        return False
    type: Type | None = whole
    for position in user.indices:
        number = _number(position)
        count = None if type is None else element_count(type)
        if type is None or number is None or (isinstance(count, int) and not 0 <= number < count):
            return False
        type = element_type(type, number)
    return True


def _is_small(type: Type) -> bool:
    parts = _parts(type)
    return len(parts) <= _MOST_PARTS and all(map(_is_small, parts))


def _parts(type: Type) -> Sequence[Type]:
    if isinstance(type, Scalar):
        return ()
    count = element_count(type)
    if not isinstance(count, int):
        return (type,) * (_MOST_PARTS + 1)
    if count > _MOST_PARTS:
        return (type,) * count
    found = (element_type(type, index) for index in range(count))
    return [part for part in found if part is not None]


def _number(value: Value) -> int | None:
    raw = value.value.value if isinstance(value, nodes.Constant) else None
    return raw if isinstance(raw, int) else None


class _Promotion:
    """Walks a function with what each variable holds: `current`."""

    def __init__(self, module: nodes.Module, names: NameScope, variables: Sequence[nodes.Var]) -> None:
        self.builder = Builder(module)
        self.variables = dict.fromkeys(variables)
        self.names = names
        self.current: dict[nodes.Var, Value] = {}
        self.passed: dict[int, list[nodes.Var]] = {}
        self.stored: dict[int, dict[nodes.Var, None]] = {}

    def run(self, function: nodes.Function) -> None:
        """Promote the variables, which are the function's."""
        self._region(function.start_target)

    def _region(self, start: nodes.Block) -> None:
        for block in region(start):
            self._block(block)
            assert block.branch is not None
            self._pass(block.branch)
            match block.branch.target:
                case nodes.If(merge_target=merge) | nodes.Switch(merge_target=merge):
                    self._choice(block, merge)
                case nodes.Loop() as node:
                    self._loop(block.branch, node)
                case nodes.Block() | nodes.Terminator():
                    pass
                case _:
                    assert_never(block.branch.target)

    # Straight code.

    def _block(self, block: nodes.Block) -> None:
        before, branch = block.instructions, block.branch
        block.instructions, block.branch = [], None
        with self.builder.at(block):
            for instruction in before:
                if not self._instruction(instruction):
                    block.instructions.append(instruction)
        block.branch = branch

    def _instruction(self, instruction: nodes.Instruction) -> bool:
        """Whether the instruction accessed a promoted variable and was removed."""
        self.builder.span = instruction.span
        match instruction:
            case nodes.Var(initializer=initializer) if instruction in self.variables:
                self.current[instruction] = _zero(instruction) if initializer is None else initializer
            case nodes.Access(object=nodes.Var() as variable) if variable in self.variables:
                if not instruction.uses:
                    instruction.drop_operands()
                return True  # else its operands are given up with its last use
            case nodes.Load(pointer=pointer) if self._variable(pointer) is not None:
                replace(instruction, self._loaded(pointer))
            case nodes.Store(pointer=pointer, value=value) if (target := self._variable(pointer)) is not None:
                self.current[target] = self._with(self.current[target], _indices(pointer), value)
            case nodes.PureInstruction() | nodes.ReadingInstruction() | nodes.WritingInstruction():
                return False
            case nodes.BuiltinCall() | nodes.Var() | nodes.Override() | nodes.Discard():
                return False
            case _:
                assert_never(instruction)
        pointers = [it for it in instruction.operands if isinstance(it, nodes.Access)]
        instruction.drop_operands()
        for pointer in pointers:
            if not pointer.uses and isinstance(pointer.type, Pointer):
                pointer.drop_operands()
        return True

    def _variable(self, pointer: Value) -> nodes.Var | None:
        root = root_of(pointer)
        return root if isinstance(root, nodes.Var) and root in self.variables else None

    def _loaded(self, pointer: Value) -> Value:
        variable = self._variable(pointer)
        assert variable is not None
        indices = _indices(pointer)
        value = self.current[variable]
        return self.builder.access(value, list(map(u32, indices))) if indices else value

    def _with(self, whole: Value, indices: Sequence[int], part: Value) -> Value:
        """The value with one part replaced."""
        if not indices:
            return part
        count = element_count(whole.type)
        assert isinstance(count, int)
        parts: list[Value] = [self.builder.access(whole, [u32(index)]) for index in range(count)]
        parts[indices[0]] = self._with(parts[indices[0]], indices[1:], part)
        return self.builder.construct(whole.type, parts)

    # Where control goes and meets.

    def _pass(self, branch: nodes.Branch) -> None:
        target = destination(branch)
        if target is not None and not isinstance(branch.target, nodes.Loop):
            self._give(branch, self.passed.get(id(target), []))

    def _give(self, branch: nodes.Branch, variables: Sequence[nodes.Var]) -> None:
        branch.arguments = (*branch.arguments, *(self.current[variable] for variable in variables))

    def _take(self, block: nodes.Block, variables: Sequence[nodes.Var]) -> dict[nodes.Var, Value]:
        """Add arguments to a block for the values of variables."""
        taken: dict[nodes.Var, Value] = {}
        for variable in variables:
            assert isinstance(variable.type, Pointer)
            name = None if variable.name is None else self.names.unique(variable.name)
            taken[variable] = argument = nodes.BlockArgument(variable.type.store, name, span=variable.span)
            block.arguments.append(argument)
        self.passed[id(block)] = list(variables)
        return taken

    def _choice(self, block: nodes.Block, merge: nodes.Block | None) -> None:
        inner = nested(block)
        stored = dict.fromkeys(variable for start in inner for variable in self._stored_in(start))
        before = self._held(stored)
        taken = {} if merge is None else self._take(merge, list(before))
        for start in inner:
            self.current |= before
            self._region(start)
        self.current |= before | taken

    def _loop(self, entering: nodes.Branch, node: nodes.Loop) -> None:
        in_body, in_continuing = self._stored_in(node.start_target), self._stored_in(node.continuing_target)
        before = self._held({**in_body, **in_continuing})
        carried = list(before)
        self._give(entering, carried)
        start = self._take(node.start_target, carried)
        merged = {} if is_unreachable(node.merge_target) else self._take(node.merge_target, carried)
        continued = [it for it in in_body if it in before] + self._used_after_body(node)
        at_continuing = self._take(node.continuing_target, continued) if _is_a_meeting(node) else {}
        self.current |= start
        self._region(node.start_target)
        at_end = {variable: self.current[variable] for variable in continued if variable in self.current}
        self.current |= before | start | (at_continuing or at_end)
        self._region(node.continuing_target)
        self.current |= before | merged

    def _held(self, variables: Iterable[nodes.Var]) -> dict[nodes.Var, Value]:
        """What those of the variables hold that are declared already: all that a region can change for what follows."""
        return {it: self.current[it] for it in variables if it in self.current}

    def _used_after_body(self, node: nodes.Loop) -> list[nodes.Var]:
        """The body's own variables, not met yet, that the continuing part uses."""
        used = [
            variable
            for block in blocks_from(node.continuing_target)
            for instruction in block.instructions
            for operand in instruction.operands
            if (variable := self._variable(operand)) is not None
        ]
        own = {it for block in blocks_from(node.continuing_target) for it in block.instructions}
        return list(dict.fromkeys(it for it in used if it not in self.current and it not in own))

    def _stored_in(self, start: nodes.Block) -> dict[nodes.Var, None]:
        """The variables that a region stores to."""
        if id(start) not in self.stored:
            found: dict[nodes.Var, None] = {}
            for block in region(start):
                for instruction in block.instructions:
                    variable = self._variable(instruction.pointer) if isinstance(instruction, nodes.Store) else None
                    if variable is not None:
                        found[variable] = None
                for inner in nested(block):
                    found |= self._stored_in(inner)
            self.stored[id(start)] = found
        return self.stored[id(start)]


def _is_a_meeting(node: nodes.Loop) -> bool:
    """Whether the continuing part is reached otherwise than from the end of the body, all of whose values it sees."""
    branches = branches_to(blocks_from(node.start_target), node.continuing_target)
    return bool(branches) and branches != [last_block(node.start_target).branch]


def _indices(pointer: Value) -> Sequence[int]:
    if not isinstance(pointer, nodes.Access):
        return ()
    return [number for number in map(_number, pointer.indices) if number is not None]


def _zero(variable: nodes.Var) -> nodes.Constant:
    assert isinstance(variable.type, Pointer)
    return nodes.Constant(zero_constant(variable.type.store), variable.type.store, None)


def _names_without(module_scope: NameScope, function: nodes.Function, variables: Sequence[nodes.Var]) -> NameScope:
    """The names taken, but not by the variables."""
    kept = [variable.name for variable in variables]
    for variable in variables:
        variable.name = None
    names = names_in(module_scope, function)
    for variable, name in zip(variables, kept, strict=True):
        variable.name = name
    return names
