"""The passes that every dispatch runs on core IR before all others.

They are apart from `pipelines`, whose tables import all passes on core IR, since the first call in a process waits for
imports.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.core.nodes import Module
from .core.bind_immediates import BindImmediates
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
