"""Long loops and deep nesting on the GPU: right on every driver, or an error; never a wrong answer without a word."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import tinct
from tinct.backend.gpu import AdapterInfo, FaultKind, GpuDevice, faults_of
from tinct.backend.gpu.faults import Fault
from tinct.compilation import Compilation
from tinct.pipeline import GpuOptions

WRITES = """
@group(0) @binding(0) var<storage, read_write> out: array<u32, 64>;
@group(0) @binding(1) var<uniform> count: u32;
"""
MAIN = "@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) lane: u32)"

NESTED = f"""{WRITES} {MAIN} {{
    var sum = lane;
    for (var i = 0u; i < count; i++) {{
        for (var j = 0u; j < count; j++) {{ sum += i * j + 1; }}
    }}
    out[lane] = sum;
}}"""

SINGLE = f"""{WRITES} {MAIN} {{
    if lane == 5 {{ return; }}
    var state = lane;
    for (var i = 0u; i < count; i++) {{ state = state * 1664525 + 1013904223; }}
    out[lane] = state;
}}"""

WHILE = f"""{WRITES}
fn next(state: u32) -> u32 {{
    if (state & 1) == 0 {{ return state / 2; }}
    return state * 3 + 1;
}}
{MAIN} {{
    var state = lane + 7;
    var turns = 0u;
    while turns < count + lane {{ state = next(state); turns++; }}
    out[lane] = state;
}}"""

CONTINUES = f"""{WRITES} {MAIN} {{
    var state = lane;
    var i = 0u;
    loop {{
        var skipped: bool;
        i++;
        if i > count {{ break; }}
        switch state & 3 {{
            case 1: {{ state = state * 5 + 1; continue; }}
            case 2: {{ state ^= i; skipped = true; }}
            default: {{ if (i & 7) == 0 {{ state += 3; continue; }} }}
        }}
        if state == 12345 {{ return; }}
        continuing {{
            state = state * 1664525 + select(1u, i, skipped);
            break if state == 54321;
        }}
    }}
    out[lane] = state;
}}"""

BARRIERS = f"""{WRITES}
var<workgroup> shared_state: array<u32, 64>;
{MAIN} {{
    var state = lane;
    for (var i = 0u; i < count; i++) {{
        shared_state[lane] = state;
        workgroupBarrier();
        state = shared_state[(lane + 1) % 64] * 3 + i;
        workgroupBarrier();
    }}
    out[lane] = state;
}}"""

OFTEN_ENTERED = f"""{WRITES} {MAIN} {{
    var state = lane;
    for (var i = 0u; i < count; i++) {{
        let step = state ^ i;
        for (var j = 0u; j < (state & 3); j++) {{ state = state * 1664525 + step; }}
        state += step;
    }}
    out[lane] = state;
}}"""

IN_PLACE = f"""{WRITES} {MAIN} {{
    for (var i = 0u; i < count; i++) {{ out[lane] = out[lane] * 3 + 1; }}
}}"""


@pytest.fixture(scope="module")
def adapter() -> AdapterInfo:
    found = GpuDevice.available()
    if found is None:
        pytest.skip(f"no GPU: {GpuDevice.unavailable_reason()}")
    return found


def needs(kind: FaultKind, adapter: AdapterInfo) -> int:
    """What still works on the adapter's driver; skips where it has no such fault."""
    if kind not in faults_of(adapter):
        pytest.skip(f"{adapter.name} does not have the fault: {kind}")
    return faults_of(adapter)[kind]


def on(device: str, shader: tinct.Shader, count: int) -> npt.NDArray[np.uint32]:
    given = {"out": np.arange(64, dtype=np.uint32), "count": np.uint32(count)}
    return shader["main"].run(given, workgroups=1, device=device)["out"]


def compilation_of(shader: tinct.Shader) -> Compilation:
    return shader.compilation("main", {})


