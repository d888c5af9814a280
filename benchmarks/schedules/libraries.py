"""What PyTorch does for a nest on an NVIDIA or AMD GPU, with the vendor's libraries, if it is installed.

It runs in this process, beside that of WebGPU, on the same card; nothing is rounded to fewer bits than f32 has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tinct.tuning.bench import repeats_on_gpu

_CALLS: Final[Mapping[str, Callable[..., Any]]] = {
    "sum": lambda torch, x: torch.sum(x),
    "row sums": lambda torch, x: torch.sum(x, 1),
    "column sums": lambda torch, x: torch.sum(x, 0),
    "dot": lambda torch, a, b: torch.dot(a, b),
    "matrix-vector": lambda torch, a, x: torch.mv(a, x),
    "batched products": lambda torch, a, b: torch.bmm(a, b),
    "convolution 3×3": lambda torch, image, weights: torch.conv2d(image[None], weights)[0],
    "convolution 7×7": lambda torch, image, weights: torch.conv2d(image[None], weights)[0],
    "transpose": lambda torch, x: x.t().contiguous(),
    "softmax": lambda torch, x: torch.softmax(x, 1),
    "layer norm": lambda torch, x: torch.layer_norm(x, x.shape[1:]),
    "argmax": lambda torch, x: torch.argmax(x, 1).to(torch.int32),
}


class Library:
    """PyTorch's function for a nest, with its inputs on the card."""

    def __init__(self, name: str, inputs: Mapping[str, npt.NDArray[Any]]) -> None:
        self._torch = import_module("torch")
        self._torch.backends.cuda.matmul.allow_tf32 = False
        self._torch.backends.cudnn.allow_tf32 = False
        self._call = _call_for(name)
        self._inputs = [self._torch.from_numpy(np.ascontiguousarray(it)).cuda() for it in inputs.values()]

    @staticmethod
    def has(name: str) -> bool:
        """Whether PyTorch is there, with a card, and has a function for the nest."""
        if _call_for(name) is None or find_spec("torch") is None:
            return False
        return bool(import_module("torch").cuda.is_available())

    def result(self) -> npt.NDArray[Any]:
        """What it computes."""
        found: npt.NDArray[Any] = self._run().cpu().numpy()
        return found

    def seconds(self) -> float:
        """The time of a call on the card's own clock, the mean of some."""
        return self._timed(repeats_on_gpu(self._timed(1)))

    def _run(self) -> Any:
        assert self._call is not None
        return self._call(self._torch, *self._inputs)

    def _timed(self, repeats: int) -> float:
        begin, end = (self._torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(repeats):
            self._run()
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) * 1e-3 / repeats


def _call_for(name: str) -> Callable[..., Any] | None:
    if name.startswith("product") and "in f32" not in name:
        return lambda torch, a, b: torch.matmul(a, b)
    return _CALLS.get(name)
