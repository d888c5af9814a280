"""tinct compiles WGSL compute shaders in Python: one kernel, every device, the same answer.

`load` a shader, look at its `entry_points`, `bindings` and `structs`, and `run` a kernel on the CPU, the GPU or a
reference interpreter:

    import numpy as np, tinct

    shader = tinct.load("saxpy.wgsl")
    outputs = shader["main"].run({"x": x, "y": y, "params": params}, threads=len(x), device="cpu")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "DEVICES",
    "Buffer",
    "DeviceError",
    "Diagnostic",
    "EmittedPlan",
    "Graph",
    "GraphProgram",
    "HerculesFile",
    "HerculesFunction",
    "InputError",
    "Kernel",
    "Nest",
    "Sampler",
    "Session",
    "Shader",
    "ShaderError",
    "ShaderFunction",
    "TinctError",
    "evaluate",
    "graph",
    "host",
    "load",
    "load_graph",
    "load_hercules",
    "load_plan",
    "parse_nest",
    "printed",
]

if TYPE_CHECKING:
    from . import coverage as coverage
    from . import passes as passes
    from . import testing as testing
    from .base.errors import DeviceError, InputError, TinctError
    from .devices import DEVICES
    from .functions import HerculesFile, HerculesFunction, load_hercules
    from .graphs import EmittedPlan, Graph, GraphProgram, graph, host, load_graph, load_plan
    from .ir.diagnostics import Diagnostic, ShaderError
    from .ir.samplers import Sampler
    from .kernel import Kernel
    from .nests import Nest, parse_nest
    from .print_lines import printed
    from .sessions import Buffer, Session
    from .shader import Shader, load
    from .wgsl_functions import ShaderFunction, evaluate

_HOMES = {
    "DEVICES": "devices",
    "Kernel": "kernel",
    "Sampler": "ir.samplers",
    "Shader": "shader",
    "load": "shader",
    "printed": "print_lines",
    **dict.fromkeys(("Buffer", "Session"), "sessions"),
    **dict.fromkeys(("ShaderFunction", "evaluate"), "wgsl_functions"),
    **dict.fromkeys(("EmittedPlan", "Graph", "GraphProgram", "graph", "host", "load_graph", "load_plan"), "graphs"),
    **dict.fromkeys(("Nest", "parse_nest"), "nests"),
    **dict.fromkeys(("HerculesFile", "HerculesFunction", "load_hercules"), "functions"),
    **dict.fromkeys(("DeviceError", "InputError", "TinctError"), "base.errors"),
    **dict.fromkeys(("Diagnostic", "ShaderError"), "ir.diagnostics"),
}
_MODULES = ("coverage", "passes", "testing")


def __getattr__(name: str) -> object:
    """The public names, imported when first wanted, so that `import tinct.ir` stays light."""
    if name not in _HOMES and name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    from .base.interpreter_state import paused_collection

    with paused_collection():  # classes and functions are not garbage
        if name in _MODULES:
            return importlib.import_module(f".{name}", __name__)
        value: object = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value
