"""Core IR back to the syntax of WGSL (what Tint's design calls `Module.to_program`).

`to_unit` raises everything, Ifs that yield values and loop-carried values included, and writes what people write:
`while`, `for`, `else if`, `+=`; names stay, and a temporary used once is folded into its user where the order of
effects allows. The interface does not change: a resource that the body no longer mentions is mentioned by `_ = &name;`.
Reading the text and writing it again gives the same text. The parts are in `raising`.
"""

from __future__ import annotations

from ..interpreter_state import deep_nesting
from ..wgsl import ast
from . import nodes
from .raising.declarations import ModuleWriter


@deep_nesting()
def to_unit(module: nodes.Module) -> ast.TranslationUnit:
    """The syntax tree of a verified module, which is not changed."""
    return ModuleWriter(module).unit()
