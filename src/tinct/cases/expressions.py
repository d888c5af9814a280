"""Numbers in case files: literals, or small expressions over the case's sizes, such as "ceil_div(n, 64)"."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import TypeAlias

Number: TypeAlias = int | float
Expression: TypeAlias = int | float | str
Sizes: TypeAlias = Mapping[str, int]


class ExpressionError(ValueError):
    """An expression without a value: bad syntax, an unknown name, a division by zero."""


_OPERATORS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda dividend, divisor: dividend / divisor,
    ast.FloorDiv: lambda dividend, divisor: dividend // divisor,
    ast.Mod: operator.mod,
}


def _ceil_div(dividend: Number, divisor: Number) -> Number:
    return -(-dividend // divisor)


_FUNCTIONS: dict[str, Callable[[Number, Number], Number]] = {"ceil_div": _ceil_div, "min": min, "max": max}


def evaluate(expression: Expression, sizes: Sizes) -> Number:
    """The value of a number or an expression of + - * / // %, ceil_div, min, max and the sizes' names."""
    if not isinstance(expression, str):
        return expression
    try:
        return _value(ast.parse(expression, mode="eval").body, sizes)
    except SyntaxError:
        raise ExpressionError(f"'{expression}' is not an expression") from None
    except ZeroDivisionError:
        raise ExpressionError(f"'{expression}' divides by zero") from None


def evaluate_count(expression: Expression, sizes: Sizes) -> int:
    """The value of an expression that must be a whole number of things."""
    value = evaluate(expression, sizes)
    if not isinstance(value, int) or value < 0:
        raise ExpressionError(f"'{expression}' is {value}, which is no count")
    return value


def _value(node: ast.expr, sizes: Sizes) -> Number:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.Name(id=name):
            if name not in sizes:
                raise ExpressionError(f"no size is named '{name}'; there are: {', '.join(sizes) or 'none'}")
            return sizes[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, sizes)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, sizes), _value(right, sizes))
        case ast.Call(func=ast.Name(id=name), args=[first, second], keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](_value(first, sizes), _value(second, sizes))
        case _:
            raise ExpressionError(f"'{ast.unparse(node)}' is beyond what a case file may compute")
