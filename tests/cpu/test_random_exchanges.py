"""Random workgroups whose invocations exchange values of several arrays, of which few are used in the end: the
interpreter's answers on all levels of the processor. What is not used, LLVM leaves out of vectors.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from tests.cpu.levels import available
from tests.machines import machine

import tinct

KERNEL = """
@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
ARRAYS
@compute @workgroup_size(THREADS)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3u) {
STATEMENTS
}
"""
TYPES = ("i32", "u32", "f32")
CALLS = {
    "i32": ("min(A, B)", "max(A, B)", "A + B", "A - B", "A ^ B", "select(A, B, A < B)"),
    "u32": ("min(A, B)", "max(A, B)", "A + B", "A & B", "A ^ B", "(A << 1u) ^ B"),
    "f32": ("min(A, B)", "max(A, B)", "A + B", "A - B", "select(A, B, A < B)"),
}
PLACES = (
    "lane ^ POWERu",
    "(lane + POWERu) % THREADSu",
    "min(lane + POWERu, THREADSu - 1u)",
    "max(lane, POWERu) - POWERu",
    "THREADSu - 1u - lane",
    "lane / 2u * 2u",
    "select(lane, lane + POWERu, lane < POWERu)",
    "lane & ~POWERu",
)
CONDITIONS = ("true", "lane < POWERu", "lane % 2u == 0u", "(lane & POWERu) == 0u", "lane >= POWERu", "lane == 0u")
BARRIER = "workgroupBarrier();"


def chosen_calls(random: Random, arrays: dict[str, str]) -> dict[str, str]:
    """An operation for each of some arrays, half the time the same for all."""
    some = random.sample(list(arrays), random.randint(1, len(arrays)))
    is_alike, place = random.random() < 0.5, random.random()
    calls = {it: CALLS[arrays[it]] for it in some}
    return {it: own[int(place * len(own))] if is_alike else random.choice(own) for it, own in calls.items()}


def tree(random: Random, arrays: dict[str, str], threads: int) -> list[str]:
    """The values of all lanes come to the first one, or to the first two: lanes take what idle ones have."""
    calls, half, lines = chosen_calls(random, arrays), threads // 2, list[str]()
    last = random.choice((1, 1, 2))
    while half >= last:
        values, stores = exchanged(calls, f"lane + {half}u")
        lines += [f"    if lane < {half}u {{ {' '.join((*values, *stores))} }}", BARRIER]
        half //= 2
    return lines


def step(random: Random, arrays: dict[str, str], threads: int) -> list[str]:
    """Some lanes take what any others have."""
    values, stores = exchanged(chosen_calls(random, arrays), "at")
    lines = [f"let at = {random.choice(PLACES)};", *values, BARRIER]
    lines += [f"if {random.choice(CONDITIONS)} {{ {' '.join(stores)} }}", BARRIER]
    power = 1 << random.randrange(threads.bit_length() - 1)
    return ["    {", *(it.replace("POWER", str(power)) for it in lines), "    }"]


def exchanged(calls: dict[str, str], place: str) -> tuple[list[str], list[str]]:
    """What computes the new elements of arrays, and what stores them."""
    new = {it: call.replace("A", f"{it}[lane]").replace("B", f"{it}[{place}]") for it, call in calls.items()}
    return [f"let {it}_new = {value};" for it, value in new.items()], [f"{it}[lane] = {it}_new;" for it in new]


def kernel(random: Random) -> tuple[str, int]:
    """A kernel, and the threads of its workgroup."""
    threads = random.choice((4, 8, 16, 16, 16, 32, 64))
    arrays = {f"a{number}": random.choice(TYPES) for number in range(random.randint(1, 3))}
    if random.random() < 0.5:
        arrays = dict.fromkeys(arrays, random.choice(TYPES))
    body = [
        f"    {name}[lane] = {type}(data[(group.x * {threads}u + lane) * {number + 1}u % arrayLength(&data)]);"
        for number, (name, type) in enumerate(arrays.items())
    ]
    body.append(BARRIER)
    for _ in range(random.randint(0, 3)):
        body += step(random, arrays, threads)
    if random.random() < 0.6:
        body += tree(random, arrays, threads)
    used = random.choice(("lane == 0u", "lane == 0u", "lane < 2u", "lane < 4u", "true", "lane == THREADSu - 1u"))
    place = random.choice(("lane", "0u", "0u", "1u"))
    total = " + ".join(f"{it * 7 + 1}u * bitcast<u32>({name}[{place}])" for it, name in enumerate(arrays))
    body.append(f"    if {used} {{ out[group.x * THREADSu + lane] = {total}; }}")
    declared = "\n".join(f"var<workgroup> {it}: array<{type}, THREADS>;" for it, type in arrays.items())
    text = KERNEL.replace("STATEMENTS", "\n".join(body)).replace("ARRAYS", declared)
    return text.replace("THREADS", str(threads)), threads


@pytest.mark.parametrize("seed", range(60))
def test_answers(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text, threads = kernel(Random(seed))
    data = np.random.default_rng(seed).integers(0, 1000, 3 * threads, np.uint32)
    buffers = {"data": data, "out": np.zeros(3 * threads, np.uint32)}
    main = tinct.load(text)["main"]
    expected = main.run(dict(buffers), workgroups=3, device="interp")["out"]
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    for level in available():
        monkeypatch.setenv("TINCT_CPU_TARGET", level)
        with machine(seed):
            found = main.run(dict(buffers), workgroups=3, device="cpu")["out"]
        np.testing.assert_array_equal(found, expected, err_msg=f"{level}\n{text}")
