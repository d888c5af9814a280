"""The debugger's engine and its commands."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import tinct
from tinct.debugging.console import Console
from tinct.debugging.engine import Debugger

from .shaders import COLLATZ, MIXED, kernel


def mixed(invocation: int = 5) -> Debugger:
    return kernel(MIXED).debug({"out": (None, 8)}, invocation=invocation, threads=8)


def where(debugger: Debugger) -> tuple[str, int, int]:
    frame = debugger.frames()[0]
    return frame.function, frame.position.line, frame.position.column


def test_going_back_undoes_every_step() -> None:
    debugger = mixed()
    seen: list[tuple[object, int, object]] = []
    while debugger.stop.reason in ("entry", "step"):
        state = [(it.name, it.text) for it in (*debugger.locals(), *debugger.module_variables())]
        seen.append((where(debugger), len(debugger.frames()), state))
        debugger.step()
    assert debugger.stop.text == "invocation (5, 0, 0) has ended"
    assert len(seen) == 34
    for place, depth, state in reversed(seen):
        debugger.step_back()
        assert (where(debugger), len(debugger.frames())) == (place, depth)
        assert [(it.name, it.text) for it in (*debugger.locals(), *debugger.module_variables())] == state
    assert debugger.step_back().reason == "start"


def test_next_finish_and_their_reverse() -> None:
    debugger = mixed()
    lines: list[int] = []
    for _ in range(6):
        debugger.next()
        lines.append(where(debugger)[1])
    assert lines == [16, 17, 18, 19, 20, 21]
    debugger.next_back()
    assert where(debugger)[1] == 20
    debugger.step()
    assert [it.function for it in debugger.frames()] == ["more", "main"]
    debugger.finish()
    assert where(debugger)[1] == 21
    debugger.step_back()
    assert where(debugger)[:2] == ("more", 10)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("l * 2 + k", "14"),
        ("C", "3"),
        ("tile", "[4, 4, 2, 2]"),
        ("tile[1]", "4"),
        ("out[id.x].n", "0"),
        ("vec3f(id).xy", "(5.0, 0.0)"),
        ("l == 5 && plain[l] == 5u", "true"),
        ("&plain[2]", "2"),
        ("plain[l] // a comment", "5"),
        ("calls", "0"),
    ],
)
def test_expressions(expression: str, text: str) -> None:
    debugger = mixed()
    for _ in range(3):
        debugger.step()
    assert debugger.evaluate(expression).text == text


def test_expressions_see_the_variables_of_their_place_and_change_nothing() -> None:
    debugger = mixed()
    for bad, words in {
        "nope": "unresolved identifier 'nope'",
        "1; let b = 2": r"expected '\)'\n --> <expression>:1:2",
        "l +": "expected an",
    }.items():
        with pytest.raises(tinct.TinctError, match=words):
            debugger.evaluate(bad)
    with pytest.raises(tinct.TinctError, match="unresolved identifier 'a'"):
        debugger.evaluate("a")
    debugger.add_breakpoint(26)
    debugger.resume()
    assert debugger.evaluate("a").text == "7"
    assert debugger.evaluate("atomicAdd(&tile[0], 1u)").text == "4"
    assert debugger.evaluate("tile[0]").text == "4"
    debugger.next_back()
    assert debugger.evaluate("a").text == "21.5"
    assert debugger.evaluate("more(&a)").text == "45.0"
    assert debugger.evaluate("a").text == "21.5"


def test_breakpoints_conditions_and_hits() -> None:
    debugger = mixed()
    moved = debugger.add_breakpoint(23, "i == 3")
    assert moved.line == 25
    debugger.breakpoints.clear()
    inside = debugger.add_breakpoint(22, "i == 3")
    debugger.resume()
    assert debugger.stop.text == f"breakpoint {inside.number}"
    assert debugger.evaluate("i").text == "3"
    debugger.remove_breakpoint(inside.number)
    debugger.add_breakpoint(22, after=2)
    debugger.restart()
    debugger.resume()
    assert debugger.evaluate("i").text == "1"
    debugger.resume()
    debugger.resume()
    assert debugger.evaluate("i").text == "3"
    debugger.resume_back()
    assert debugger.evaluate("i").text == "2"
    debugger.breakpoints.clear()
    debugger.add_breakpoint(29, any_invocation=True)
    debugger.resume()
    assert debugger.invocation() == (5, 0, 0)
    assert debugger.resume().reason == "ended"
    debugger.resume()
    assert debugger.invocation() == (6, 0, 0)
    for line, message in ((0, "there is no line 0"), (99, "there is no code")):
        with pytest.raises(tinct.InputError, match=message):
            debugger.add_breakpoint(line)


def test_watches_forward_and_back() -> None:
    debugger = mixed()
    debugger.add_watch("calls")
    assert debugger.resume().text == "calls: 0 → 1"
    assert where(debugger)[:2] == ("more", 9)
    assert debugger.resume().text == "calls: 1 → 8"
    assert debugger.resume_back().text == "calls: 0 → 1"


def test_other_invocations_are_alive() -> None:
    debugger = mixed(3)
    debugger.add_breakpoint(19)
    debugger.resume()
    assert [debugger.state_of(index) for index in (0, 3, 7)] == ["has ended", "at line 19", "waits at line 18"]
    debugger.select((7, 0, 0))
    assert debugger.frames()[0].position.line == 18
    debugger.step()
    assert where(debugger)[1] == 19
    with pytest.raises(tinct.InputError, match="there is no invocation"):
        debugger.select((8, 0, 0))


def test_a_long_run_goes_back() -> None:
    text = COLLATZ.replace("n != 1u", "steps < 18000u")
    debugger = kernel(text).debug({"out": (None, 4)}, threads=1)
    debugger.add_breakpoint(8, after=17001)
    debugger.resume()
    assert debugger.evaluate("steps").text == "17000"
    debugger.breakpoints.clear()
    for _ in range(2):
        debugger.step_back()
    assert (where(debugger)[1], debugger.evaluate("steps").text) == (9, "16999")


def test_an_endless_loop_pauses() -> None:
    shader = kernel(COLLATZ.replace("n % 2u == 1u", "true"))
    debugger = shader.debug({"out": (None, 4)}, threads=4, timeout=0.1)
    stop = debugger.resume()
    assert (stop.reason, stop.text) == ("pause", "the time limit of 0.1 s has passed")
    debugger.timeout = None
    timer = threading.Timer(0.1, debugger.pause_requested.set)
    timer.start()
    assert debugger.resume().reason == "pause"
    assert debugger.next().reason == "step"


def commands(*lines: str, invocation: int = 1) -> list[str]:
    debugger = kernel(COLLATZ).debug({"out": (None, 8)}, invocation=invocation, threads=8)
    written: list[str] = []
    console = Console(debugger, written.append)
    for line in lines:
        console.run(line)
    return written


def test_the_commands_of_gdb_and_oclgrind() -> None:
    assert commands("b 7 if n == 11u", "c", "p steps * 2", "bt", "i locals", "gmem", "lmem", "rs", "") == [
        "breakpoint 1 at line 7",
        "breakpoint 1",
        "invocation (1, 0, 0) in main\n    7 |   while n != 1u {",
        "steps * 2 = 4",
        "#0 main at line 7: while n != 1u {",
        "id = (1, 0, 0)",
        "n = 11",
        "steps = 2",
        "out = [8, 0, 0, 0, 0, 0, 0, 0]",
        "invocation (1, 0, 0) in main\n    9 |     steps++;",
        "invocation (1, 0, 0) in main\n    8 |     n = select(n / 2u, 3u * n + 1u, n % 2u == 1u);",
    ]
    assert commands("workitem 2", "info workitems")[1:] == [
        "  (0, 0, 0) has ended",
        "  (1, 0, 0) at line 5",
        "→ (2, 0, 0) has not begun",
        "  (3, 0, 0) has not begun",
    ]
    assert commands("step 3", "watch n", "info watch", "c", "info break", "clear", "delete", "unwatch", "pmem n") == [
        "invocation (1, 0, 0) in main\n    8 |     n = select(n / 2u, 3u * n + 1u, n % 2u == 1u);",
        "n = 7",
        "n = 7",
        "n: 7 → 22",
        "invocation (1, 0, 0) in main\n    9 |     steps++;",
        "0 removed",
        "n = 22",
    ]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("frobnicate", "there is no command 'frobnicate'"),
        ("stpe", "did you mean 'step'?"),
        ("break", "break takes a line"),
        ("break x", "'x' is not a line"),
        ("break 99", "there is no code at line 99"),
        ("break 0", "lines are counted from 1: there is no line 0"),
        ("break 1", "breakpoint 1 at line 5 (line 1 has no code)"),
        ("print", "print takes an expression"),
        ("print )(", "error"),
        ("delete 7", "there is no breakpoint 7"),
        ("watch", "watch takes an expression"),
        ("info", "info takes"),
        ("lmem x", "there is no workgroup variable 'x'"),
        ("wi", "invocation takes a global id"),
        ("wi 99", "there is no invocation (99, 0, 0)"),
        ("\0\udcff", "there is no command"),
    ],
)
def test_nonsense(line: str, words: str) -> None:
    assert words in "\n".join(commands(line))


def test_only_what_is_wrong_in_the_expression_is_told() -> None:
    """The text around it, which lacks its closing parenthesis then, has no place that the user wrote."""
    printed = "\n".join(commands("print $$"))
    assert "no token of WGSL starts with this character" in printed
    assert printed.count("error") == 1


def test_subgroup_operations_and_uniform_loads_give_the_interpreters_results() -> None:
    text = """
    enable subgroups;
    @group(0) @binding(0) var<storage, read_write> out: array<u32, 32>;
    var<workgroup> first: u32;
    fn sum(x: u32) -> u32 { return subgroupAdd(x) + 1; }
    @compute @workgroup_size(32) fn main(@builtin(local_invocation_index) l: u32) {
      if l == 3 { first = 7; }
      let base = workgroupUniformLoad(&first);
      let total = sum(l);
      out[l] += total * base + subgroupExclusiveAdd(l);
    }
    """
    shader = kernel(text)
    expected = shader.run({"out": list(range(32))}, threads=32, device="interp")["out"]
    debugger = shader.debug({"out": list(range(32))}, invocation=17, threads=32)
    for _ in range(5):
        debugger.step()
    for _ in range(5):
        debugger.step_back()
    assert where(debugger)[1] == 7
    while debugger.resume().reason != "exited":
        pass
    parts = [debugger.evaluate(f"out[{index}]").text for index in range(32)]
    assert parts == [str(it) for it in expected.tolist()]


HANDLES = """
requires immediate_address_space;
struct Place { offset: vec2f, row: u32 }
var<immediate> place: Place;
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@group(0) @binding(1) var picture: texture_2d<f32>;
@group(0) @binding(2) var plain: sampler;
@group(0) @binding(3) var comparing: sampler_comparison;
@group(0) @binding(4) var depths: texture_depth_2d_array;
@group(0) @binding(5) var<storage> bytes: buffer<8>;
fn sampled(texture: texture_2d<f32>, with_filter: sampler) -> f32 {
  return textureSampleLevel(texture, with_filter, place.offset, 0).x;
}
@compute @workgroup_size(1) fn main() {
  out[0] = sampled(picture, plain) + textureSampleCompareLevel(depths, comparing, place.offset, 0, 0.5);
  out[place.row] = bitcast<f32>(*bufferView<u32>(&bytes, 4));
}
"""


def test_textures_samplers_views_of_buffers_and_immediate_data() -> None:
    tested = tinct.load(HANDLES)["main"]
    given = {
        "place": {"offset": [0.5, 0.5], "row": 1},
        "out": [0, 0],
        "picture": np.full((2, 4, 4), 0.25, np.float32),
        "plain": tinct.Sampler(mag_filter="linear"),
        "comparing": tinct.Sampler(compare="less"),
        "depths": np.ones((3, 2, 2), np.float32),
        "bytes": np.array([0, 1.5], np.float32).view(np.uint8),
    }
    debugger = tested.debug(given, threads=1)
    shown = {it.name: it.text for it in debugger.module_variables()}
    assert shown == {
        "place": "Place(offset=(0.5, 0.5), row=1)",
        "out": "[0.0, 0.0]",
        "picture": "texture_2d<f32> of 4 x 2 texels",
        "plain": "sampler(mag_filter=linear)",
        "comparing": "sampler_comparison(compare=less)",
        "depths": "texture_depth_2d_array of 2 x 2 x 3 texels",
        "bytes": "a buffer<8>",
    }
    assert debugger.evaluate("place.offset.x + f32(place.row)").text == "1.5"
    debugger.step()
    assert [(it.name, it.text) for it in debugger.locals()] == [
        ("texture", "texture_2d<f32> of 4 x 2 texels"),
        ("with_filter", "sampler(mag_filter=linear)"),
    ]
    assert debugger.evaluate("plain").text == "sampler(mag_filter=linear)"
    debugger.resume()
    assert debugger.evaluate("out").text == "[1.25, 1.5]"
    assert tested.run(given, threads=1, device="interp")["out"].tolist() == [1.25, 1.5]
    assert "out[0] = 1.25" in str(tested.trace(given, threads=1, invocation=0))
    assert "out[1]: 0.0 → 1.5" in str(tested.who_wrote("out[1]", given, threads=1))
