"""Vectors of integers divided by one number: exact at the ends of the range and beside multiples, on all targets."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.backend.cpu.gangs.values.divisions import short_division
from tinct.backend.cpu.target import LEVELS, compiling_for, current_target
from tinct.base.errors import InputError

KERNEL = """
@group(0) @binding(0) var<uniform> divisor: TYPE;
@group(0) @binding(1) var<storage> given: array<TYPE>;
@group(0) @binding(2) var<storage, read_write> found: array<vec2<TYPE>>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    let x = given[id.x];
    found[id.x] = vec2<TYPE>(x / divisor, x % divisor);
}
"""
ENDS = {"u32": (0, 2**32 - 1), "i32": (-(2**31), 2**31 - 1)}


def numbers(type: str, divisor: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The ends of the range, numbers around multiples of the divisor, and random ones."""
    least, most = ENDS[type]
    random = np.random.default_rng(1).integers(least, most, 512, endpoint=True)
    multiples = random[:200] // (divisor or 1) * divisor
    ends = [it + step for it in (least, 0, most) for step in range(-2, 3)]
    found = np.concatenate([random, multiples - 1, multiples, multiples + 1, np.array(ends)])
    return np.clip(found, least, most)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("type", ENDS)
def test_quotients_and_remainders_are_exact(type: str, level: str) -> None:
    kernel = tinct.load(KERNEL.replace("TYPE", type))["main"]
    least, most = ENDS[type]
    divisors = [0, 1, 2, 3, 7, 641, 65535, 65536, 65537, most // 2, most // 2 + 1, most - 1, most]
    divisors += [] if least == 0 else [-1, -2, -3, -65537, least, least + 1]
    with compiling_for(level):
        try:
            current_target()
        except InputError as error:
            pytest.skip(str(error))
        for divisor in divisors:
            given = numbers(type, divisor).astype(type.replace("u32", "uint32").replace("i32", "int32"))
            buffers = {"divisor": divisor, "given": given, "found": np.zeros((len(given), 2), given.dtype)}
            expected = kernel.run(buffers, threads=len(given), device="interp")["found"]
            found = kernel.run(buffers, threads=len(given), device="cpu")["found"]
            np.testing.assert_array_equal(found, expected, err_msg=f"divided by {divisor}")


SMALL = """
@group(0) @binding(0) var<storage> given: array<u32>;
@group(0) @binding(1) var<storage, read_write> found: array<vec4u>;
const TABLE = array<u32, 4>(MOST, 3u, MOST / 2u, 1u);
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    let x = min(given[id.x], MOST);
    let y = TABLE[x % 4u];
    found[id.x] = vec4u(x / DIVISORu, x % DIVISORu, y / DIVISORu, y % DIVISORu);
}
"""


@pytest.mark.parametrize("most", [0xFF, 0x3FF, 0xFFFF, 130305, 0xFFFFFF, 0xFFFFFFFF])
@pytest.mark.parametrize("divisor", [3, 10, 18, 255, 1000, 32640])
def test_small_numbers_are_divided_by_one_product(most: int, divisor: int) -> None:
    kernel = tinct.load(SMALL.replace("MOST", f"{most}u").replace("DIVISOR", str(divisor)))["main"]
    given = np.clip(numbers("u32", divisor) % (most + 1), 0, most).astype(np.uint32)
    given[:4] = most, most - 1, 0, 1
    found = kernel.run({"given": given, "found": np.zeros((given.size, 4), np.uint32)}, threads=given.size)["found"]
    np.testing.assert_array_equal(found[:, 0], given // divisor)
    np.testing.assert_array_equal(found[:, 1], given % divisor)
    table = np.array([most, 3, most // 2, 1], np.uint32)[given % 4]
    np.testing.assert_array_equal(found[:, 2], table // divisor)
    np.testing.assert_array_equal(found[:, 3], table % divisor)


@pytest.mark.parametrize("bits", [4, 8, 12, 16])
def test_short_divisions_are_exact(bits: int) -> None:
    """For all numbers up to the greatest, and all divisors that have such a division."""
    x = np.arange(1 << bits, dtype=np.uint64)
    made = 0
    for divisor in range(1, min(1 << bits, 700)):
        found = short_division((1 << bits) - 1, divisor)
        if found is not None:
            made += 1
            products = (x >> found.before) * found.factor
            assert products.max() < 1 << 32
            np.testing.assert_array_equal(products >> found.after, x // divisor, err_msg=str(divisor))
    others = sum(1 for it in range(1, min(1 << bits, 700)) if it & (it - 1))
    assert made == others if bits < 16 else made > others // 2


def test_divisions_that_are_not_short() -> None:
    assert short_division(255, 0) is None
    assert short_division(255, 16) is None
    assert short_division((1 << 32) - 1, 3) is None
    assert short_division((1 << 40) - 1, 3) is None


OFTEN = """
@group(0) @binding(0) var<storage, read> divisors: array<u32>;
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read_write> quotients: array<u32>;
@group(0) @binding(3) var<storage, read_write> remainders: array<u32>;
@group(0) @binding(4) var<storage, read> table: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    for (var j = 0u; j < arrayLength(&divisors); j++) {
        let divisor = divisors[j];
        for (var k = 0u; k < arrayLength(&starts); k++) {
            let x = starts[k] + id.x;
            let at = (j * arrayLength(&starts) + k) * 64u + id.x;
            quotients[at] = x / divisor + table[(x / divisor) & 15u];
            remainders[at] = x % divisor;
        }
    }
}
"""


@pytest.mark.parametrize("cpu_target", ["x86-64-v2", "x86-64-v3", "native"], indirect=True)
@pytest.mark.usefixtures("cpu_target")
def test_a_number_that_divides_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    random, top = np.random.default_rng(8), 2**32
    edges = [0, 1, 2, 3, 5, 7, 15, 16, 17, 63, 64, 65, 641, 2**16 - 1, 2**16, 2**16 + 1, 6700417, 2**31 - 1, 2**31]
    numbers = [*edges, *(top - it for it in (1, 2, 15, 16, 17, 64, 2**16)), *random.integers(0, top, 8).tolist()]
    multiples = [(it * int(random.integers(1, top)) - 8) % top for it in numbers]
    starts = np.array([*numbers, *multiples], np.uint32)
    divisors = np.array(numbers, np.uint32)
    used = {
        "divisors": divisors,
        "starts": starts,
        "quotients": np.zeros(divisors.size * starts.size * 64, np.uint32),
        "remainders": np.zeros(divisors.size * starts.size * 64, np.uint32),
        "table": np.zeros(16, np.uint32),
    }
    kernel = tinct.load(OFTEN)["main"]
    assert "i128" in kernel.shader.compilation("main", {}).cpu.llvm(optimised=False), "no reciprocal"
    found = kernel.run(used, workgroups=1)
    x = (starts[None, :, None] + np.arange(64, dtype=np.uint32)).astype(np.int64) % top
    by = divisors.astype(np.int64)[:, None, None]
    quotients = np.where(by == 0, x, x // np.maximum(by, 1))
    remainders = np.where(by == 0, 0, x % np.maximum(by, 1))
    np.testing.assert_array_equal(found["quotients"], quotients.reshape(-1))
    np.testing.assert_array_equal(found["remainders"], remainders.reshape(-1))
