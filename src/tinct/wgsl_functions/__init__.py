"""WGSL functions as Python functions on arrays: `shader.functions["luminance"](colour)`, and constant expressions.

`signature` says what a function takes and returns, `wrapper` writes an entry point that calls the function once for
each element, `values` converts arrays for the entry point and back, `function` does a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..base.lazy_names import lazy_names

if TYPE_CHECKING:
    from .expressions import evaluate
    from .function import FunctionResult, Results, ShaderFunction, ShaderFunctions

__all__ = ["FunctionResult", "Results", "ShaderFunction", "ShaderFunctions", "evaluate"]

__getattr__ = lazy_names(
    __name__,
    {
        "evaluate": "expressions",
        **dict.fromkeys(("FunctionResult", "Results", "ShaderFunction", "ShaderFunctions"), "function"),
    },
)
