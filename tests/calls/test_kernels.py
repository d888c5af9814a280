"""Shaders with deep call trees give the answers of Python's integers and of numpy, on each tier and interpreter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.differential.campaign import TIERS, run_on

from tinct.ir.hercules import nodes as h
from tinct.ir.hercules.text import parse, print_module
from tinct.ir.hercules.verify import check as check_module
from tinct.kernel import Kernel
from tinct.shader import load

from . import references

KERNELS = Path(__file__).parent / "kernels"
Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Case:
    """Inputs, the array that is looked at, what it must hold, and the workgroups."""

    buffers: Mapping[str, Any]
    output: str
    expected: Array
    workgroups: tuple[int, int, int]


def _words(seed: int, shape: tuple[int, ...], *, below: int = 2**32) -> npt.NDArray[np.uint32]:
    return np.random.default_rng(seed).integers(0, below, shape, dtype=np.uint32)


@cache
def field(count: int, bits: int) -> Case:
    """Multiples of a point by the lowest bits of scalars, of none and of one among them."""
    scalars = _words(1, (count, 8))
    scalars[:3, 0] = 0, 1, 2
    buffers = {"scalars": scalars, "points": np.zeros((count, 16), np.uint32), "bits": np.uint32(bits)}
    return Case(buffers, "points", references.field(scalars, bits), (-(-count // 16), 1, 1))


@cache
def limbs(count: int, rounds: int) -> Case:
    """Point additions on numbers of 20 limbs."""
    given = _words(2, (count, 20), below=8192)
    given[:, 19] %= 37
    buffers = {"given": given, "found": np.zeros((count, 20), np.uint32), "rounds": np.uint32(rounds)}
    return Case(buffers, "found", references.limbs(given, rounds), (-(-count // 16), 1, 1))


@cache
def machine(count: int, turns: int) -> Case:
    """A random program, on which invocations go different ways."""
    code = _words(3, (40,)) & np.uint32(0x000FFFFF) | _words(4, (40,), below=40) << np.uint32(20)
    inputs = _words(5, (count, 2))
    results = np.zeros((count, 4), np.uint32)
    buffers = {"code": code, "inputs": inputs, "results": results, "turns": np.uint32(turns)}
    return Case(buffers, "results", references.machine(code, inputs, turns), (-(-count // 32), 1, 1))


@cache
def noise(width: int, height: int) -> Case:
    """Warped noise: all operations are exact, or rounded once."""
    params, out = {"width": width, "height": height, "seed": 5}, np.zeros((width * height, 4), np.float32)
    return Case(
        {"params": params, "out": out}, "out", references.noise(width, height, 5), (-(-width // 8), -(-height // 8), 1)
    )


@cache
def march(width: int, height: int, steps: int) -> Case:
    """A scene of several levels, of which rays hit parts."""
    camera = {"width": width, "height": height, "steps": steps, "time": 0.25}
    image = np.zeros((width * height, 4), np.float32)
    expected = references.march(width, height, steps, 0.25)
    return Case({"camera": camera, "image": image}, "image", expected, (-(-width // 8), -(-height // 4), 1))


LARGE: dict[str, Callable[[], Case]] = {
    "field": lambda: field(19, 7),
    "limbs20": lambda: limbs(17, 3),
    "machine": lambda: machine(70, 60),
    "noise": lambda: noise(11, 9),
    "march": lambda: march(11, 6, 12),
}
SMALL: dict[str, Callable[[], Case]] = {
    "field": lambda: field(3, 2),
    "limbs20": lambda: limbs(1, 1),
    "machine": lambda: machine(3, 30),
    "noise": lambda: noise(2, 1),
    "march": lambda: march(2, 1, 6),
}
NAMES = sorted(it.stem for it in KERNELS.glob("*.wgsl"))


@cache
def kernel(name: str) -> Kernel:
    """That of a file, its stages made once for all tests."""
    return load(KERNELS / f"{name}.wgsl").kernel("main")


def check(name: str, cases: Mapping[str, Callable[[], Case]], device: str) -> None:
    """The reference's answer, bit for bit: no operation of these kernels may be rounded in two ways."""
    case = cases[name.partition("_")[0]]()
    for _, found in run_on(kernel(name), case.buffers, case.workgroups, device):
        np.testing.assert_array_equal(found[case.output], case.expected)


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("name", NAMES)
def test_machine_code(name: str, tier: str) -> None:
    check(name, LARGE, tier)


@pytest.mark.parametrize("device", ["interp", "hercules"])
@pytest.mark.parametrize("name", NAMES)
def test_interpreters(name: str, device: str) -> None:
    check(name, SMALL, device)


@pytest.mark.parametrize("name", NAMES)
def test_calls_are_left_after_the_passes(name: str) -> None:
    module = kernel(name).shader.compilation("main", {}).hercules.module
    check_module(module)
    has_calls = any(isinstance(node, h.Call) for function in module.functions for node in function.nodes)
    assert has_calls == (not name.startswith("machine"))
    assert sum(len(function.nodes) for function in module.functions) < 6000


@pytest.mark.parametrize("name", ["field_pointers", "noise_values"])
def test_the_text_form_is_the_same_again(name: str) -> None:
    text = print_module(kernel(name).shader.compilation("main", {}).hercules.module)
    assert print_module(parse(text)) == text
