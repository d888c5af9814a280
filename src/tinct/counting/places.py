"""The statements, branches and functions of a program, each with the block whose count is theirs.

Places are those of the texts that a program was derived from: a function that is called from Python, or tested in WGSL,
is found in its own file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..ir.core import nodes
from ..ir.core.structure import blocks_of, is_scope
from ..ir.ops import BinaryOp
from ..ir.schema.traverse import walk
from ..ir.source import Source, Span
from ..ir.wgsl import ast
from ..ir.wgsl.program import Program
from ..transforms.core.count_blocks import BlockKey
from ..transforms.core.regions import blocks_from, merge_of
from ..transforms.from_wgsl.build import build_with_places

EVALUATED = "right side evaluated"
SKIPPED = "right side skipped"


class Statement(NamedTuple):
    """A statement at an offset. `block` is None for one that no value of an override lets run."""

    source: Source
    offset: int
    block: BlockKey | None


class Outcome(NamedTuple):
    """One way out of a branch at an offset: `condition` is the branch's text, `taken` says which way it is. `kind` is
    "if", "loop" or "switch", or the operator of a short-circuit, which may begin where a condition does.

    `to` is the offset of the statement that follows, if it is in the same text. `block` is None for a branch that a
    constant expression decides.
    """

    source: Source
    offset: int
    kind: str
    condition: str
    taken: str
    to: int | None
    block: BlockKey | None


class FunctionPlace(NamedTuple):
    """A function whose name stands at `offset`; `end` is the offset after its body."""

    source: Source
    offset: int
    end: int
    name: str
    block: BlockKey


@dataclass(frozen=True, slots=True)
class Places:
    """All places of a program."""

    statements: tuple[Statement, ...]
    outcomes: tuple[Outcome, ...]
    functions: tuple[FunctionPlace, ...]


class _Branch(NamedTuple):
    """What the text has for a control-flow node: the text of the condition, and the words for its arms."""

    kind: str
    condition: Span
    arms: Sequence[str]


def places_of(program: Program) -> Places:
    """The places of a program, for blocks as `count_blocks` numbers them."""
    return _Finder(program).places()


class _Finder:
    """Finds the places of one program."""

    def __init__(self, program: Program) -> None:
        self.source = program.source
        self.program = program
        module, self.built = build_with_places(program)
        self.functions = module.functions
        self.keys = {
            id(block): (it.name, number) for it in module.functions for number, block in enumerate(blocks_of(it))
        }
        self.first: dict[int, int] = {}
        """The offset of the first statement that begins in a block."""
        for statement, block in self.built:
            self.first.setdefault(id(block), statement.span.start)
        self.nodes = [it for function in module.functions for it in _branching(function)]
        self.never = {id(block) for _, node in self.nodes for arm in _never(node) for block in blocks_from(arm)}

    def places(self) -> Places:
        """All of them."""
        return Places(tuple(self._statements()), tuple(self._outcomes()), tuple(self._functions()))

    def _statements(self) -> Iterator[Statement]:
        built = set[int]()
        for statement, block in self.built:
            built.add(id(statement))
            place = self.source.origin(statement.span.start)
            if place is not None:
                key = None if id(block) in self.never else self.keys[id(block)]
                yield Statement(place.source, place.offset, key)
        for function in self.program.functions:
            for statement in _statements(function.node):
                place = self.source.origin(statement.span.start)
                if id(statement) not in built and place is not None:
                    yield Statement(place.source, place.offset, None)

    def _outcomes(self) -> Iterator[Outcome]:
        branches, shorts = _branches(self.program)
        for block, node in self.nodes:
            is_short = node.merge_target is not None and bool(node.merge_target.arguments)
            found = None if node.span is None else (shorts if is_short else branches).get(node.span)
            place = None if node.span is None or found is None else self.source.origin(node.span.start)
            if found is None or place is None or not place.is_copied:
                continue
            is_decided = isinstance(node.condition, nodes.Constant) or id(block) in self.never
            condition = " ".join(self.source.text(found.condition).split())
            for arm, taken in zip(_arms(node), found.arms, strict=True):
                key = None if is_decided else self.keys[id(arm)]
                to = None if is_short else self._to(arm, node, place.source)
                yield Outcome(place.source, place.offset, found.kind, condition, taken, to, key)

    def _to(self, arm: nodes.Block, node: nodes.If | nodes.Switch, source: Source) -> int | None:
        """The offset of the first statement of an arm, or of what follows an empty one."""
        for start in (arm, node.merge_target):
            for block in () if start is None else (start, *_merges(start)):
                place = self.source.origin(self.first[id(block)]) if id(block) in self.first else None
                if place is not None:
                    return place.offset if place.source == source else None
            if start is arm and (arm.branch is None or arm.branch.target is not node.merge_target):
                return None
        return None

    def _functions(self) -> Iterator[FunctionPlace]:
        for function in self.program.functions:
            place = self.source.origin(function.node.name_span.start)
            if place is not None and place.is_copied:
                end = place.offset + function.node.span.end - function.node.name_span.start
                yield FunctionPlace(place.source, place.offset, end, function.name, (function.name, 0))


def _merges(block: nodes.Block) -> Iterator[nodes.Block]:
    following = merge_of(block)
    while following is not None:
        yield following
        following = merge_of(following)


def _branching(function: nodes.Function) -> Iterator[tuple[nodes.Block, nodes.If | nodes.Switch]]:
    for block in blocks_of(function):
        node = None if block.branch is None else block.branch.target
        if isinstance(node, nodes.Switch) or (isinstance(node, nodes.If) and not is_scope(node)):
            yield block, node


def _arms(node: nodes.If | nodes.Switch) -> Sequence[nodes.Block]:
    return (node.true_target, node.false_target) if isinstance(node, nodes.If) else [it.target for it in node.cases]


def _never(node: nodes.If | nodes.Switch) -> Iterator[nodes.Block]:
    """The arms that a constant condition does not choose."""
    if not isinstance(node.condition, nodes.Constant):
        return
    value = node.condition.value.value
    if isinstance(node, nodes.If):
        yield node.false_target if value else node.true_target
        return
    chosen = [it for it in node.cases if any(selector.value == value for selector in it.selectors)]
    chosen = chosen or [it for it in node.cases if it.is_default]
    yield from (it.target for it in node.cases if it not in chosen)


def _statements(function: ast.Function) -> Iterator[ast.Statement]:
    """The statements of a function that run."""
    for it in walk(function.body):
        if isinstance(it, ast.Statement) and not isinstance(it, (ast.Block, ast.Const, ast.ConstAssert)):
            yield it


def _branches(program: Program) -> tuple[dict[Span, _Branch], dict[Span, _Branch]]:
    """The branches by the span that core IR has for them: those of statements, and short-circuits."""
    branches: dict[Span, _Branch] = {}
    shorts: dict[Span, _Branch] = {}
    for it in walk(program.unit):
        if isinstance(it, ast.If):
            branches[it.span] = _Branch("if", it.condition.span, ("true", "false"))
        elif isinstance(it, (ast.While, ast.For, ast.Continuing)):
            condition = it.break_if if isinstance(it, ast.Continuing) else it.condition
            if condition is not None:
                branches[condition.span] = _Branch("loop", condition.span, ("true", "false"))
        elif isinstance(it, ast.Switch):
            words = [_words(program.source, case) for case in it.cases]
            branches[it.span] = _Branch("switch", it.subject.span, words)
        elif isinstance(it, ast.Binary) and it.op.is_short_circuit:
            ways = (SKIPPED, EVALUATED) if it.op is BinaryOp.LOGICAL_OR else (EVALUATED, SKIPPED)
            shorts[it.span] = _Branch(it.op.value, it.span, ways)
    return branches, shorts


def _words(source: Source, case: ast.Case) -> str:
    """A case's selectors, such as `case 1, 2`."""
    head = source.data[case.span.start : case.body.span.start].decode("utf-8", "replace")
    return " ".join(head.replace(":", " ").split())
