"""WGSL text from its syntax tree."""

from .expressions import print_expression
from .printer import print_unit

__all__ = ["print_expression", "print_unit"]
