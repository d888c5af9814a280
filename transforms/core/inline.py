"""Puts the bodies of functions in the place of their calls.

A pointer argument becomes the access chain that it is; a parameter its argument. A function that returns from one
place is spliced in. Returns at the ends of Ifs become ends of their arms. Other early returns leave a Loop that runs
once; from an inner Loop or Switch they raise a flag, on which each outer one is left in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...ir.builtins import builtin
from ...ir.constants import zero_constant
from ...ir.core import nodes
from ...ir.core.builder import Builder, block_argument, bool_constant, empty_block, variable_type
from ...ir.core.names import NameScope
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.types import BOOL, VOID, AddressSpace, Pointer
from .copying import Copier
from .editing import any_of, calls_in, drop_uncalled, merge_access_chains, module_names, names_in
from .regions import blocks_from, last_block, nested, region, remove, split, take_over, unreachable_block
from .replacing import replace


@dataclass(frozen=True)
class Inline:
    """Inlines every call, or, with `only="pointers"`, those that pass a pointer.

    Functions that nothing calls any more are dropped. A diagnostic filter holds in the text of its function: a function
    that calls what filters are about is only inlined where the same filters hold.
    """

    only: str = "all"

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "inline"

    def run(self, module: nodes.Module) -> bool:
        """Whether a call was replaced."""
        changed = False
        module_scope = module_names(module)
        for function in module.functions:
            calls = [(block, call) for block, call in reversed(calls_in(function)) if self._fits(function, call)]
            names = names_in(module_scope, function) if calls else NameScope()
            for block, call in calls:
                _Inlining(module, names, call).put_into(block)
            if calls:
                merge_access_chains(function)
                changed = True
        if changed:
            drop_uncalled(module)
        return changed

    def _fits(self, caller: nodes.Function, call: nodes.Call) -> bool:
        if self.only == "pointers" and not any(isinstance(it.type, Pointer) for it in call.arguments):
            return False
        return list(caller.diagnostics) == list(call.callee.diagnostics) or not _is_filtered(call.callee)


def _is_filtered(function: nodes.Function) -> bool:
    """Whether it calls a builtin function about which a diagnostic filter may have something to say."""
    return any(
        isinstance(it, nodes.BuiltinCall) and _complains(it)
        for block in blocks_of(function)
        for it in block.instructions
    )


def _complains(call: nodes.BuiltinCall) -> bool:
    function = builtin(call.function)
    return function is None or function.flags.uniformity not in (None, "error")


class _Inlining:
    """The body of one callee in the place of one call."""

    def __init__(self, module: nodes.Module, names: NameScope, call: nodes.Call) -> None:
        self.call = call
        self.callee = call.callee
        self.builder = Builder(module)
        self.builder.span = call.span
        self.end = nodes.Terminator()
        self.copier = Copier(names)
        self.copier.map_end(self.callee.end_target, self.end)
        self.copier.values |= dict(zip(self.callee.parameters, call.arguments, strict=True))

    def put_into(self, block: nodes.Block) -> None:
        """Split the block at the call, and go through the body in between."""
        after = split(block, next(i for i, it in enumerate(block.instructions) if it is self.call))
        start = self.copier.region(self.callee.start_target)
        if self.callee.return_type is not VOID:
            result = block_argument(self.callee.return_type)
            after.arguments.append(result)
            replace(self.call, result)
        remove(after, [self.call])
        if not self._returns_inside(start):
            take_over(block, start)
            self._continue_with(after, block)
        elif self._ends_in_arms(start):
            self._sink(start, after)
            take_over(block, start)
        else:
            _LeavingLoop(self.builder, self.end, after).enter(block, start)

    def _continue_with(self, after: nodes.Block, block: nodes.Block) -> None:
        """The one return is the end of the region."""
        end = last_block(block)
        assert end.branch is not None
        take_over(end, after, end.branch.arguments)

    # Returns.

    def _is_return(self, block: nodes.Block) -> bool:
        return block.branch is not None and block.branch.target is self.end

    def _returns_within(self, block: nodes.Block) -> bool:
        return any(self._is_return(it) for inner in nested(block) for it in blocks_from(inner))

    def _returns_inside(self, start: nodes.Block) -> bool:
        """Whether there is a return other than at the end of the region."""
        return any(self._returns_within(block) for block in region(start)) or not self._is_return(last_block(start))

    def _ends_in_arms(self, start: nodes.Block) -> bool:
        """Whether all returns stand at the ends of arms that return always, or of the region."""
        for block in region(start):
            assert block.branch is not None
            if not self._returns_within(block):
                continue
            node = block.branch.target
            if not isinstance(node, nodes.If) or not all(
                map(self._ends_or_passes, (node.true_target, node.false_target))
            ):
                return False
            if node.merge_target is None:
                return all(map(self._ends_in_arms, (node.true_target, node.false_target)))
        return self._is_return(last_block(start))

    def _ends_or_passes(self, arm: nodes.Block) -> bool:
        has_return = any(map(self._is_return, blocks_from(arm)))
        return not has_return or self._ends_in_arms(arm)

    def _sink(self, start: nodes.Block, after: nodes.Block) -> None:
        """Let a region whose returns end arms end in branches to `after`, which becomes its last merge."""
        for block in region(start):
            if self._returns_within(block):
                assert block.branch is not None
                assert isinstance(block.branch.target, nodes.If)
                self._sink_if(block.branch.target, after)
                return

    def _sink_if(self, node: nodes.If, after: nodes.Block) -> None:
        """What follows the If belongs to the arm that does not return."""
        rest, node.merge_target = node.merge_target, after
        for arm in (node.true_target, node.false_target):
            end = last_block(arm)
            assert end.branch is not None
            if rest is not None and end.branch.target is rest:
                take_over(end, rest, end.branch.arguments)
        for arm in (node.true_target, node.false_target):
            self._sink_arm(arm, after)

    def _sink_arm(self, arm: nodes.Block, after: nodes.Block) -> None:
        if not any(map(self._is_return, blocks_from(arm))):
            return
        end = last_block(arm)
        assert end.branch is not None
        if not self._is_return(end) or any(map(self._returns_within, region(arm))):
            merge = empty_block(block_argument(it.type) for it in after.arguments)
            self._sink(arm, merge)
            merge.branch = nodes.Branch(after, merge.arguments, span=self.call.span)
        else:
            end.branch.target = after


class _LeavingLoop:
    """A Loop that runs once, and that returns leave."""

    def __init__(self, builder: Builder, end: nodes.Terminator, after: nodes.Block) -> None:
        self.builder = builder
        self.end = end
        self.after = after
        self.flag: nodes.Var | None = None
        self.result: nodes.Var | None = None

    def enter(self, block: nodes.Block, start: nodes.Block) -> None:
        """Go from `block` through the Loop to `after`."""
        self._lower(start, None)
        with self.builder.at(block):
            for variable in (self.flag, self.result):
                if variable is not None:
                    self.builder.append(variable)
            loop = nodes.Loop(start, unreachable_block(), self.after, span=self.builder.span)
            self.builder.branch(loop)

    def _lower(self, start: nodes.Block, exit: nodes.Block | None) -> bool:
        """Replace the returns in a region; `exit` leaves the Loop or Switch in the callee around it."""
        found = False
        for block in region(start):
            assert block.branch is not None
            match block.branch.target:
                case nodes.Loop() as node:
                    if self._lower(node.start_target, node.merge_target):
                        found = True
                        self._go_on(node.merge_target, exit)
                case nodes.Switch() as node:
                    found |= self._lower_switch(node, exit)
                case nodes.If():
                    found |= any_of(self._lower(arm, exit) for arm in nested(block))
                case nodes.Terminator() as end if end is self.end:
                    found = True
                    self._leave(block, exit)
                case _:
                    pass
        return found

    def _lower_switch(self, node: nodes.Switch, exit: nodes.Block | None) -> bool:
        merge = unreachable_block() if node.merge_target is None else node.merge_target
        if not any_of(self._lower(case.target, merge) for case in node.cases):
            return False
        node.merge_target = merge
        self._go_on(merge, exit)
        return True

    def _leave(self, block: nodes.Block, exit: nodes.Block | None) -> None:
        """Turn the return at the end of a block into a way out."""
        assert block.branch is not None
        if exit is None:
            block.branch.target = self.after
            return
        value = block.branch.arguments
        block.branch.drop_operands()
        block.branch = None
        with self.builder.at(block):
            if value:
                self.builder.store(self._result(value[0]), value[0])
            self.builder.store(self._flag(), bool_constant(True))
            self.builder.branch(exit, _zeros(exit))

    def _go_on(self, merge: nodes.Block, exit: nodes.Block | None) -> None:
        """After an inner Loop or Switch: leave the one around it too, if the flag is up."""
        assert merge.branch is not None
        is_left_only_by_returns = isinstance(merge.branch.target, nodes.Terminator) and merge.branch.target.unreachable
        rest = split(merge, 0)
        with self.builder.at(merge):
            if is_left_only_by_returns:
                self._pass_on(exit)
                return
            node = self.builder.enter_if(self.builder.load(self._flag()))
            node.merge_target = rest
            with self.builder.at(node.true_target):
                self._pass_on(exit)
            with self.builder.at(node.false_target):
                self.builder.branch(rest)

    def _pass_on(self, exit: nodes.Block | None) -> None:
        if exit is not None:
            self.builder.branch(exit, _zeros(exit))
        elif self.result is not None:
            self.builder.branch(self.after, [self.builder.load(self.result)])
        else:
            self.builder.branch(self.after)

    def _flag(self) -> nodes.Var:
        if self.flag is None:
            self.flag = nodes.Var(None, variable_type(AddressSpace.FUNCTION, BOOL), None, span=self.builder.span)
        return self.flag

    def _result(self, value: Value) -> nodes.Var:
        if self.result is None:
            type = variable_type(AddressSpace.FUNCTION, value.type)
            self.result = nodes.Var(None, type, None, span=self.builder.span)
        return self.result


def _zeros(block: nodes.Block) -> Sequence[nodes.Constant]:
    """Arguments that nobody will read."""
    return [nodes.Constant(zero_constant(it.type), it.type, None) for it in block.arguments]
