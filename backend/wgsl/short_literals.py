"""The shortest spelling of literals.

Where the context gives a literal its type (the other operand, what is assigned to, a parameter) it needs no suffix,
and a whole number needs no point (WGSL, "Abstract numeric conversions").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from ...ir.ops import BinaryOp, UnaryOp
from ...ir.schema.runtime import SchemaNode
from ...ir.schema.traverse import rewrite
from ...ir.wgsl import ast

_SHIFTS = frozenset({BinaryOp.SHIFT_LEFT, BinaryOp.SHIFT_RIGHT})
_OF_ONE_TYPE = frozenset({"atan2", "clamp", "fma", "max", "min", "pow", "smoothstep", "step"})
_CONSTRUCTORS = frozenset(f"vec{width}{suffix}" for width in "234" for suffix in "fhiu") | frozenset(
    f"mat{columns}x{rows}{suffix}" for columns in "234" for rows in "234" for suffix in "fh"
)
_SUFFIXES = ("i", "u", "f", "h")


def shorten_literals(unit: ast.TranslationUnit, callees: frozenset[str]) -> ast.TranslationUnit:
    """The tree with short literals. `callees` are the names of its functions and structures.

    Only for a tree whose constant expressions are folded: an operand that is no literal has a concrete type.
    """
    shortened = rewrite(unit, lambda node: _shortened(node, callees))
    assert isinstance(shortened, ast.TranslationUnit)
    return shortened


def _shortened(node: SchemaNode, callees: frozenset[str]) -> SchemaNode:
    match node:
        case ast.FloatLiteral(text=text, suffix=suffix, span=span):
            return ast.FloatLiteral(_short_float(text.removesuffix(suffix), suffix), suffix, span)
        case ast.Binary(op=op, lhs=lhs, rhs=rhs, span=span):
            return ast.Binary(op, *_operands(op, lhs, rhs), span)
        case ast.Assign(target=target, value=value, span=span):
            return ast.Assign(target, _typed(value), span)
        case ast.CompoundAssign(op=op, target=target, value=value, span=span):
            return ast.CompoundAssign(op, target, _typed(value), span)
        case ast.Return(value=value, span=span) if value is not None:
            return ast.Return(_typed(value), span)
        case ast.Index(object=object, index=index, span=span):
            return ast.Index(object, _typed(index), span)
        case ast.Call(callee=callee, arguments=arguments, span=span):
            return ast.Call(callee, _arguments(callee, arguments, callees), span)
        case ast.Case(selectors=selectors, body=body, span=span):
            return ast.Case(tuple(map(_selector, selectors)), body, span)
        case ast.Attribute(name="workgroup_size", arguments=arguments, span=span):
            return ast.Attribute("workgroup_size", tuple(map(_typed, arguments)), span)
        case SchemaNode():
            return node
        case _:
            assert_never(node)


def _selector(node: ast.CaseSelector) -> ast.CaseSelector:
    return node if isinstance(node, ast.DefaultSelector) else _typed(node)


def _operands(op: BinaryOp, lhs: ast.Expression, rhs: ast.Expression) -> tuple[ast.Expression, ast.Expression]:
    if _is_literal(lhs):
        return (lhs, rhs) if _is_literal(rhs) or op in _SHIFTS else (_typed(lhs), rhs)
    return lhs, _typed(rhs)


def _arguments(
    callee: ast.Identifier, arguments: Sequence[ast.Expression], callees: frozenset[str]
) -> tuple[ast.Expression, ...]:
    name = callee.name
    is_array = name == "array" and len(callee.template_arguments) == 2
    is_typed = name in _CONSTRUCTORS or name in callees or is_array
    is_generic = name in _OF_ONE_TYPE and not all(map(_is_literal, arguments))
    if is_typed or is_generic:
        return tuple(map(_typed, arguments))
    if name.startswith("atomic"):
        return (*arguments[:1], *map(_typed, arguments[1:]))
    return tuple(arguments)


def _is_literal(node: ast.Expression) -> bool:
    match node:
        case ast.IntLiteral() | ast.FloatLiteral():
            return True
        case ast.Unary(op=UnaryOp.NEGATE, operand=operand) | ast.Paren(operand=operand):
            return _is_literal(operand)
        case ast.BoolLiteral() | ast.Identifier() | ast.Unary() | ast.Binary():
            return False
        case ast.Call() | ast.Index() | ast.MemberAccess():
            return False
        case _:
            assert_never(node)


def _typed(node: ast.Expression) -> ast.Expression:
    """A literal whose type the context gives, without suffix; other expressions as they are. -0.0 is no integer."""
    match node:
        case ast.IntLiteral(value=value, suffix=suffix, span=span) if suffix:
            return ast.IntLiteral(value, "", str(value), span)
        case ast.FloatLiteral(text=text, suffix=suffix, span=span):
            digits = text.removesuffix(suffix)
            whole, short = _whole(digits), _short_float(digits, "")
            if whole is not None and len(str(whole)) <= len(short):
                return ast.IntLiteral(whole, "", str(whole), span)
            return ast.FloatLiteral(short, "", span)
        case ast.Unary(op=UnaryOp.NEGATE, operand=operand, span=span) if _is_literal(operand) and not _is_zero(operand):
            return ast.Unary(UnaryOp.NEGATE, _typed(operand), span)
        case ast.IntLiteral() | ast.BoolLiteral() | ast.Identifier() | ast.Unary() | ast.Binary() | ast.Paren():
            return node
        case ast.Call() | ast.Index() | ast.MemberAccess():
            return node
        case _:
            assert_never(node)


def _is_zero(node: ast.Expression) -> bool:
    return isinstance(node, ast.FloatLiteral) and float(node.text.removesuffix(node.suffix)) == 0


def _whole(digits: str) -> int | None:
    """The integer that a float is, if that is short."""
    value = float(digits)
    return int(value) if value.is_integer() and value < 10**6 else None


def _short_float(digits: str, suffix: str) -> str:
    """A decimal literal of the same value: `.5`, `1.`, `1e9`, and `1f`, which needs no point."""
    if digits.startswith(("0x", "0X")):
        return f"{digits}{suffix}"
    mantissa, _, exponent = digits.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction, whole = fraction.rstrip("0"), whole.lstrip("0")
    power = int(exponent or 0)
    all_digits = (whole + fraction).lstrip("0") or "0"
    scientific = _scientific(all_digits, power - len(fraction))
    plain = f"{whole}.{fraction}" if whole or fraction else "0."
    if power:
        return f"{scientific}{suffix}"
    if suffix and not fraction:
        plain = whole or "0"
    return min((f"{plain}{suffix}", f"{scientific}{suffix}"), key=len)


def _scientific(digits: str, power: int) -> str:
    """`digits`, an integer, times a power of ten."""
    short = digits.rstrip("0")
    return f"{short}e{power + len(digits) - len(short)}" if short else "0e0"
