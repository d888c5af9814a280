"""Translates a checked WGSL program to core IR.

build        module scope, functions and entry points
statements   statements other than control flow
control      control flow
expressions  expressions as values
context      state that the parts share
"""

from .build import build

__all__ = ["build"]
