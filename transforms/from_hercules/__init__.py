"""From Hercules IR to core IR, and with it to WGSL for a GPU."""

from __future__ import annotations

from .kernel import entry_module

__all__ = ["entry_module"]
