"""Random loops whose turns are known of each thread: the interpreter's answers on all levels of the processor."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from tests.cpu.levels import available
from tests.machines import machine

import tinct

KERNEL = """
@group(0) @binding(0) var<storage> data: array<u32>;
@group(0) @binding(1) var<uniform> n: u32;
@group(0) @binding(2) var<storage, read_write> found: array<u32>;
@group(0) @binding(3) var<storage, read_write> halves: array<f32>;
var<workgroup> words: array<u32, WORDS>;
@compute @workgroup_size(SHAPE) fn main(
    @builtin(local_invocation_index) t: u32,
    @builtin(local_invocation_id) local: vec3u,
    @builtin(workgroup_id) group: vec3u,
) {
    var sum = group.x;
    var last = 0u;
    var half = 0.0;
    var mine: array<u32, 4>;
BODY
    found[group.x * THREADSu + t] = sum + last * 7u + mine[0] + mine[1] * 3u + mine[2] * 5u + mine[3] * 11u;
    halves[group.x * THREADSu + t] = half;
}
"""
SHAPES = ((64, 1, 1), (16, 8, 1), (8, 8, 4), (32, 4, 1), (128, 1, 1))
STATEMENTS = (
    "sum = sum * 3u + data[(AT * 5u + 2u) % 97u];",
    "if AT % MODULUS == REST { sum ^= AT + n; } else { last = AT; }",
    "sum += words[AT % WORDSu];",
    "mine[AT % 4u] += sum;",
    "if sum % 5u == 0u { last += AT; }",
    "half += f32(AT) * 0.5;",
)
FILL = "for (var i = t; i < WORDSu; i += THREADSu) { IF { words[i] = WORD; } }"
BARRIER = "workgroupBarrier();"


def loop(random: Random, threads: int, name: str, depth: int) -> str:
    """A loop that counts up or down from something that differs from thread to thread, at times with one inside."""
    firsts = ("t", "local.x", "local.y", "t * 2u", "t / 3u", "t / 64u * 5u", f"({threads - 1}u - t)", "t % 7u")
    first = random.choice(firsts)
    step = random.choice((1, 3, threads // 4, threads // 2, threads))
    limit = random.choice((5, threads // 2 + 1, threads + 7, 2 * threads - 3))
    step = max(step, limit // 10)
    type = random.choice(("u32", "u32", "i32"))
    suffix = type[0]
    head = f"for (var {name} = {type}({first}); {name} < {limit}{suffix}; {name} += {step}{suffix})"
    if random.random() < 0.2:
        head = f"for (var {name} = {type}({first} + {limit}u); {name} >= {step}{suffix}; {name} -= {step}{suffix})"
    modulus = random.randint(2, 7)
    body = random.choices(STATEMENTS, k=random.randint(1, 3))
    text = "\n".join(body).replace("MODULUS", f"{modulus}u").replace("REST", f"{random.randrange(modulus)}u")
    inner = loop(random, threads, f"{name}i", depth - 1) if depth and random.random() < 0.4 else ""
    return f"{head} {{\n{text.replace('AT', f'u32({name})')}\n{inner}\n}}"


def kernel(seed: int) -> tuple[str, int]:
    """A kernel, and the threads of its workgroup."""
    random = Random(seed)
    shape = random.choice(SHAPES)
    threads = int(np.prod(shape))
    words = random.choice((threads + threads // 3 + 1, threads - 3, 2 * threads + 5, 3 * threads, threads // 2))
    taken_apart = f"data[(i % {random.randint(3, 19)}u + i / {random.randint(3, 19)}u * n) % 97u] ^ i"
    condition = random.choice(("", "", "if i % 3u != 1u"))
    body = [FILL.replace("IF", condition).replace("WORD;", f"{taken_apart};"), BARRIER]
    for number in range(random.randint(1, 3)):
        body.append(loop(random, threads, f"k{number}", 1))
        if random.random() < 0.4:
            body += [BARRIER, FILL.replace("IF", "").replace("WORD;", "words[i] * 5u + n;"), BARRIER]
    if random.random() < 0.3:
        body = ["for (var turn = 0u; turn < 3u; turn++) {", *body, BARRIER, "}"]
    text = KERNEL.replace("BODY", "\n".join(body)).replace("SHAPE", ", ".join(map(str, shape)))
    return text.replace("WORDS", str(words)).replace("THREADS", str(threads)), threads


@pytest.mark.parametrize("seed", range(40))
def test_answers(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text, threads = kernel(seed)
    random = np.random.default_rng(seed)
    buffers = {
        "data": random.integers(0, 1 << 32, 97, np.uint32),
        "n": np.uint32(random.integers(1, 50)),
        "found": np.zeros(2 * threads, np.uint32),
        "halves": np.zeros(2 * threads, np.float32),
    }
    main = tinct.load(text)["main"]
    expected = main.run(dict(buffers), workgroups=2, device="interp")
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    for level in available():
        monkeypatch.setenv("TINCT_CPU_TARGET", level)
        with machine(seed):
            found = main.run(dict(buffers), workgroups=2, device="cpu")
        for name in ("found", "halves"):
            np.testing.assert_array_equal(found[name], expected[name], err_msg=f"{name}, {level}\n{text}")
