"""Variables for the values that SSA form passes from block to block: which share one, and where it is declared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...ir.core import nodes
from ...ir.core.coalescing import webs
from ...ir.core.values import Value
from ...ir.types import BOOL, is_constructible
from .analysis import Analysis


@dataclass(slots=True, eq=False)
class Variable:
    """A variable for values, in the order of the text, that are never live at the same time."""

    members: Sequence[Value]
    is_declared: bool = False

    @property
    def is_shared(self) -> bool:
        """Whether several values share the variable, so that an assignment may change it while its old value waits."""
        return len(self.members) > 1


class Variables:
    """The variables of one function."""

    def __init__(self, function: nodes.Function, analysis: Analysis) -> None:
        self._analysis = analysis
        self._logical = frozenset(_logical(analysis.blocks))
        found = [Variable(members) for members in webs(function, self._may_share)]
        self._of = {value: variable for variable in found if _is_needed(variable) for value in variable.members}
        self._early: dict[nodes.Branch, list[Variable]] = {}
        for variable in found:
            if variable.is_shared:
                self._place(variable)

    def of(self, value: Value) -> Variable | None:
        """The variable that holds a value; a block argument that has none yet gets one of its own."""
        if value not in self._of and isinstance(value, nodes.BlockArgument):
            self._of[value] = Variable([value])
        return self._of.get(value)

    def is_shared(self, value: Value) -> bool:
        """Whether a value is in a variable that it shares with other values."""
        variable = self._of.get(value)
        return variable is not None and variable.is_shared

    def early(self, branch: nodes.Branch) -> Sequence[Variable]:
        """The variables to be declared in front of the If, Loop or Switch that a branch enters, for use in it."""
        return self._early.get(branch, ())

    def is_local_to(self, variable: Variable, loop: nodes.Loop) -> bool:
        """Whether the values of the variable are defined and used only in the loop."""
        own = {*loop.start_target.arguments, *loop.continuing_target.arguments}
        return all(
            self._analysis.is_local_to(it, loop) and (it in own or self._analysis.is_inside(self._site(it), loop))
            for it in variable.members
        )

    def _may_share(self, value: Value) -> bool:
        """Whether a value can share a variable. A named instruction, which is a `let` of the source, cannot."""
        if not self._analysis.is_live(value) or value in self._logical:
            return False
        if isinstance(value, nodes.BlockArgument):
            return True
        return isinstance(value, nodes.Instruction) and value.name is None and is_constructible(value.type)

    def _site(self, value: Value) -> nodes.Block:
        """The block of an instruction; for a block argument, the one at whose end its variable can be declared."""
        return self._analysis.entering_block_of(value)

    def _place(self, variable: Variable) -> None:
        """Find where to declare a shared variable if the site of its first value does not enclose the other sites."""
        sites = sorted({self._analysis.order_of(it): it for it in map(self._site, variable.members)}.items())
        first, *others = (site for _, site in sites)
        chain = {self._analysis.region_of_block(it): it for it in self._analysis.enclosing_blocks(first)}
        for site in others:
            seen = {self._analysis.region_of_block(it) for it in self._analysis.enclosing_blocks(site)}
            chain = {region: block for region, block in chain.items() if region in seen}
        home = next(iter(chain.values()))
        if home is not first:
            assert home.branch is not None
            self._early.setdefault(home.branch, []).append(variable)


def _is_needed(variable: Variable) -> bool:
    """Whether it must be a variable: it does not hold a single instruction only."""
    return variable.is_shared or isinstance(variable.members[0], nodes.BlockArgument)


def _logical(blocks: Iterable[nodes.Block]) -> Iterable[Value]:
    """The results of Ifs that may be written as `&&` or `||`."""
    for block in blocks:
        match None if block.branch is None else block.branch.target:
            case nodes.If(merge_target=nodes.Block(arguments=[result]) as merge) as node if result.type is BOOL:
                if any(_only_yields_constant(arm, merge) for arm in (node.true_target, node.false_target)):
                    yield result
            case _:
                pass


def _only_yields_constant(arm: nodes.Block, merge: nodes.Block) -> bool:
    branch = arm.branch
    if branch is None or branch.target is not merge or arm.instructions:
        return False
    return isinstance(branch.arguments[0], nodes.Constant)
