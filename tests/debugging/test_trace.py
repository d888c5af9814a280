"""Traces of one invocation, and the writes to a part of memory."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.debugging.recorder import LoopRecord

from .shaders import COLLATZ, MIXED, kernel

MIXED_TRACE = """\
invocation (5, 0, 0) of workgroup (0, 0, 0): main
15 | let k = 4u                              k = 4
16 | let old = atomicAdd(&tile[l % 4], 2u)   tile[1]: 2 → 4, old = 2
17 | plain[l] = l                            plain[5] = 5
18 | workgroupBarrier()                      all invocations passed workgroupBarrier
19 | var a = 1.5                             a = 1.5
20 | let twice = more(&a)                    twice = 5.0
 7 |   more(p = &a)
 8 |     calls += 1u                         calls is 0, calls = 1
 9 |     *p += 1                             a is 1.5, a = 2.5
10 |     return *p * 2                       a is 2.5, 5.0
   |   more returns                          → 5.0
21 | var i = 0u                              i = 0
   |   turn 1
21 |   i < 5                                 true
22 |   a += f32(plain[(l + i) % 8])          plain[5] is 5, a = 7.5
21 |   i++                                   i = 1
   |   … 3 more turns …
   |   turn 5
21 |   i < 5                                 true
22 |   a += f32(plain[(l + i) % 8])          plain[1] is 1, a = 21.5
21 |   i++                                   i = 5
21 |   i < 5                                 false
25 | let a = 7i                              a = 7
26 | if a > 5 && l == 5                      true
26 | calls += u32(a)                         calls is 1, calls = 8
28 | let p = &out[id.x].pos                  p = &out[5].pos
29 | (*p).x = a                              out[5].pos.x = 21.5
30 | switch l % 3                            2
31 | out[0].pos.y = f32(calls)               calls is 8, out[0].pos.y = 8.0"""


def test_the_text_shows_all_kinds_of_values() -> None:
    traced = kernel(MIXED).trace({"out": (None, 8)}, invocation=5, threads=8, turns=(1, 1))
    assert str(traced) == MIXED_TRACE


def test_rows_fold_loops_as_asked() -> None:
    shader = kernel(COLLATZ)
    whole = shader.trace({"out": (None, 4)}, invocation=1, threads=4, turns=(100, 0))
    turns = [row.text for row in whole.rows if row.kind == "turn"]
    assert turns == [f"turn {number}" for number in range(1, 17)]
    short = shader.trace({"out": (None, 4)}, invocation=1, threads=4, turns=(1, 0)).rows
    assert [row.text for row in short if row.kind in ("turn", "more")] == ["turn 1", "… 15 more turns …"]
    last = [row for row in short if row.kind == "line"][-1]
    assert (last.line, str(last.values[0])) == (11, "out[1] = 16")
    assert whole.instructions == shader.trace({"out": (None, 4)}, invocation=1, threads=4).instructions


def test_workgroups_before_run_only_if_they_can_be_read() -> None:
    text = """
    @group(0) @binding(0) var<storage, read_write> next: atomic<u32>;
    @compute @workgroup_size(1) fn main() { let ticket = atomicAdd(&next, 1u); }
    """
    shader = kernel(text)
    given = {"next": np.uint32(10)}
    assert "ticket = 13" in str(shader.trace(given, invocation=3, workgroups=5))
    assert "ticket = 10" in str(shader.trace(given, invocation=3, workgroups=5, alone=True))


ENDLESS = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> shared_word: u32;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {
  var turns = 0u;
  for (; id.x != 2u; turns++) { if turns > 4000000000u { break; } }
  out[id.x] = READ;
}
"""


def test_others_of_the_workgroup_run_only_if_they_can_be_read() -> None:
    traced = kernel(ENDLESS.replace("READ", "turns")).trace({"out": (None, 4)}, invocation=2, threads=4, timeout=60)
    assert str(traced.rows[-1].values[-1]) == "out[2] = 0"
    for others in ("out[0]", "shared_word", "subgroupAdd(turns)"):
        text = ("enable subgroups;" if "subgroup" in others else "") + ENDLESS.replace("READ", others)
        with pytest.raises(tinct.DeviceError, match="did not end"):
            kernel(text).trace({"out": (None, 4)}, invocation=2, threads=4, timeout=0.3)


