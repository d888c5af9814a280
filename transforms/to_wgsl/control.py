"""Control flow as statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from ...ir.constants import zero_constant
from ...ir.core import nodes
from ...ir.core.effects import has_effects
from ...ir.core.structure import is_scope
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.types import BOOL, VOID
from ...ir.wgsl import ast
from . import shapes, syntax
from .analysis import Analysis
from .expressions import Expressions, ShortCircuit
from .names import FunctionNames
from .ordering import Effect, Tree
from .regions import InstructionWriter, NotAnExpressionError
from .variables import Variable, Variables


@dataclass(frozen=True, slots=True)
class _Breakable:
    """A Loop or Switch whose body is being written."""

    merge: nodes.Block | None
    continuing: nodes.Block | None = None


class FunctionWriter(InstructionWriter):
    """Writes the body of a function."""

    def __init__(
        self, analysis: Analysis, variables: Variables, expressions: Expressions, names: FunctionNames
    ) -> None:
        super().__init__(analysis, variables, expressions, names)
        self.breakables: tuple[_Breakable, ...] = ()
        self._statement_arms: set[int] = set()

    def body(self, function: nodes.Function) -> list[ast.Statement]:
        """All statements of a function, without a `return;` at the end.

        If an arm or the body ends in a loop, a `return` of a zero value is added after it, even if it is unreachable:
        naga does not recognise that a loop without `break` never ends, and reports a missing value.
        """
        statements = self.region(function.start_target, None)
        if statements and isinstance(statements[-1], ast.Return) and statements[-1].value is None:
            statements.pop()
        if function.return_type is not VOID and not shapes.ends_in_return(statements):
            zero = self.expressions.literal(zero_constant(function.return_type))
            statements.append(ast.Return(zero, syntax.NOWHERE))
        return statements

    def region(self, start: nodes.Block, follow: nodes.Block | None) -> list[ast.Statement]:
        """The statements of a region, after which control continues at `follow` without a jump."""
        with self.nested() as frame:
            self._run(start, follow)
            return frame.statements

    def _run(self, start: nodes.Block, follow: nodes.Block | None) -> None:
        block: nodes.Block | None = start
        while block is not None:
            for instruction in block.instructions:
                self.instruction(instruction)
            assert block.branch is not None
            block = self._branch(block.branch, follow)

    def _branch(self, branch: nodes.Branch, follow: nodes.Block | None) -> nodes.Block | None:
        """Write the end of a block; returns the merge block that follows, if there is one."""
        for variable in self.shared.early(branch):
            if not variable.is_declared:
                self.declare(variable, None)
        match branch.target:
            case nodes.If() as node:
                self._if(node, follow)
                return node.merge_target
            case nodes.Loop() as node:
                self._loop(node, branch)
                return node.merge_target
            case nodes.Switch() as node:
                self._switch(node)
                return node.merge_target
            case nodes.Terminator(unreachable=is_unreachable):
                if not is_unreachable:
                    self._return(branch)
            case nodes.Block() as target:
                self._pass(branch, target)
                self._jump(target, follow)
            case _:
                assert_never(branch.target)
        return None

    def _return(self, branch: nodes.Branch) -> None:
        self.gather(branch.arguments, Effect.WRITE, is_statement=True)
        value = self.expressions.of(branch.arguments[0]) if branch.arguments else None
        self.write(ast.Return(value, syntax.NOWHERE))

    def _jump(self, target: nodes.Block, follow: nodes.Block | None) -> None:
        if target is follow:
            return
        if self.breakables and target is self.breakables[-1].merge:
            self.write(ast.Break(syntax.NOWHERE))
        else:
            assert any(target is it.continuing for it in self.breakables), "a block branches out of its region"
            self.write(ast.Continue(syntax.NOWHERE))

    # Values that branches pass to blocks are in variables.

    def _pass(self, branch: nodes.Branch, target: nodes.Block) -> None:
        """Assign the values that a branch passes to the variables of its target's arguments, as a parallel copy."""
        pairs = [
            (variable, value)
            for parameter, value in zip(target.arguments, branch.arguments, strict=True)
            if self.analysis.is_live(parameter)
            and (variable := self.shared.of(parameter)) is not None
            and self.shared.of(value) is not variable
        ]
        self.gather([value for _, value in pairs], Effect.WRITE, is_statement=True)
        values = [self.expressions.of(value) for _, value in pairs]
        order = sorted(range(len(pairs)), key=lambda index: pairs[index][0].is_declared)
        self._assign_all([(*pairs[index], values[index]) for index in order])

    def _assign_all(self, assigned: list[tuple[Variable, Value, ast.Expression]]) -> None:
        """Assign values to variables as a parallel copy. Variables that are not declared yet must come first."""
        for index, (variable, value, text) in enumerate(assigned):
            name = self.expressions.bound.get(variable.members[0])
            rest = assigned[index + 1 :]
            if name is not None and any(shapes.mentions(later, {name}) for _, _, later in rest):
                assigned[index + 1 :] = [(target, it, self._kept(later)) for target, it, later in rest]
            self.assign(variable, text, value.type)

    def _kept(self, value: ast.Expression) -> ast.Expression:
        return value if shapes.is_literal(value) else syntax.identifier(self.keep(value))

    def _declare(self, argument: nodes.BlockArgument, initializer: ast.Expression | None) -> None:
        variable = self._undeclared(argument)
        if variable is not None:
            self.declare(variable, initializer)

    def _undeclared(self, argument: nodes.BlockArgument) -> Variable | None:
        """The variable of an argument, if the argument is live and the variable is not declared yet."""
        variable = self.shared.of(argument) if self.analysis.is_live(argument) else None
        return None if variable is None or variable.is_declared else variable

    # If.

    def _if(self, node: nodes.If, follow: nodes.Block | None) -> None:
        """Write an If. Without a merge, control continues from its arms as from the region."""
        if self.analysis.is_idle(node):
            return
        merge = node.merge_target
        follow = merge or follow
        if is_scope(node):
            self._scope(node, follow)
            return
        if merge is not None and len(merge.arguments) == 1 and self._short_circuit(node, merge.arguments[0]):
            return
        if self.frame.is_expression:
            raise NotAnExpressionError
        self.gather([node.condition], Effect.WRITE, is_statement=True)
        condition = self.expressions.of(node.condition)
        skips = merge is not None and self._declare_yields(node, merge)
        then = self.region(node.true_target, follow)
        otherwise = [] if skips else self.region(node.false_target, follow)
        if then or otherwise:
            self.write(shapes.if_(condition, then, otherwise))
        else:
            self._effects(node.condition)

    def _effects(self, value: Value) -> None:
        """Write the calls with effects in an expression whose value is not used."""
        short = self.expressions.short_circuits.get(value)
        if value in self.expressions.bound or self.analysis.constants.of(value) is not None:
            return
        if isinstance(value, nodes.Instruction) and has_effects(value):
            self.write(self.call_statement(value))
        elif short is None:
            for operand in value.operands:
                self._effects(operand)
        else:
            with self.nested() as frame:
                self._effects(short.rhs)
            condition = self.expressions.of(short.lhs)
            condition = condition if short.op is BinaryOp.LOGICAL_AND else shapes.negated(condition)
            if frame.statements:
                self.write(shapes.if_(condition, frame.statements, ()))
            else:
                self._effects(short.lhs)

    def _scope(self, node: nodes.If, follow: nodes.Block | None) -> None:
        """Write a block with the diagnostic filters that apply in it."""
        self.gather((), Effect.WRITE, is_statement=True)
        for argument in () if node.merge_target is None else node.merge_target.arguments:
            self._declare(argument, None)
        statements = self.region(node.true_target, follow)
        if statements:
            self.write(shapes.attributed(syntax.filters(node.true_target.diagnostics), statements))

    def _declare_yields(self, node: nodes.If, merge: nodes.Block) -> bool:
        """Declare variables for the values that the arms yield. If the false arm only yields constants, these are the
        initial values, the arm need not be written, and the result is True.
        """
        branch = node.false_target.branch
        live = [self.analysis.is_live(argument) for argument in merge.arguments]
        is_new = [self._undeclared(argument) is not None for argument in merge.arguments]
        if not any(live) or is_new != live or branch is None:
            for argument in merge.arguments:
                self._declare(argument, None)
            return False
        values = [self.analysis.constants.of(value) for value in branch.arguments]
        is_plain = (
            branch.target is merge
            and not any(self.analysis.is_live(it) for it in node.false_target.instructions)
            and all(value is not None for value, is_live in zip(values, live, strict=True) if is_live)
        )
        for argument, value in zip(merge.arguments, branch.arguments, strict=True) if is_plain else ():
            self._declare(argument, self.expressions.of(value) if self.analysis.is_live(argument) else None)
        for argument in () if is_plain else merge.arguments:
            self._declare(argument, None)
        return is_plain

    def _short_circuit(self, node: nodes.If, result: nodes.BlockArgument) -> bool:
        """Write the If as `&&` or `||` if possible; returns whether it was."""
        if result.type is not BOOL:
            return False
        if self.analysis.constants.of(result) is not None:
            return True
        for op, decided, open_ in (
            (BinaryOp.LOGICAL_AND, node.false_target, node.true_target),
            (BinaryOp.LOGICAL_OR, node.true_target, node.false_target),
        ):
            if self._decides(decided, node.merge_target, op is BinaryOp.LOGICAL_OR):
                arm = self._arm_expression(open_, node.merge_target)
                if arm is not None:
                    self._join(node, result, ShortCircuit(op, node.condition, arm[0]), arm[1])
                    return True
        return False

    def _decides(self, arm: nodes.Block, merge: nodes.Block | None, outcome: bool) -> bool:
        """Whether an arm has no instructions and yields the constant `outcome`."""
        if arm.branch is None or arm.branch.target is not merge or arm.instructions:
            return False
        constant = self.analysis.constants.of(arm.branch.arguments[0])
        return constant is not None and constant.value is outcome

    def _arm_expression(self, arm: nodes.Block, merge: nodes.Block | None) -> tuple[Value, Tree] | None:
        """The value that an arm yields and its tree, if the arm can be one expression. Records arms that cannot."""
        if id(arm) in self._statement_arms:
            return None
        try:
            with self.nested(is_expression=True) as frame:
                value = self._yielded(arm, merge)
                return value, frame.waiting.take([value], self.with_reads([value], Effect.NONE))
        except NotAnExpressionError:
            self._statement_arms.add(id(arm))
            return None

    def _yielded(self, arm: nodes.Block, merge: nodes.Block | None) -> Value:
        """Write an arm in an expression; returns the value that it yields. May raise NotAnExpressionError."""
        block = arm
        while True:
            for instruction in block.instructions:
                self.instruction(instruction)
            branch = block.branch
            if branch is not None and branch.target is merge:
                return branch.arguments[0]
            if branch is None or not isinstance(branch.target, nodes.If) or branch.target.merge_target is None:
                raise NotAnExpressionError
            self._if(branch.target, None)
            block = branch.target.merge_target

    def _join(self, node: nodes.If, result: nodes.BlockArgument, short: ShortCircuit, arm: Tree) -> None:
        self.expressions.short_circuits[result] = short
        waits = self._waits(result) and not self.is_too_deep(result)
        tree = self.gather([node.condition], arm.effect, is_statement=not waits)
        if waits:
            self.frame.waiting.add(result, tree)
        else:
            self.settle(result)

    # Loop.

    def _loop(self, node: nodes.Loop, branch: nodes.Branch) -> None:
        self._pass(branch, node.start_target)
        for argument in (*node.merge_target.arguments, *node.continuing_target.arguments):
            self._declare(argument, None)
        outer = self.breakables
        self.breakables = (*outer, _Breakable(node.merge_target, node.continuing_target))
        body = self.region(node.start_target, node.continuing_target)
        self.breakables = outer
        continuing, break_if = self._continuing(node)
        filters = syntax.filters(node.continuing_target.diagnostics) if continuing or break_if is not None else ()
        end = ast.Block(filters, tuple(continuing), syntax.NOWHERE)
        statement, taken = shapes.loop(body, end, break_if, self._initializers(node))
        self.frame.statements[:] = [it for it in self.frame.statements if it is not taken]
        self.write(statement)

    def _initializers(self, node: nodes.Loop) -> list[ast.Var]:
        """The declarations just before the loop that can move into its head, since only the loop uses the variables.
        One that is not the last statement must have a literal as its initial value.
        """
        found: list[ast.Var] = []
        for statement in reversed(self.frame.statements):
            if not isinstance(statement, (ast.Var, ast.Let)):
                break
            is_next = statement is self.frame.statements[-1]
            if isinstance(statement, ast.Var) and (is_next or shapes.is_literal(statement.initializer)):
                found.append(statement)
        return [it for it in found if self._is_only_for(node, it)]

    def _is_only_for(self, node: nodes.Loop, declared: ast.Var) -> bool:
        variable = self.variables.get(declared.name)
        if isinstance(variable, nodes.Var):
            return self.analysis.is_local_to(variable, node)
        return variable is not None and self.shared.is_local_to(variable, node)

    def _continuing(self, node: nodes.Loop) -> tuple[list[ast.Statement], ast.Expression | None]:
        """The statements of the continuing part, and the condition of its `break if`."""
        with self.nested() as frame:
            block: nodes.Block | None = node.continuing_target
            while block is not None:
                for instruction in block.instructions:
                    self.instruction(instruction)
                assert block.branch is not None
                target = block.branch.target
                if isinstance(target, nodes.If) and target.merge_target is None:
                    return frame.statements, self._break_if(target, node)
                block = self._branch(block.branch, node.start_target)
            return frame.statements, None

    def _break_if(self, node: nodes.If, loop: nodes.Loop) -> ast.Expression:
        """The condition of a `break if`, which is computed before the values that the arms pass are assigned."""
        self.gather([node.condition], Effect.WRITE, is_statement=True)
        condition = self.expressions.of(node.condition)
        on_true, on_false = (self._break_if_arm(arm, loop) for arm in (node.true_target, node.false_target))
        if on_true or on_false:
            leave = self.names.unique("leave")
            self.write(syntax.let(leave, condition))
            condition = syntax.identifier(leave)
            self.write(shapes.if_(condition, on_true, on_false))
        return condition if _goes_to(node.true_target, loop.merge_target) else shapes.negated(condition)

    def _break_if_arm(self, arm: nodes.Block, loop: nodes.Loop) -> Sequence[ast.Statement]:
        follow = loop.merge_target if _goes_to(arm, loop.merge_target) else loop.start_target
        return self.region(arm, follow)

    # Switch.

    def _switch(self, node: nodes.Switch) -> None:
        self.gather([node.condition], Effect.WRITE, is_statement=True)
        subject = self.expressions.of(node.condition)
        merge = node.merge_target
        for argument in () if merge is None else merge.arguments:
            self._declare(argument, None)
        outer = self.breakables
        self.breakables = (*outer, _Breakable(merge))
        cases = [self._case(case, merge) for case in node.cases]
        self.breakables = outer
        self.write(ast.Switch((), subject, (), tuple(cases), syntax.NOWHERE))

    def _case(self, case: nodes.SwitchCase, merge: nodes.Block | None) -> ast.Case:
        selectors: list[ast.CaseSelector] = [self.expressions.literal(selector) for selector in case.selectors]
        if case.is_default:
            selectors.append(ast.DefaultSelector(syntax.NOWHERE))
        return ast.Case(tuple(selectors), syntax.block(self.region(case.target, merge)), syntax.NOWHERE)


def _goes_to(arm: nodes.Block, target: nodes.Block) -> bool:
    """Whether the last block of an arm of `break if` branches to the target."""
    block: nodes.Block | None = arm
    while block is not None and block.branch is not None:
        if block.branch.target is target:
            return True
        match block.branch.target:
            case nodes.If(merge_target=merge) | nodes.Switch(merge_target=merge) | nodes.Loop(merge_target=merge):
                block = merge
            case nodes.Block() | nodes.Terminator():
                block = None
            case _:
                assert_never(block.branch.target)
    return False
