"""Numba: the loops of numba_kernels, compiled with prange and without fastmath."""

from __future__ import annotations

import inspect
import time
from importlib.util import find_spec

from ..problem import Problem
from .base import Prepared, Unsupported, timed


class NumbaLoops:
    """A function of numba_kernels, called with what its parameters name."""

    name = "Numba"

    def available(self) -> str | None:
        return None if find_spec("numba") else "numba is not installed"

    def version(self) -> str:
        import numba

        return f"{numba.__version__}, {numba.get_num_threads()} threads"

    def prepare(self, problem: Problem) -> Prepared:
        from ..numba_kernels import MODULES

        name = problem.case.kernel
        function = next((getattr(module, name) for module in MODULES if hasattr(module, name)), None)
        if function is None:
            raise Unsupported("not written for this peer")
        available = problem.arguments()
        arguments = [available[name] for name in inspect.signature(function.py_func).parameters]
        problem.restore()
        start = time.perf_counter()
        function(*arguments)
        compile_seconds = time.perf_counter() - start
        return Prepared(timed(lambda: function(*arguments)), compile_seconds)
