"""The passes between a specialised module and Hercules IR, which the interpreters of core IR do without."""

from __future__ import annotations

from collections.abc import Callable

from ..ir.core.nodes import Module
from .core.expand_views import ExpandViews, has_buffers
from .core.reg2mem import RegistersToMemory, carries_arrays
from .passes import Pass, apply_passes

TO_HERCULES: tuple[Pass[Module], ...] = (ExpandViews(uniform="words"), RegistersToMemory(only="arrays"))
"""What Hercules IR does not have: views of buffers, and branches that pass arrays."""
THROUGH_HERCULES: tuple[Pass[Module], ...] = (ExpandViews(), RegistersToMemory(only="arrays"))
"""The same for a module that becomes WGSL again."""


def for_hercules(module: Module, fresh: Callable[[], Module]) -> Module:
    """A specialised module as it can be translated into Hercules IR: itself, or what the passes `TO_HERCULES` make of a
    `fresh` one, since interpreters go on running the first. Raises ShaderError.
    """
    return apply_passes(fresh(), TO_HERCULES) if has_buffers(module) or carries_arrays(module) else module
