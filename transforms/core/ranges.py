"""How large a u32 or i32 value can be, where its making says so."""

from __future__ import annotations

from ...ir.core import nodes
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.types import U32


class Ranges:
    """Bounds of values in one function."""

    def __init__(self, function: nodes.Function) -> None:
        sizes = [_constant(size) for size in function.workgroup_size]
        self._sizes = [*sizes, *[1] * (3 - len(sizes))] if sizes else []

    def largest(self, value: Value) -> int | None:
        """The largest value, taken as unsigned; None where nothing is known."""
        match value:
            case nodes.Constant():
                number = _constant(value)
                return None if number is None else number & 0xFFFFFFFF
            case nodes.FunctionParameter() if value.io.builtin == "local_invocation_index":
                return self._last_invocation()
            case nodes.Access(object=nodes.FunctionParameter() as parameter, indices=(component,)):
                return self._last_of(parameter, component)
            case nodes.BuiltinCall(function="min", arguments=(lhs, rhs)) if value.type is U32:
                return _least(self.largest(lhs), self.largest(rhs))
            case nodes.Binary(op=op, lhs=lhs, rhs=rhs) if value.type is U32:
                return _combined(op, self.largest(lhs), self.largest(rhs))
            case _:
                return None

    def _last_invocation(self) -> int | None:
        product = 1
        for size in self._sizes:
            if size is None:
                return None
            product *= size
        return product - 1 if self._sizes else None

    def _last_of(self, parameter: nodes.FunctionParameter, component: Value) -> int | None:
        position = _constant(component)
        if parameter.io.builtin != "local_invocation_id" or position is None or not self._sizes:
            return None
        size = self._sizes[position]
        return None if size is None else size - 1


def _constant(value: Value) -> int | None:
    raw = value.value.value if isinstance(value, nodes.Constant) else None
    return raw if isinstance(raw, int) else None


def _least(left: int | None, right: int | None) -> int | None:
    return min((it for it in (left, right) if it is not None), default=None)


def _combined(op: BinaryOp, left: int | None, right: int | None) -> int | None:
    """The largest result of an unsigned operation that does not wrap. `e % 0` is 0 at run time."""
    if op is BinaryOp.AND:
        return _least(left, right)
    if op is BinaryOp.REMAINDER and right is not None:
        return _least(left, max(right - 1, 0))
    if left is None or right is None:
        return None
    match op:
        case BinaryOp.ADD:
            largest = left + right
        case BinaryOp.MULTIPLY:
            largest = left * right
        case BinaryOp.DIVIDE | BinaryOp.SHIFT_RIGHT:
            largest = left
        case _:
            return None
    return largest if largest < 1 << 32 else None
