"""Entering the tower at core IR: a module from its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .ir.core.nodes import Module
from .ir.core.text import parse
from .ir.core.verify import VerifyError, verify
from .ir.diagnostics import Diagnostic, Severity, ShaderError
from .ir.source import Source
from .ir.types import Stage


@dataclass(frozen=True, slots=True)
class CoreOrigin:
    """A text of core IR, where a compilation may start."""

    source: Source

    def entry_points(self) -> list[str]:
        """The names of the compute entry points. Raises ShaderError for a text that is no valid module."""
        return [function.name for function in self.core().functions if function.stage is Stage.COMPUTE]

    def core(self) -> Module:
        """A fresh module."""
        module = parse(self.source)
        try:
            verify(module)
        except VerifyError as error:
            raise ShaderError([Diagnostic(Severity.ERROR, "core-rule", str(error))], self.source) from None
        return module

    def check_pipeline(self, entry: str, constants: Mapping[str, float]) -> None:
        """Nothing: a pipeline's rules are checked on WGSL, and constants where they are put in place."""

    def workgroup_size(self, entry: str) -> Sequence[int] | None:
        """None: only the module knows."""
