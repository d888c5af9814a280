"""The named pipelines: what happens to a module between the front end and a device."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.core.nodes import Module
from ..ir.hercules.entry import EntryPoint
from .core.substitute_overrides import SubstituteOverrides


def specialise(module: Module, entry: str, constants: Mapping[str, float]) -> Module:
    SubstituteOverrides(constants).run(module)
    return module


def optimise_hercules(entry: EntryPoint) -> EntryPoint:
    return entry
