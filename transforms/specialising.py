"""The passes before a module is translated into Hercules IR or prepared for a GPU: every dispatch runs them.

They are apart from `pipelines`, whose tables import all passes on core IR, since the first call in a process waits for
imports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..ir.core.nodes import Module
from .core.bind_immediates import BindImmediates
from .core.expand_views import ExpandViews, has_buffers
from .core.reg2mem import RegistersToMemory, carries_arrays
from .core.single_entry_point import SingleEntryPoint
from .core.substitute_overrides import SubstituteOverrides
from .passes import Pass, apply_passes


def specialising(entry: str, constants: Mapping[str, float]) -> tuple[Pass[Module], ...]:
    """The passes that every device starts with: one entry point, with its overrides substituted.

    Immediate data is bound first, while the module still has all variables.
    """
    return (BindImmediates(), SubstituteOverrides(constants, entry), SingleEntryPoint(entry))


def specialise(module: Module, entry: str, constants: Mapping[str, float]) -> Module:
    """The module after `specialising`; it is changed in place. Raises InputError and ShaderError."""
    return apply_passes(module, specialising(entry, constants))


TO_HERCULES: tuple[Pass[Module], ...] = (ExpandViews(uniform="words"), RegistersToMemory(only="arrays"))
"""What Hercules IR does not have: views of buffers, and branches that pass arrays."""
THROUGH_HERCULES: tuple[Pass[Module], ...] = (ExpandViews(), RegistersToMemory(only="arrays"))
"""The same for a module that becomes WGSL again."""


def for_hercules(module: Module, fresh: Callable[[], Module]) -> Module:
    """A specialised module as it can be translated into Hercules IR: itself, or what the passes `TO_HERCULES` make of a
    `fresh` one, since interpreters go on running the first. Raises ShaderError.
    """
    return apply_passes(fresh(), TO_HERCULES) if has_buffers(module) or carries_arrays(module) else module
