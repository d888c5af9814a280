"""For the tests of people who write WGSL.

- `agreeing`: `assert_agrees`, a kernel on several devices. `strategies`: Hypothesis strategies for buffers.
- `wgsl_tests`: tests that are WGSL functions. `wgsl_text` makes a shader of their text, with `expectations`, which
  writes what `expect…` stands for, and `edits`, which keeps places.
- `plugin`: what pytest loads. It imports the rest when a test needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["Tolerance", "WgslTests", "assert_agrees", "buffers", "devices_that_answer"]

if TYPE_CHECKING:
    from ..compare import Tolerance
    from .agreeing import assert_agrees, devices_that_answer
    from .strategies import buffers
    from .wgsl_tests import WgslTests

_HOMES = {
    "Tolerance": "..compare",
    "WgslTests": ".wgsl_tests",
    "assert_agrees": ".agreeing",
    "buffers": ".strategies",
    "devices_that_answer": ".agreeing",
}


def __getattr__(name: str) -> object:
    """The public names, imported when first wanted: pytest imports this package whenever it starts."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name], __name__), name)
