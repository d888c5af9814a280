"""A look inside a dispatch: traces of invocations, who wrote a part of memory, and a debugger that steps back.

All of it runs core IR as it is built, before any pass, on the interpreter's closures, so that every line and every
variable is there. `marks` of `transforms.from_wgsl` say where statements begin; `machine` pauses there.
"""

from __future__ import annotations

from .launch import Launch
from .recorder import Folding
from .trace import Trace, TraceRow, TraceValue, trace
from .writes import Write, Writes, who_wrote

__all__ = ["Folding", "Launch", "Trace", "TraceRow", "TraceValue", "Write", "Writes", "trace", "who_wrote"]
