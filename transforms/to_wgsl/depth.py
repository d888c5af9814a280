"""How deep the text of an expression nests: what would nest too deep gets a name.

WGSL sets no limit on expressions, but compilers do, since they recurse. Tint's parser takes 128 levels of brackets and
prefix operators, the braces around a statement among them (`kMaxParseDepth` in its `parser.cc`), and its resolver trees
of 512 levels (`kMaxExpressionDepth` in its `resolver.cc`); WebKit's compiler has the same two limits.
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
    """How deep an expression may nest: levels of brackets and prefix operators, and levels of its tree, which are the
    length of a chain like `a + b + c`.
    """

    brackets: int
    levels: int


READABLE = Limit(12, 256)
"""Where a part can have a name. People write up to six levels of brackets."""
ACCEPTED = Limit(64, 256)
"""Where none can, since it is only evaluated behind a `&&` or `||`: with Ifs as deep around it, what Tint takes."""

_NUMBERED = re.compile(r"_\d+$")


@dataclass(frozen=True, slots=True)
class Depth:
    """How deep an expression nests. `op` is the operator at its top, and `chain` how many of these follow each other;
    `leaf` is what has a name at its deepest place.
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
        """The same in so many more brackets."""
        return Depth(self.brackets + brackets, self.levels, leaf=self.leaf)


class Depths:
    """The depths of the expressions that `expressions` builds, kept for values that wait to become a part of others."""

    def __init__(self, expressions: Expressions, is_constant: Callable[[Value], bool]) -> None:
        self._expressions = expressions
        self._is_constant = is_constant
        self._known: dict[Value, Depth] = {}

    def measure(self, value: Value) -> Depth:
        """The depth of a value without a name, which is kept."""
        depth = self._known[value] = self._made(value)
        return depth

    def deepest_operand(self, value: Value) -> Value | None:
        """The operand that nests deepest of those that are neither constants nor named, if there is one."""
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
        """What a value with a known depth may be called: what it is computed from, without a number."""
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
        return _around(self._of(operand).within(1) for operand in value.operands)  # written as a call

    def _binary(self, op: BinaryOp, lhs: Value, rhs: Value) -> Depth:
        """A short-circuit whose right side is of the same kind is written as one chain."""
        left, right = self._of(lhs), self._of(rhs)
        chain = 1 + (left.chain if left.op is op else 0)
        if op.is_short_circuit and right.op is op:
            levels = max(right.levels + 1, right.chain + 1 + left.levels)
            return replace(_around([left, right], op=op, chain=chain + right.chain), levels=levels)
        sides = zip((left, right), BARE_OPERANDS[op], strict=True)
        grouped = [it.within(1) if isinstance(it.op, BinaryOp) and it.op not in bare else it for it, bare in sides]
        return _around(grouped, op=op, chain=chain)

    def _primary(self, value: Value) -> Depth:
        """What `.` or `[` follows."""
        inner = self._of(value)
        return inner if inner.op is None else inner.within(1)


def _around(parts: Iterable[Depth], *, levels: int = 1, op: BinaryOp | UnaryOp | None = None, chain: int = 0) -> Depth:
    """An expression of which these are parts."""
    found = sorted(parts, key=lambda it: -it.levels)
    return Depth(
        brackets=max((it.brackets for it in found), default=0),
        levels=max((it.levels for it in found), default=0) + levels,
        op=op,
        chain=chain,
        leaf=next((it.leaf for it in found if it.leaf is not None), None),
    )


def _is_local(value: Value) -> bool:
    """Whether a name is that of a value or variable of the function."""
    if not isinstance(value, nodes.Var):
        return True
    return isinstance(value.type, Pointer) and value.type.space is AddressSpace.FUNCTION
