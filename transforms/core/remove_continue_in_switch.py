"""Takes `continue` out of Switches, which some compilers of shaders get wrong.

In a Switch it becomes a flag and a `break`; after the Switch, the flag goes on in the loop.

For engines that hand control flow on to such a compiler, as those for HLSL do. The pipeline `portable` runs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...ir.constants import zero_constant
from ...ir.core import nodes
from ...ir.core.builder import Builder, bool_constant, empty_block, variable_type
from ...ir.core.names import NameScope
from ...ir.types import BOOL, AddressSpace
from .editing import any_of, module_names, names_in
from .regions import nested, region, split


@dataclass(frozen=True)
class RemoveContinueInSwitch:
    """Rewrites the Switches that go on in a loop around them."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "remove_continue_in_switch"

    def run(self, module: nodes.Module) -> bool:
        """Whether there was such a Switch."""
        names = module_names(module)
        return any_of(
            _Removal(module, names_in(names, function)).region(function.start_target, None)
            for function in module.functions
        )


class _Removal:
    def __init__(self, module: nodes.Module, names: NameScope) -> None:
        self.builder = Builder(module)
        self.names = names

    def region(self, start: nodes.Block, continuing: nodes.Block | None) -> bool:
        """Rewrite the Switches in a region, the inner ones first."""
        changed = False
        for block in region(start):
            assert block.branch is not None
            node = block.branch.target
            if isinstance(node, nodes.Loop):
                changed |= self.region(node.start_target, node.continuing_target)
                changed |= self.region(node.continuing_target, None)
                continue
            changed |= any_of(self.region(inner, continuing) for inner in nested(block))
            if isinstance(node, nodes.Switch) and continuing is not None:
                changed |= self._switch(block, node, continuing)
        return changed

    def _switch(self, block: nodes.Block, node: nodes.Switch, continuing: nodes.Block) -> bool:
        ends = [it for case in node.cases for it in _ends(case.target, continuing)]
        if not ends:
            return False
        self.builder.span = node.span
        type = variable_type(AddressSpace.FUNCTION, BOOL)
        flag = nodes.Var(None, type, self.names.unique("goes_on"), span=node.span)
        passed = [
            nodes.Var(None, variable_type(AddressSpace.FUNCTION, it.type), None, span=node.span)
            for it in continuing.arguments
        ]
        block.instructions += [flag, *passed]
        had_merge = node.merge_target is not None
        merge = node.merge_target or empty_block()
        node.merge_target = merge
        for end in ends:
            self._leave(end, merge, flag, passed)
        self._go_on(merge, continuing, flag if had_merge else None, passed)
        return True

    def _leave(self, end: nodes.Block, merge: nodes.Block, flag: nodes.Var, passed: Sequence[nodes.Var]) -> None:
        assert end.branch is not None
        values = end.branch.arguments
        end.branch.drop_operands()
        end.branch = None
        with self.builder.at(end):
            for variable, value in zip(passed, values, strict=True):
                self.builder.store(variable, value)
            self.builder.store(flag, bool_constant(True))
            zeros = [nodes.Constant(zero_constant(it.type), it.type, None) for it in merge.arguments]
            self.builder.branch(merge, zeros)

    def _go_on(
        self, merge: nodes.Block, continuing: nodes.Block, flag: nodes.Var | None, passed: Sequence[nodes.Var]
    ) -> None:
        """After the Switch: go on in the loop, always or if the flag is up."""
        if flag is None:
            with self.builder.at(merge):
                self.builder.branch(continuing, [self.builder.load(it) for it in passed])
            return
        rest = split(merge, 0)
        with self.builder.at(merge):
            node = self.builder.enter_if(self.builder.load(flag))
            node.merge_target = rest
            with self.builder.at(node.true_target):
                self.builder.branch(continuing, [self.builder.load(it) for it in passed])
            with self.builder.at(node.false_target):
                self.builder.branch(rest)


def _ends(start: nodes.Block, continuing: nodes.Block) -> Sequence[nodes.Block]:
    """The blocks in a region that go on in the loop."""
    found: list[nodes.Block] = []
    for block in region(start):
        if block.branch is not None and block.branch.target is continuing:
            found.append(block)
        for inner in nested(block):
            found += _ends(inner, continuing)
    return found