@pytest.mark.usefixtures("adapter")
@pytest.mark.parametrize(
    ("source", "count"),
    [
        pytest.param(NESTED, 300, id="nested"),
        pytest.param(SINGLE, 65_533, id="one-turn-too-many"),
        pytest.param(SINGLE, 100_000, id="single"),
        pytest.param(SINGLE, 2_000_000, id="very-long"),
        pytest.param(WHILE, 100_000, id="while"),
        pytest.param(CONTINUES, 100_000, id="continues"),
        pytest.param(BARRIERS, 70_000, id="barriers"),
        pytest.param(OFTEN_ENTERED, 80_000, id="inner-loop-entered-too-often"),
        pytest.param(IN_PLACE, 100_000, id="in-place"),
    ],
)
def test_long_loops_are_right(source: str, count: int) -> None:
    shader = tinct.load(source)
    expected = on("cpu", shader, count)
    np.testing.assert_array_equal(on("gpu", shader, count), expected)
    np.testing.assert_array_equal(on("gpu", shader, 3), on("cpu", shader, 3))


def test_later_dispatches_start_with_what_was_enough(adapter: AdapterInfo) -> None:
    needs("loop iterations", adapter)
    shader = tinct.load(SINGLE)
    on("gpu", shader, 1000)
    assert compilation_of(shader).loop_effort == 0
    on("gpu", shader, 100_000)
    assert compilation_of(shader).loop_effort == 1
    on("gpu", shader, 1000)
    assert compilation_of(shader).loop_effort == 1


def test_loops_that_are_too_long_are_an_error(adapter: AdapterInfo) -> None:
    needs("loop iterations", adapter)
    with pytest.raises(tinct.DeviceError, match=r"ends every loop .* after 65,535 iterations .*'main' needs more"):
        on("gpu", tinct.load(SINGLE), 2_000_000_000)


def test_the_first_turn_that_the_driver_leaves_out_is_noticed(adapter: AdapterInfo) -> None:
    """The watch must be right at the limit itself, where one turn more or less makes the difference."""
    most = needs("loop iterations", adapter)
    for count in range(most - 4, most + 3):
        shader = tinct.load(SINGLE)
        np.testing.assert_array_equal(on("gpu", shader, count), on("cpu", shader, count))


@pytest.mark.parametrize(
    "loop",
    [
        "for (var i = 0u; i < 1000; i++) { out[lane] += i; }",
        "for (var i = 100; i >= 0; i -= 3) { out[lane] += u32(i); }",
        "for (var i = lane; i < 4096; i += 64) { out[lane] += i; }",
        "for (var stride = 32u; stride > 0; stride /= 2) { out[lane] += out[lane ^ stride]; }",
        "for (var i = 0u; i < 100; i++) { for (var j = i; j < 200; j++) { out[lane] ^= j; } }",
        "var i = 0u; while i < 50 && out[lane] != 7 { i++; out[lane] += i; }",
        "var i = 0u; loop { if i >= 20 || out[0] == 9 { break; } out[lane] += i; continuing { i += 2; } }",
        "for (var i = 0u; i < min(count, 64u); i++) { out[lane] += i; }",
    ],
)
def test_short_loops_are_not_watched(loop: str) -> None:
    shader = tinct.load(f"{WRITES} {MAIN} {{ {loop} out[lane] += count; }}")
    assert (
        compilation_of(shader).for_gpu(GpuOptions(for_naga=True, loop_limit=65_535)).wgsl
        == compilation_of(shader).for_gpu(GpuOptions(for_naga=True)).wgsl
    )


@pytest.mark.parametrize(
    "loop",
    [
        "for (var i = 0u; i < count; i++) { out[lane] += i; }",
        "for (var i = 0u; i < 300; i++) { for (var j = 0u; j < 300; j++) { out[lane] += j; } }",
        "for (var i = 0u; i < 40000; i++) { out[lane] += i; }",
        "for (var i = count; i != 10; i++) { out[lane] += i; }",
        "for (var i = 10u; i >= 0; i--) { if out[lane] == 3 { break; } out[lane] += i; }",
        "for (var i = 0u; i < 10; ) { if out[lane] > 100 { i++; } out[lane] += 1; }",
        "for (var i = 0u; i < 10; i++) { if out[lane] == 3 { i = 0; } out[lane] += 1; }",
        "loop { var i = 0u; i++; if i > 3 || out[0] == 9 { break; } out[lane] += i; }",
        "let before = count; loop { if before > 3 { break; } out[lane] += 1; }",
        "for (var i = 1u; i < count; i *= 2) { out[lane] += i; }",
        "for (var i = 0u; i < 4294967295; i += 2) { if out[lane] == 3 { break; } out[lane] += i; }",
        "var i = 0u; loop { if out[lane] == i { out[lane] += 1; continue; } if i > 9 { break; } i++; }",
    ],
)
def test_loops_that_may_be_long_are_watched(loop: str) -> None:
    shader = tinct.load(f"{WRITES} {MAIN} {{ {loop} out[lane] += count; }}")
    kernel = compilation_of(shader).for_gpu(GpuOptions(for_naga=True, loop_limit=65_535))
    assert kernel.watch is not None
    assert (kernel.watch.group, kernel.watch.binding) == (0, 2)
    assert compilation_of(shader).for_gpu(GpuOptions(for_naga=True)).watch is None


