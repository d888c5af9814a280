"""Effects of a function or control-flow node that must be known before it is translated: barriers, writes, and exits.

Each function is summarised once. Written memory is identified by its root: a module-scope or function-scope variable,
or a pointer parameter of the function for which the effects are given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from ...base.records import dataclass, field
from ...ir.builtins import builtin
from ...ir.core import nodes as c
from ...ir.core.values import Value
from ...ir.types import AddressSpace, Pointer

Root = c.Var | c.FunctionParameter


@dataclass(slots=True)
class Effects:
    """`has_barrier`: the workgroup synchronises inside, at a barrier or for a subgroup operation.
    `exchanges`: it does so for a subgroup operation. `written`: roots that may be stored to. `targets`: blocks and
    terminators to which branches inside lead. `used`: module-scope variables.
    """

    has_barrier: bool = False
    exchanges: bool = False
    written: dict[Root, None] = field(default_factory=dict[Root, None])
    targets: dict[c.Block | c.Terminator, None] = field(default_factory=dict["c.Block | c.Terminator", None])
    used: dict[c.Var, None] = field(default_factory=dict[c.Var, None])


class EffectsAnalysis:
    """Computes effects of functions and control-flow nodes on demand and caches them; the module must not change."""

    def __init__(self) -> None:
        self._functions: dict[c.Function, Effects] = {}
        self._nodes: dict[c.Block | c.If | c.Loop | c.Switch, Effects] = {}

    def of_function(self, function: c.Function) -> Effects:
        """The effects of a call of the function, without those on its own variables."""
        if function not in self._functions:
            effects = self.of(function.start_target)
            roots = {root: None for root in effects.written if self._is_visible(root)}
            self._functions[function] = Effects(effects.has_barrier, effects.exchanges, roots, used=effects.used)
        return self._functions[function]

    def of(self, node: c.Block | c.If | c.Loop | c.Switch) -> Effects:
        """The effects of a control-flow node and all inside it; for a Block, of it and the rest of its sequence."""
        if node not in self._nodes:
            effects = Effects()
            for block in blocks_in(node):
                for instruction in block.instructions:
                    self._add_instruction(effects, instruction)
                target = block.branch.target if block.branch is not None else None
                if isinstance(target, (c.Block, c.Terminator)):
                    effects.targets[target] = None
            self._nodes[node] = effects
        return self._nodes[node]

    def _add_instruction(self, effects: Effects, instruction: c.Instruction) -> None:
        variables = (it for it in instruction.operands if isinstance(it, c.Var))
        effects.used.update({it: None for it in variables if self._is_of_module(it)})
        match instruction:
            case c.Store(pointer=pointer):
                effects.written[root_of(pointer)] = None
            case c.Var():
                effects.written[instruction] = None
            case c.BuiltinCall(function=name, arguments=arguments):
                info = builtin(name)
                if info is not None and info.flags.is_subgroup:
                    effects.exchanges = True
                if info is not None and (info.flags.is_barrier or info.flags.is_subgroup):
                    effects.has_barrier = True
                if name == "textureStore" or (info is not None and info.flags.is_atomic):
                    effects.written[root_of(arguments[0])] = None
            case c.Call(callee=callee, arguments=arguments):
                called = self.of_function(callee)
                effects.has_barrier |= called.has_barrier
                effects.exchanges |= called.exchanges
                effects.used.update(called.used)
                for root in called.written:
                    if isinstance(root, c.FunctionParameter):
                        root = root_of(arguments[callee.parameters.index(root)])
                    effects.written[root] = None
            case c.PureInstruction() | c.Load() | c.Override() | c.Discard():
                pass
            case _:
                assert_never(instruction)

    def _is_visible(self, root: Root) -> bool:
        return isinstance(root, c.FunctionParameter) or self._is_of_module(root)

    @staticmethod
    def _is_of_module(variable: c.Var) -> bool:
        return isinstance(variable.type, Pointer) and variable.type.space is not AddressSpace.FUNCTION


def root_of(pointer: Value) -> Root:
    """The variable or parameter from which a pointer or texture is derived."""
    while isinstance(pointer, (c.Access, c.Load)):
        pointer = pointer.object if isinstance(pointer, c.Access) else pointer.pointer
    assert isinstance(pointer, (c.Var, c.FunctionParameter))
    return pointer


def blocks_in(node: c.Block | c.If | c.Loop | c.Switch) -> Iterator[c.Block]:
    """All blocks inside a control-flow node, without those that follow it; for a Block, it and the blocks after it in
    its sequence.
    """
    pending: list[c.Block] = [node] if isinstance(node, c.Block) else list(inner_blocks(node))
    while pending:
        block = pending.pop()
        yield block
        target = block.branch.target if block.branch is not None else None
        if isinstance(target, (c.If, c.Loop, c.Switch)):
            pending.extend(inner_blocks(target))
            if target.merge_target is not None:
                pending.append(target.merge_target)


def inner_blocks(node: c.If | c.Loop | c.Switch) -> tuple[c.Block, ...]:
    """The first blocks of the node's inner sequences."""
    match node:
        case c.If(true_target=true_target, false_target=false_target):
            return (true_target, false_target)
        case c.Loop(start_target=start_target, continuing_target=continuing_target):
            return (start_target, continuing_target)
        case c.Switch(cases=cases):
            return tuple(case.target for case in cases)
        case _:
            assert_never(node)
