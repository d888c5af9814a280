"""The WGSL grammar: `grammar.js` is its source, `src/` the parser that tree-sitter generated from it."""

from functools import cache

from tree_sitter import Language

from . import _binding


@cache
def language() -> Language:
    """The tree-sitter language of WGSL, one object for the whole process."""
    return Language(_binding.language())
