"""The kernels of `shaders/` that compute what a nest computes, or do the same work on the same data.

A blur with other weights does the same work; `expected` is then what NumPy says of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

import tinct
from tinct.base.errors import TinctError
from tinct.buffers import buffer_elements
from tinct.sessions import Buffer, Session
from tinct.sessions.calls import Options
from tinct.sessions.gpu_replay import GpuReplay, replay_of
from tinct.sessions.launches import Launch
from tinct.tuning.bench import repeats_on_gpu

from . import references
from .nests import BINS
from .references import Array

SHADERS: Final = Path(__file__).parents[2] / "shaders"
RESULT: Final = "result"
_PATIENCE: Final = 15.0
"""Seconds that a dispatch may take on a GPU."""
_PARTS: Final = 512
"""Numbers that a workgroup of `reduce.wgsl` adds up."""
_GROUPS: Final = 256
"""Workgroups of a dot product."""

Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Step:
    """A dispatch. `bindings` are the names of buffers, by the variables of the shader."""

    shader: str
    workgroups: tuple[int, int, int]
    bindings: Mapping[str, str]
    entry: str = "main"


@dataclass(frozen=True)
class HandWritten:
    """Dispatches, one after another. `made` are buffers beside the inputs of the nest, with what they have at first."""

    name: str
    steps: Sequence[Step]
    made: Arrays
    expected: Array | None = None
    constants: Mapping[str, int] = field(default_factory=dict[str, int])


class Prepared:
    """A kernel by hand on a device, with its buffers."""

    def __init__(self, kernel: HandWritten, inputs: Arrays, device: str, *, contract: bool) -> None:
        self._session = Session(device)
        self._patience = None if device == "cpu" else _PATIENCE
        values = {**inputs, **kernel.made}
        self._buffers = {name: self._session.buffer(buffer_elements(it)) for name, it in values.items()}
        self._launches = [self._launch(it, kernel.constants, device, contract=contract) for it in kernel.steps]
        self._device = device

    def _launch(self, step: Step, constants: Mapping[str, int], device: str, *, contract: bool) -> Launch:
        kernel = tinct.load(SHADERS / step.shader)[step.entry]
        bound: dict[str, Buffer | Any] = {name: self._buffers[it] for name, it in step.bindings.items()}
        chosen = {name: it for name, it in constants.items() if name in kernel.shader.overrides}
        options = Options(step.workgroups, None, chosen, device, contract=contract, is_trial=False)
        return self._session.prepared(kernel, bound, options)

    def result(self) -> Array:
        """What the output has after a run."""
        for it in self._launches:
            it.start(self._patience)
        found: Array = self._buffers[RESULT].numpy()
        return found

    def seconds(self) -> float:
        """The time of a run; on a GPU the mean of some, on its own clock."""
        replay = self._replay
        if replay is not None:
            repeats = repeats_on_gpu(replay.seconds(1, timeout=self._patience))
            return replay.seconds(repeats, timeout=self._patience) / repeats
        started = time.perf_counter()
        for it in self._launches:
            it.again()
        self._session.wait(self._patience)
        return time.perf_counter() - started

    @cached_property
    def _replay(self) -> GpuReplay | None:
        if self._device == "cpu":
            return None
        return replay_of(self._session.gpu(self._device), "a kernel by hand", self._launches)

    def close(self) -> None:
        """Release the buffers."""
        with suppress(TinctError):  # a device that failed has nothing to give back
            self._session.close()


def hand_written(name: str, sizes: Mapping[str, int], inputs: Arrays) -> list[HandWritten]:
    """All kernels by hand that are to be compared with a nest."""
    find = _KERNELS.get("product" if name.startswith("product") else name)
    return [] if find is None or " of f16" in name else list(find(sizes, inputs))


def _products(sizes: Mapping[str, int], _: Arrays) -> Iterator[HandWritten]:
    m, k, n = sizes["m"], sizes["inner"], sizes["n"]
    made = {"size": np.array([m, k, n], np.uint32), RESULT: np.zeros(m * n, np.float32)}
    for name, columns, rows in (("naive", 8, 8), ("tiled", 16, 16), ("blocks", 64, 64), ("vec4", 32, 32)):
        if name == "vec4" and (n % 4 or k % 4):
            continue
        yield _single(f"matmul/matmul_{name}.wgsl", (ceil(n / columns), ceil(m / rows), 1), ("a", "b"), "c", made)
    flat = "matmul/matmul_flat_tiles.wgsl"
    width, height, _depth = tinct.load(SHADERS / flat)["main"].workgroup_size({})
    yield _single(flat, (ceil(n / width), ceil(m / height), 1), ("a", "b"), "c", made)


def _single(
    shader: str,
    workgroups: tuple[int, int, int],
    inputs: Sequence[str],
    output: str,
    made: Arrays,
    entry: str = "main",
    expected: Array | None = None,
) -> HandWritten:
    """A kernel of one dispatch, whose inputs have the names that the nest's have."""
    others = {it: it for it in made if it != RESULT}
    bindings = {**{it: it for it in inputs}, **others, output: RESULT}
    name = Path(shader).stem + ("" if entry == "main" else f", {entry}")
    return HandWritten(name, [Step(shader, workgroups, bindings, entry)], made, expected)