KNOWN = "@group(0) @binding(2) var<storage, read> known: array<u32, 64>;"
"""What conditions read: an element of `out` may have been written by its invocation before another one reads it."""
NESTS = {
    "ifs": lambda n: "".join(f"if known[{i % 64}] + lane != {i} {{ sum += {i};" for i in range(n)) + "}" * n,
    "returns": lambda n: "".join(f"sum = sum * 5 + {i}; if sum % 1009 == {i} + lane {{ return; }}" for i in range(n)),
    "continues": lambda n: (
        "for (var k = 0; k < 3; k++) {"
        + "".join(f"sum = sum * 5 + {i}; if sum % 1009 == {i} + lane {{ continue; }} " for i in range(n))
        + "}"
    ),
}


@pytest.mark.parametrize("kind", NESTS)
@pytest.mark.parametrize("depth", [20, 79, 100])
def test_deep_nesting_is_right_or_an_error(adapter: AdapterInfo, kind: str, depth: int) -> None:
    body = f"var sum = known[lane] + count; {NESTS[kind](depth)} out[lane] = sum;"
    main = tinct.load(f"{WRITES} {KNOWN} {MAIN} {{ {body} }}")["main"]
    lanes = np.arange(64, dtype=np.uint32)
    given = {"out": lanes, "known": lanes, "count": np.uint32(1)}
    expected = main.run(given, workgroups=1, device="cpu")["out"]
    if kind == "ifs":
        np.testing.assert_array_equal(expected, lanes + 1 + np.where(lanes > 0, depth * (depth - 1) // 2, 0))
    if depth > faults_of(adapter).get("nesting", depth):
        with pytest.raises(tinct.DeviceError, match="in more than 80 levels"):
            main.run(given, workgroups=1, device="gpu")
        return
    np.testing.assert_array_equal(main.run(given, workgroups=1, device="gpu")["out"], expected)


def adapter_info(name: str, vendor: str, description: str, backend: str) -> AdapterInfo:
    return AdapterInfo(name, description, vendor, backend, "CPU", frozenset(), {})


SINCE_25: set[FaultKind] = {"nesting"}
BEFORE_25: set[FaultKind] = {"loop iterations", "nesting", "uniform values", "first broadcasts", "upper halves"}


@pytest.mark.parametrize(
    ("name", "vendor", "description", "kinds"),
    [
        ("llvmpipe (LLVM 15.0.6, 256 bits)", "llvmpipe", "Mesa 22.3.6 (LLVM 15.0.6)", BEFORE_25),
        ("llvmpipe (LLVM 19.1.0, 256 bits)", "llvmpipe", "Mesa 24.3.4 (LLVM 19.1.0)", BEFORE_25),
        ("llvmpipe (LLVM 19.1.0, 256 bits)", "llvmpipe", "Mesa 25.0.7-2 (LLVM 19.1.0)", SINCE_25),
        ("llvmpipe (LLVM 15.0.6, 256 bits)", "", "4.5 (Core Profile) Mesa 22.3.6", BEFORE_25),
        ("llvmpipe (LLVM 15.0.6, 256 bits)", "", "a build of my own", BEFORE_25),
        ("AMD Radeon RX 7600", "radv", "Mesa 22.3.6", set()),
        ("NVIDIA H100", "NVIDIA", "550.54", set()),
    ],
)
def test_faults_of_drivers(name: str, vendor: str, description: str, kinds: set[FaultKind]) -> None:
    assert set(faults_of(adapter_info(name, vendor, description, "Vulkan"))) == kinds


def test_a_fault_is_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tinct.backend.gpu.faults.FAULTS", (Fault("loop iterations", driver="slowpipe", most=255),))
    assert faults_of(adapter_info("SlowPipe 3", "", "", "Vulkan")) == {"loop iterations": 255}
    assert faults_of(adapter_info("llvmpipe", "", "Mesa 22.3.6", "Vulkan")) == {}
