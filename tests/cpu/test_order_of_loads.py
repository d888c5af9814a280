"""Loads stay among the sums that they are written among, so that sums stay in registers."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tinct import Nest
from tinct.backend.cpu import CompiledKernel, CpuOptions, compile_entry
from tinct.backend.cpu.emit import Tier

OUTPUTS, INPUTS, SIDE = 8, 4, 38
SIZES = {"outputs": OUTPUTS, "h": SIDE, "w": SIDE, "inputs": INPUTS}
OF_BUFFERS = """o: workgroup * unrolled(4)
y: workgroup * unrolled(3)
x: workgroup * loop(2) * invocation(8)
c: loop
dy: unrolled
dx: unrolled
order: x.1, c.0, dx.0, dy.0, o.1, y.1
"""
"""Blocks of 12 sums, and a window that is written out: with a weight and three rows, these take 16 registers."""
OF_A_TILE = OF_BUFFERS.replace("dx: unrolled", "dx: loop") + "stage image\n"


def convolution() -> Nest:
    """A window of 3 by 3 over channels."""
    nest = Nest("convolved")
    o, y, x = nest.dim("outputs", name="o"), nest.dim("h", name="y"), nest.dim("w", name="x")
    c, dy, dx = nest.dim("inputs", name="c"), nest.dim(3, name="dy"), nest.dim(3, name="dx")
    extents = [nest.size("inputs"), nest.size("h") + 2, nest.size("w") + 2]
    image = nest.load("image", "f32", [c, y + dy, x + dx], extents=extents)
    products = image * nest.load("weights", "f32", [o, c, dy, dx])
    nest.store("result", nest.reduce("+", products, on=[c, dy, dx]), [o, y, x])
    return nest


def compiled(decisions: str, tier: Tier = "gang") -> CompiledKernel:
    kernel = convolution().lower(decisions, sizes=SIZES, reassociate=True).kernel
    return compile_entry(kernel.compilation({}).hercules, CpuOptions(tier=tier, contract=True))


def moves_in_loops(assembly: str, products: int) -> list[int]:
    """How often each loop with so many products stores a vector on the stack or loads it from there."""
    lines, labels, found = assembly.split("\n"), dict[str, int](), list[int]()
    for number, line in enumerate(lines):
        if label := re.match(r"(\.LBB\w+):", line):
            labels[label[1]] = number
        jump = re.match(r"\s+j\w+\s+(\.LBB\w+)", line)
        body = lines[labels[jump[1]] : number] if jump and jump[1] in labels else []
        if sum("vfmadd" in it for it in body) == products:
            found.append(sum("(%rsp)" in it and "%ymm" in it for it in body))
    return found


@pytest.mark.parametrize("cpu_target", ["x86-64-v3"], indirect=True)
@pytest.mark.parametrize(("decisions", "products"), [(OF_BUFFERS, 4 * 3 * 9), (OF_A_TILE, 4 * 3 * 3)])
@pytest.mark.usefixtures("cpu_target")
def test_sums_that_take_most_registers_stay_there(decisions: str, products: int) -> None:
    first, *_ = moves_in_loops(compiled(decisions).assembly(), products)
    assert first == 0  # the loop without tests


@pytest.mark.parametrize("cpu_target", ["x86-64-v2", "x86-64-v3", "x86-64-v4"], indirect=True)
@pytest.mark.parametrize("decisions", [OF_BUFFERS, OF_A_TILE])
@pytest.mark.usefixtures("cpu_target")
def test_results_are_those_of_single_invocations(decisions: str) -> None:
    random, found = np.random.default_rng(5), list[bytes]()
    image = random.integers(-8, 8, INPUTS * (SIDE + 2) ** 2).astype(np.float32)
    weights = random.integers(-8, 8, OUTPUTS * INPUTS * 9).astype(np.float32)
    lowered = convolution().lower(decisions, sizes=SIZES, reassociate=True)
    [(_, workgroups)] = lowered.dispatches(SIZES)
    tiers: tuple[Tier, ...] = ("gang", "lane")
    for tier in tiers:
        result = np.zeros(OUTPUTS * SIDE * SIDE, np.float32)
        buffers = [it.view(np.uint8) for it in (image, weights, result)]
        compiled(decisions, tier).run(buffers, workgroups)
        found.append(result.tobytes())
    assert any(found[0])
    assert found[0] == found[1]
