"""Translates `if`, loops and `switch` to control-flow nodes.

Every loop becomes a Loop: `while` and `for` are rewritten as in the specification ("While Statement", "For Statement"),
where the exit is an If whose false arm leaves the loop. Targets that no branch reaches are marked unreachable, and
nothing is built there.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager

from ...ir.core.nodes import Block, DiagnosticFilter, Loop
from ...ir.wgsl import ast
from .context import Breakable
from .expressions import ExpressionBuilder


class ControlFlowBuilder(ExpressionBuilder):
    """Keeps the stack of control-flow nodes; the insertion point is None after a branch."""

    def attributed(self, node: ast.Statement) -> None:
        """Build any statement at the insertion point, which must be live; in a scope if it has diagnostic filters."""
        if isinstance(node, (ast.If, ast.Switch, ast.Loop, ast.While, ast.For)) and node.attributes:
            with self.filtered(node, node.attributes):
                self.statement(node)
        else:
            self.statement(node)

    @abstractmethod
    def statement(self, node: ast.Statement) -> None:
        """Build any statement at the insertion point, which must be live."""

    def block(self, node: ast.Block) -> None:
        """Build the statements of a block, in a scope if it has diagnostic filters."""
        with self.filtered(node, node.attributes):
            self.statements(node.statements)

    def statements(self, statements: Iterable[ast.Statement]) -> None:
        """Build statements up to the first unreachable one."""
        for statement in statements:
            if not self.is_live:
                return
            self.attributed(statement)

    @contextmanager
    def filtered(self, node: ast.Statement, attributes: Sequence[ast.Attribute]) -> Generator[None]:
        """Build into a scope with the diagnostic filters among the attributes; without any, at the insertion point."""
        filters = nested_filters((), attributes)
        if not filters:
            yield
            return
        made = self.here(node).enter_scope(filters)
        merge = made.merge_target
        self.builder.block = made.true_target
        yield
        if self.is_live:
            assert merge is not None
            self.builder.branch(merge)
            self.builder.block = merge
        else:
            made.merge_target = None

    def if_(self, node: ast.If) -> None:
        """Build an If; an `else if` becomes an If in the false arm."""
        condition = self.value(node.condition)
        made = self.here(node).enter_if(condition)
        merge = made.merge_target
        assert merge is not None
        reached = [self._arm(made.true_target, node.body, merge), self._arm(made.false_target, node.alternative, merge)]
        self.builder.block = made.merge_target = merge if any(reached) else None

    def _arm(self, arm: Block, node: ast.Block | ast.If | None, merge: Block) -> bool:
        """Build an arm; returns whether its end reaches the merge."""
        with self.builder.at(arm):
            if node is not None:
                self.statement(node)
            if not self.is_live:
                return False
            self.builder.branch(merge)
            return True

    def _case(self, arm: Block, switch: ast.Switch, case: ast.Case, merge: Block) -> bool:
        """Build a case. The attributes of the switch's body apply to each case."""
        attributes = (*switch.body_attributes, *case.body.attributes)
        return self._arm(arm, ast.Block(attributes, case.body.statements, case.body.span), merge)

    def loop(self, node: ast.Loop) -> None:
        """`loop { … continuing { … } }`."""

        def continuing(loop: Loop) -> None:
            if node.continuing is None:
                return
            loop.continuing_target.diagnostics = nested_filters((), node.continuing.body.attributes)
            self.statements(node.continuing.body.statements)
            if node.continuing.break_if is not None and self.is_live:
                self._break_if(node.continuing.break_if, loop)

        with self.filtered(node, node.body.attributes):  # the declarations of the body are visible in `continuing`
            self._loop(node, lambda: self.statements(node.body.statements), continuing)

    def while_(self, node: ast.While) -> None:
        """`loop { if condition {} else { break; } … }`."""
        self._loop(node, lambda: self._guarded(node.condition, node.body), lambda loop: None)

    def for_(self, node: ast.For) -> None:
        """Build the initialiser, then a loop with the update as its continuing part."""
        if node.initializer is not None:
            self.statement(node.initializer)

        def continuing(loop: Loop) -> None:
            if node.update is not None:
                self.statement(node.update)

        if self.is_live:
            self._loop(node, lambda: self._guarded(node.condition, node.body), continuing)

    def _loop(self, node: ast.Statement, body: Callable[[], None], continuing: Callable[[Loop], None]) -> None:
        loop = self.here(node).enter_loop()
        breakable = Breakable(loop.merge_target, loop.continuing_target)
        self.breakables.append(breakable)
        self.builder.block = loop.start_target
        body()
        if self.is_live:
            self.continue_(breakable)
        self.builder.block = loop.continuing_target
        self._close(loop, breakable, continuing)
        self.breakables.pop()
        self.builder.block = loop.merge_target
        if not breakable.is_left:
            self.builder.unreachable()

    def _close(self, loop: Loop, breakable: Breakable, continuing: Callable[[Loop], None]) -> None:
        if not breakable.is_continued:
            self.builder.unreachable()
            return
        continuing(loop)
        if self.is_live:
            self.builder.branch(loop.start_target)

    def _guarded(self, condition: ast.Expression | None, body: ast.Block) -> None:
        if condition is not None:
            value = self.value(condition)
            made = self.here(condition).enter_if(value)
            merge = made.merge_target
            assert merge is not None
            with self.builder.at(made.true_target):
                self.builder.branch(merge)
            with self.builder.at(made.false_target):
                self.break_()
            self.builder.block = merge
        self.block(body)

    def _break_if(self, condition: ast.Expression, loop: Loop) -> None:
        value = self.value(condition)
        made = self.here(condition).enter_if(value)
        made.merge_target = None
        with self.builder.at(made.true_target):
            self.break_()
        with self.builder.at(made.false_target):
            self.builder.branch(loop.start_target)

    def break_(self) -> None:
        """Leave the innermost Loop or Switch."""
        breakable = self.breakables[-1]
        breakable.is_left = True
        self.builder.branch(breakable.merge_target)

    def continue_(self, breakable: Breakable | None = None) -> None:
        """Branch to the continuing part of a loop, by default the innermost."""
        loop = breakable or next(it for it in reversed(self.breakables) if it.continuing_target is not None)
        assert loop.continuing_target is not None
        loop.is_continued = True
        self.builder.branch(loop.continuing_target)

    def switch(self, node: ast.Switch) -> None:
        """A Switch with a block for each case."""
        subject = self.value(node.subject)
        selectors = [(self.facts.selectors[case], _is_default(case)) for case in node.cases]
        made = self.here(node).enter_switch(subject, selectors)
        merge = made.merge_target
        assert merge is not None
        breakable = Breakable(merge)
        self.breakables.append(breakable)
        pairs = zip(node.cases, made.cases, strict=True)
        reached = [self._case(target.target, node, case, merge) for case, target in pairs]
        self.breakables.pop()
        self.builder.block = made.merge_target = merge if any(reached) or breakable.is_left else None


def nested_filters(outer: Iterable[DiagnosticFilter], attributes: Iterable[ast.Attribute]) -> list[DiagnosticFilter]:
    """The filters that apply inside both: of two for the same rule, the inner one (WGSL, "Diagnostic Filtering")."""
    found = {it.rule: it for it in outer}
    for attribute in attributes:
        if attribute.name == "diagnostic":
            severity, rule = attribute.arguments
            assert isinstance(severity, ast.Identifier)
            assert isinstance(rule, ast.Identifier)
            found[rule.name] = DiagnosticFilter(severity.name, rule.name)
    return list(found.values())


def _is_default(case: ast.Case) -> bool:
    return any(isinstance(selector, ast.DefaultSelector) for selector in case.selectors)
