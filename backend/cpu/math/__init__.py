"""Transcendental functions of f32 as helper functions in LLVM IR, on one lane or on a vector of lanes.

Each function evaluates polynomials on a reduced argument (`coefficients`, fitted by tools/fit_polynomials.py), without
tables. The only branch is for angles so large that they need a longer value of π. docs/accuracy.md has the largest
error found for each function; it is within WGSL's "Accuracy of Concrete Floating Point Expressions". NaN, infinities,
signed zeros and subnormal numbers follow IEEE 754. A lane's result does not depend on how many lanes there are, but may
differ in the last place between targets with and without fused multiply-add.
"""

from __future__ import annotations

from collections.abc import Callable

from ..llvm import FunctionText, Ops
from . import exponential, hyperbolic, inverse_trigonometric, roots, trigonometric
from .reals import Reals

__all__ = ["Reals", "define", "is_transcendental"]

_UNARY: dict[str, Callable[[Reals, str], str]] = {
    "exp": exponential.exp,
    "exp2": exponential.exp2,
    "log": exponential.log,
    "log2": exponential.log2,
    "sin": trigonometric.sin,
    "cos": trigonometric.cos,
    "tan": trigonometric.tan,
    "asin": inverse_trigonometric.asin,
    "acos": inverse_trigonometric.acos,
    "atan": inverse_trigonometric.atan,
    "sinh": hyperbolic.sinh,
    "cosh": hyperbolic.cosh,
    "tanh": hyperbolic.tanh,
    "asinh": hyperbolic.asinh,
    "acosh": hyperbolic.acosh,
    "atanh": hyperbolic.atanh,
    "inverseSqrt": roots.inverse_sqrt,
}
_BINARY: dict[str, Callable[[Reals, str, str], str]] = {
    "pow": exponential.pow,
    "atan2": inverse_trigonometric.atan2,
}


def is_transcendental(name: str) -> bool:
    """Whether `define` supports the function."""
    return name in _UNARY or name in _BINARY


def define(name: str, ops: Ops) -> str:
    """The name of the LLVM helper function for `name` on floats, which is emitted at the first call."""
    full = f"wgsl.{name}.{ops.suffix('float')}"
    module, lanes = ops.out.module, ops.lanes

    def write() -> str:
        inner = FunctionText(module)
        inner.open("entry")
        r = Reals(Ops(inner, lanes))
        parameters = ["%x", "%y"] if name in _BINARY else ["%x"]
        result = _BINARY[name](r, *parameters) if name in _BINARY else _UNARY[name](r, *parameters)
        type = r.ops.type("float")
        inner.do(f"ret {type} {result}")
        signature = ", ".join(f"{type} {it}" for it in parameters)
        head = f"define internal {type} @{full}({signature}) alwaysinline nounwind willreturn memory(none)"
        return f"{head} {{\n{inner.text()}\n}}\n"

    module.helper(full, write)
    return full
