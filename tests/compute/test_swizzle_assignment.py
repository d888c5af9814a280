"""Assignments of several components of a vector agree on all devices with a model of them."""

from __future__ import annotations

from random import Random

import numpy as np
import numpy.typing as npt
import pytest

import tinct
from tinct.devices import DEVICES

LETTERS = "xyzw"
STATEMENTS = 40
MEMORY = {
    "storage": "",
    "private": "var<private> v: array<vec4u, 2>;",
    "workgroup": "var<workgroup> v: array<vec4u, 2>;",
    "function": "",
}


def _target(random: Random) -> tuple[str, list[int]]:
    """A chain of swizzles, and the components of the vector that it stands for, none of them twice."""
    while True:
        text, components = "", [0, 1, 2, 3]
        for _ in range(random.randint(1, 3)):
            picked = [random.randrange(len(components)) for _ in range(random.randint(2, 4))]
            text += "." + "".join(LETTERS[it] for it in picked)
            components = [components[it] for it in picked]
        if random.random() < 0.3:
            place = random.randrange(len(components))
            text += random.choice([f".{LETTERS[place]}", f"[{place}]", f"[{place} + zero]"])
            components = [components[place]]
        if len(set(components)) == len(components):
            return text, components


def _kernel(random: Random, memory: str) -> tuple[str, npt.NDArray[np.uint32]]:
    """A kernel that assigns at random, and what it leaves in the vectors."""
    expected = np.arange(1, 9, dtype=np.uint32).reshape(2, 4)
    lines = list[str]()
    for _ in range(STATEMENTS):
        text, components = _target(random)
        row, other = random.randrange(2), random.randrange(2)
        source = [random.randrange(4) for _ in components]
        value = expected[other][source]
        operator = random.choice(["", "+", "*", "^"])
        before = expected[row][components]
        change = {"": value, "+": before + value, "*": before * value, "^": before ^ value}
        expected[row][components] = change[operator]
        through = random.choice([f"v[{row} + zero]", f"(&v[{row}])", f"(*(&v[{row}]))"])
        lines.append(f"{through}{text} {operator}= v[{other}].{''.join(LETTERS[it] for it in source)};")
    own = {"function": "var v: array<vec4u, 2>; v = start;", "storage": ""}.get(memory, "v = start;")
    stored = "v" if memory == "storage" else "out"
    back = "" if memory == "storage" else "out = v;"
    return (
        f"""requires swizzle_assignment;
@group(0) @binding(0) var<storage, read_write> {stored}: array<vec4u, 2>;
@group(0) @binding(1) var<storage, read> start: array<vec4u, 2>;
@group(0) @binding(2) var<uniform> zero: u32;
{MEMORY[memory]}
@compute @workgroup_size(1) fn main() {{
    {own}
    _ = &start;
    {chr(10).join(lines)}
    {back}
}}""",
        expected,
    )


@pytest.mark.parametrize("memory", MEMORY)
@pytest.mark.parametrize("device", DEVICES)
def test_random_assignments(device: str, memory: str) -> None:
    for seed in range(3):
        source, expected = _kernel(Random(seed), memory)
        start = np.arange(1, 9, dtype=np.uint32).reshape(2, 4)
        first = start if memory == "storage" else np.zeros_like(start)
        name = "v" if memory == "storage" else "out"
        found = tinct.load(source)["main"].run(
            {name: first, "start": start, "zero": np.uint32(0)}, workgroups=1, device=device
        )
        np.testing.assert_array_equal(found[name], expected)


CALLED = """
@group(0) @binding(0) var<storage, read_write> out: array<vec4i, 2>;
var<private> v: vec4i;
fn change() -> vec2i {
    v = vec4i(10, 20, 30, 40);
    return vec2i(1, 2);
}
@compute @workgroup_size(1) fn main() {
    v.zx = change();
    out[0] = v;
    v = vec4i(5, 6, 7, 8);
    v.zx += change();
    out[1] = v;
}
"""


@pytest.mark.parametrize("device", DEVICES)
def test_the_other_components_are_those_after_the_value_is_known(device: str) -> None:
    found = tinct.load(CALLED)["main"].run({"out": np.zeros((2, 4), np.int32)}, workgroups=1, device=device)
    np.testing.assert_array_equal(found["out"], [[2, 20, 1, 40], [7, 20, 8, 40]])


RACE = """
var<workgroup> v: vec4u;
@group(0) @binding(0) var<storage, read_write> out: vec4u;
@compute @workgroup_size(2) fn main(@builtin(local_invocation_index) i: u32) {
    if i == 0 { v.xy = vec2u(1, 2); } else { v.zw = vec2u(3, 4); }
    workgroupBarrier();
    out = v;
}
"""


def test_whole_vectors_are_written_so_that_invocations_race() -> None:
    found = tinct.load(RACE)["main"].sanitize({"out": np.zeros(4, np.uint32)}, workgroups=1).findings
    assert any(it.code == "data-race" and "'v.x'" in it.message for it in found)


def test_written_wgsl_asks_for_no_extension() -> None:
    written = tinct.load("requires swizzle_assignment;" + CALLED).compilation("main", {}).wgsl
    assert "requires" not in written
    assert ".zx =" not in written
