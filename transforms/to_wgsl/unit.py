"""Converts a module of core IR to the syntax tree of WGSL (Tint's design calls this `Module.to_program`).

`to_unit` converts everything, including Ifs that yield values and loop-carried values, and writes idiomatic code:
`while`, `for`, `else if`, `+=`. Names are kept, and a temporary with one use is folded into its user if the order of
effects allows it. The interface does not change: a resource that the body no longer uses is used by `_ = &name;`.
Reading the text and writing it again gives the same text.
"""

from __future__ import annotations

from ...base.interpreter_state import deep_nesting
from ...ir.core import nodes
from ...ir.wgsl import ast
from .declarations import ModuleWriter


@deep_nesting()
def to_unit(module: nodes.Module) -> ast.TranslationUnit:
    """The syntax tree of a verified module, which is not changed."""
    return ModuleWriter(module).unit()
