"""Why two kernels are not fused."""

from __future__ import annotations

from ...ir.source import Span


class Refused(Exception):
    """Two kernels are not fused: the reason in words, about the kernel `kernel`, and its place in the shader.

    Ends in the module that asked; no user sees it.
    """

    def __init__(self, reason: str, span: Span | None, kernel: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span
        self.kernel = kernel