def _tree(values: str, count: int) -> tuple[list[Step], dict[str, npt.NDArray[Any]]]:
    """Sums of parts, and of these, until one is left."""
    steps, made = list[Step](), dict[str, npt.NDArray[Any]]()
    while count > 1:
        count = ceil(count / _PARTS)
        parts = RESULT if count == 1 else f"parts{len(made)}"
        made[parts] = np.zeros(count, np.float32)
        steps.append(Step("reduce/reduce.wgsl", (count, 1, 1), {"values": values, "partial_sums": parts}))
        values = parts
    return steps, made


def _sum(sizes: Mapping[str, int], _: Arrays) -> Iterator[HandWritten]:
    steps, made = _tree("x", sizes["n"])
    yield HandWritten("reduce, again and again", steps, made, constants={"width": _PARTS // 2})


def _dot(_: Mapping[str, int], __: Arrays) -> Iterator[HandWritten]:
    steps, made = _tree("products", _GROUPS)
    bindings = {"x": "a", "y": "b", "partial_products": "products"}
    first = Step("reduce/reduce_strided.wgsl", (_GROUPS, 1, 1), bindings)
    made["products"] = np.zeros(_GROUPS, np.float32)
    yield HandWritten("reduce_strided, reduce", [first, *steps], made, constants={"width": _PARTS // 2})


def _histogram(sizes: Mapping[str, int], inputs: Arrays) -> Iterator[HandWritten]:
    """Counts the top bytes of keys, here those of the numbers modulo the bins: they are added up in each run."""
    bins = inputs["x"] % BINS
    made = {"keys": (bins << 24).astype(np.uint32), RESULT: np.zeros(BINS, np.uint32)}
    expected = np.bincount(bins, minlength=BINS).astype(np.uint32)
    workgroups = ceil(sizes["n"] / 4096), 1, 1
    yield _single("histogram/histogram_coalesced.wgsl", workgroups, (), "counts", made, expected=expected)


def _transpose(sizes: Mapping[str, int], _: Arrays) -> Iterator[HandWritten]:
    rows, columns = sizes["rows"], sizes["columns"]
    made = {"size": np.array([columns, rows], np.uint32), RESULT: np.zeros(rows * columns, np.float32)}
    step = Step(
        "transpose/transpose.wgsl",
        (ceil(columns / 16), ceil(rows / 16), 1),
        {"size": "size", "matrix": "x", "transposed": RESULT},
    )
    yield HandWritten("transpose", [step], made)


def _softmax(sizes: Mapping[str, int], _: Arrays) -> Iterator[HandWritten]:
    rows, columns = sizes["rows"], sizes["columns"]
    made = {"columns": np.array([columns], np.uint32), RESULT: np.zeros(rows * columns, np.float32)}
    bindings = {"columns": "columns", "scores": "x", "shares": RESULT}
    yield HandWritten("softmax", [Step("softmax/softmax.wgsl", (rows, 1, 1), bindings)], made)


def _attention(sizes: Mapping[str, int], _: Arrays) -> Iterator[HandWritten]:
    queries, keys = sizes["queries"], sizes["keys"]
    if sizes["depth"] != 32 or sizes["width"] != 32:
        return
    made = {"params": np.array([queries, keys], np.uint32), RESULT: np.zeros(queries * 32, np.float32)}
    workgroups = ceil(queries / 64), 1, 1
    yield _single("attention/attention.wgsl", workgroups, ("q", "k", "v"), "attended", made)


def _blur(sizes: Mapping[str, int], inputs: Arrays) -> Iterator[HandWritten]:
    h, w = sizes["h"], sizes["w"]
    made = {"size": np.array([w, h], np.uint32), RESULT: np.zeros(h * w, np.float32)}
    bindings = {"size": "size", "source": "u", "blurred": RESULT}
    step = Step("blur/blur.wgsl", (ceil(w / 16), ceil(h / 4), 1), bindings)
    yield HandWritten("blur", [step], made, references.binomial(inputs["u"]))


def _line(entry: str, width: int, height: int) -> Callable[[Mapping[str, int], Arrays], Iterator[HandWritten]]:
    def find(sizes: Mapping[str, int], _: Arrays) -> Iterator[HandWritten]:
        h, w = sizes["h"], sizes["w"]
        made = {"size": np.array([w, h], np.int32), RESULT: np.zeros(h * w, np.float32)}
        bindings = {"size": "size", "weights": "weights", "source": "u", "result": RESULT}
        step = Step("convolution/convolution.wgsl", (ceil(w / width), ceil(h / height), 1), bindings, entry)
        yield HandWritten(f"convolution, {entry}", [step], made)

    return find


_KERNELS: Final[Mapping[str, Callable[[Mapping[str, int], Arrays], Iterator[HandWritten]]]] = {
    "product": _products,
    "sum": _sum,
    "dot": _dot,
    "histogram": _histogram,
    "transpose": _transpose,
    "softmax": _softmax,
    "attention, 32 wide": _attention,
    "3×3 stencil": _blur,
    "17 weights along rows": _line("rows", 64, 4),
    "17 weights along columns": _line("columns", 16, 16),
}
