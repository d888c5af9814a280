"""A checked WGSL program becomes core IR.

build        module scope, functions and entry points
statements   statements, but for control flow
control      control flow
expressions  expressions as values
context      what the parts share
"""

from .build import build

__all__ = ["build"]
