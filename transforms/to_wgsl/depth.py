"""Measures how deep the text of an expression nests: parts of an expression that nests too deep get names.

WGSL sets no limit on expressions, but compilers do, since they recurse. Tint's parser accepts 128 levels of brackets
and prefix operators, including the braces around a statement (`kMaxParseDepth` in its `parser.cc`). Its resolver
accepts trees of 512 levels (`kMaxExpressionDepth` in its `resolver.cc`). WebKit's compiler has the same two limits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from ...ir.core import nodes
from ...ir.core.values import Value
from ...ir.ops import BARE_OPERANDS, BinaryOp, UnaryOp
from ...ir.types import AddressSpace, Pointer
from .expressions import Expressions


class Limit(NamedTuple):
    """How deep an expression may nest: levels of brackets and prefix operators, and levels of its tree. A chain like
    `a + b + c` has as many levels as operators.
    """

    brackets: int
    levels: int


READABLE = Limit(12, 256)
"""The limit where a part can get a name. People write up to six levels of brackets."""
ACCEPTED = Limit(64, 256)
"""The limit where no part can get a name, because it is on the right of an `&&` or `||`. Tint accepts twice as many
brackets, which leaves as many levels for Ifs around the expression.
"""

_NUMBERED = re.compile(r"_\d+$")


@dataclass(frozen=True, slots=True)
class Depth:
    """How deep an expression nests. `op` is its outermost operator, and `chain` the number of these in a row; `leaf` is
    a named value in its deepest part.
    """

    brackets: int = 0
    levels: int = 0
    op: BinaryOp | UnaryOp | None = None
    chain: int = 0
    leaf: Value | None = None

    def exceeds(self, limit: Limit) -> bool:
        """Whether the expression nests too deep."""
        return self.brackets > limit.brackets or self.levels > limit.levels

    def within(self, brackets: int) -> Depth:
        """The depth of the expression inside this many more brackets."""
        return Depth(self.brackets + brackets, self.levels, leaf=self.leaf)


class Depths:
    """The depths of the expressions that `expressions` builds, cached for values that will become part of others."""

    def __init__(self, expressions: Expressions, is_constant: Callable[[Value], bool]) -> None:
        self._expressions = expressions
        self._is_constant = is_constant
        self._known: dict[Value, Depth] = {}

    def measure(self, value: Value) -> Depth:
        """Compute and cache the depth of a value without a name."""
        depth = self._known[value] = self._made(value)
        return depth

    def deepest_operand(self, value: Value) -> Value | None:
        """The operand that nests deepest, among those that are neither constant nor named, if there is one."""
        found: list[Value] = []
        pending = list(value.operands)
        while pending:
            operand = pending.pop()
            if isinstance(operand.type, Pointer) and isinstance(operand, nodes.Access):
                pending += operand.operands
            elif operand in self._known and operand not in self._expressions.bound:
                found.append(operand)
        return max(found, key=lambda it: (self._known[it].brackets, self._known[it].levels), default=None)

    def name(self, value: Value) -> str | None:
        """A name for a value with a known depth: that of its leaf, without a trailing number."""
        leaf = self._known[value].leaf
        return None if leaf is None else _NUMBERED.sub("", self._expressions.bound[leaf])

    def _of(self, value: Value) -> Depth:
        if value in self._expressions.bound:
            return Depth(leaf=value if _is_local(value) else None)
        if self._is_constant(value):
            return Depth()
        known = self._known.get(value)
        return self._made(value) if known is None else known

    def _made(self, value: Value) -> Depth:
        short = self._expressions.short_circuits.get(value)
        if short is not None:
            return self._binary(short.op, short.lhs, short.rhs)
        if isinstance(value, nodes.Binary):
            return self._binary(value.op, value.lhs, value.rhs)
        if isinstance(value, nodes.Unary):
            inner = self._of(value.operand)
            return _around([inner.within(1 + (inner.op is not None))], op=value.op)
        if isinstance(value, nodes.Swizzle):
            return _around([self._primary(value.object)])
        if isinstance(value, nodes.Access):
            positions = (self._of(index).within(1) for index in value.indices)
            return _around([self._primary(value.object), *positions], levels=len(value.indices))
        if isinstance(value, nodes.Load):
            return self._of(value.pointer)
        return _around(self._of(operand).within(1) for operand in value.operands)  # these are written as calls

    def _binary(self, op: BinaryOp, lhs: Value, rhs: Value) -> Depth:
        """A binary operator. A short-circuit whose right operand has the same operator is written as one chain."""
        left, right = self._of(lhs), self._of(rhs)
        chain = 1 + (left.chain if left.op is op else 0)
        if op.is_short_circuit and right.op is op:
            levels = max(right.levels + 1, right.chain + 1 + left.levels)
            return replace(_around([left, right], op=op, chain=chain + right.chain), levels=levels)
        sides = zip((left, right), BARE_OPERANDS[op], strict=True)
        grouped = [it.within(1) if isinstance(it.op, BinaryOp) and it.op not in bare else it for it, bare in sides]
        return _around(grouped, op=op, chain=chain)

    def _primary(self, value: Value) -> Depth:
        """The operand in front of a `.` or `[`: in parentheses if it has an operator."""
        inner = self._of(value)
        return inner if inner.op is None else inner.within(1)


def _around(parts: Iterable[Depth], *, levels: int = 1, op: BinaryOp | UnaryOp | None = None, chain: int = 0) -> Depth:
    """The depth of an expression with these parts."""
    found = sorted(parts, key=lambda it: -it.levels)
    return Depth(
        brackets=max((it.brackets for it in found), default=0),
        levels=max((it.levels for it in found), default=0) + levels,
        op=op,
        chain=chain,
        leaf=next((it.leaf for it in found if it.leaf is not None), None),
    )


def _is_local(value: Value) -> bool:
    """Whether a value belongs to the function: it is not a module-scope variable."""
    if not isinstance(value, nodes.Var):
        return True
    return isinstance(value.type, Pointer) and value.type.space is AddressSpace.FUNCTION