def test_overrides_and_loops_with_break_if() -> None:
    text = """
    override N = 3u;
    @group(0) @binding(0) var<storage, read_write> out: array<vec2u, 2>;
    @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) l: u32) {
      var i = l;
      loop { out[l] += vec2u(i, 1); continuing { i++; break if i >= N; } }
      loop { if i == 7 { break; } i = 7; continue; }
    }
    """
    shown = str(kernel(text).trace({"out": None}, invocation=1, threads=2, constants={"N": 4}))
    assert "out[1] = (6, 3)" in shown
    assert "i >= N   " in shown
    assert "if i == 7" in shown


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"invocation": 8}, "there is no invocation (8, 0, 0): the dispatch has 8 x 1 x 1 invocations"),
        ({"invocation": (0, 1)}, "there is no invocation (0, 1, 0)"),
        ({"invocation": "x"}, "must be a whole number"),
        ({"invocation": 0, "turns": (0, 1)}, "at least the first turn"),
    ],
)
def test_bad_arguments(options: dict[str, object], words: str) -> None:
    with pytest.raises(tinct.InputError) as error:
        kernel(COLLATZ).trace({"out": (None, 8)}, threads=8, **options)  # type: ignore[arg-type]
    assert words in str(error.value)


def test_an_endless_loop_ends_at_the_time_limit() -> None:
    shader = kernel(COLLATZ.replace("n % 2u == 1u", "true"))
    with pytest.raises(tinct.DeviceError):
        shader.trace({"out": (None, 4)}, invocation=0, threads=4, timeout=0.2)


def test_memory_stays_bounded() -> None:
    shader = kernel(COLLATZ.replace("n != 1u", "steps < 3000u"))
    steps = shader.trace({"out": (None, 4)}, invocation=0, threads=4).root.steps
    (loop,) = (it for it in steps if isinstance(it, LoopRecord))
    assert (loop.turns, len(loop.first), len(loop.last)) == (3001, 2, 2)


def test_who_wrote_an_element_and_a_member() -> None:
    shader = kernel(MIXED)
    given = {"out": (None, 16)}
    x = shader.who_wrote("out[13].pos.x", given, threads=16)
    (write,) = x.writes
    assert (write.invocation, write.workgroup, write.line) == ((13, 0, 0), (1, 0, 0), 29)
    assert (write.path, write.before, write.after) == ("out[13].pos.x", "0.0", "21.5")
    y = shader.who_wrote("out[0].pos", given, threads=16, limit=3)
    assert y.count == 17
    assert [it.invocation[0] for it in y.writes] == [0, 0, 15]
    assert "… 14 more …" in str(y)
    tile = shader.who_wrote("tile[1]", given, threads=16)
    assert [(it.invocation[0], it.before, it.after, it.function) for it in tile.writes] == [
        (1, "0", "2", "atomicAdd"),
        (5, "2", "4", "atomicAdd"),
        (9, "0", "2", "atomicAdd"),
        (13, "2", "4", "atomicAdd"),
    ]
    assert str(shader.who_wrote("out[9].pos.z", given, threads=16)) == "out[9].pos.z is never written"


def test_who_wrote_a_texel_and_a_whole_buffer() -> None:
    text = """
    @group(0) @binding(0) var image: texture_storage_2d<rgba32float, write>;
    @group(0) @binding(1) var<storage, read_write> all: array<mat2x2f>;
    @compute @workgroup_size(2) fn main(@builtin(global_invocation_id) id: vec3u) {
      textureStore(image, id.xy, vec4f(vec3f(id), 1));
      all[0][1] = vec2f(id.xy);
    }
    """
    shader = kernel(text)
    given = {"image": np.zeros((2, 4, 4), np.float32), "all": (None, 1)}
    (texel,) = shader.who_wrote("image[3, 1]", given, threads=(4, 2)).writes
    assert [texel.after] == ["(3.0, 1.0, 0.0, 1.0)"]
    assert shader.who_wrote("image", given, threads=(4, 2)).count == 8
    assert {it.path for it in shader.who_wrote("all", given, threads=2).writes} == {"all[0][1]"}


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("out[99]", "'out' has 16 elements: there is no [99]"),
        ("oot[0]", "did you mean 'out'?"),
        ("out[i]", "is no path"),
        ("out[0].z", "'out[0]' has no member 'z', only pos, n"),
        ("calls", "'calls' is private to each invocation"),
        ("out[0, 1]", "'out' is no texture"),
        ("", "is no path"),
    ],
)
def test_bad_paths(path: str, words: str) -> None:
    with pytest.raises(tinct.InputError) as error:
        kernel(MIXED).who_wrote(path, {"out": (None, 16)}, threads=8)
    assert words in str(error.value)
