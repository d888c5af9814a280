"""A module of core IR as the syntax tree of WGSL (what Tint's design calls `Module.to_program`).

`to_unit` raises everything, Ifs that yield values and loop-carried values included, and writes what people write:
`while`, `for`, `else if`, `+=`; names stay, and a temporary used once is folded into its user where the order of
effects allows. The interface does not change: a resource that the body no longer mentions is mentioned by `_ = &name;`.
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
