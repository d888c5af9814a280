"""NumPy, for the kernels that its operations express; results go into the buffers given."""

from __future__ import annotations

import inspect

import numpy as np

from .. import numpy_kernels
from ..problem import Problem
from .base import Prepared, Unsupported, timed


class NumpyCalls:
    """A function of numpy_kernels.py, called with what its parameters name."""

    name = "NumPy"

    def available(self) -> str | None:
        return None

    def version(self) -> str:
        return np.__version__

    def prepare(self, problem: Problem) -> Prepared:
        function = getattr(numpy_kernels, problem.case.kernel, None)
        if function is None:
            raise Unsupported("no natural form in NumPy")
        available = problem.arguments()
        arguments = {name: available[name] for name in inspect.signature(function).parameters}
        return Prepared(timed(lambda: function(**arguments)))
