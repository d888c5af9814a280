"""Programs on the GPU device: dispatches on buffers that stay, and the control between them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tinct.backend.gpu import (
    BoundBuffer,
    BranchStep,
    ClearStep,
    CopyStep,
    DispatchStep,
    GpuDevice,
    GpuError,
    GpuProgram,
    LoopStep,
    ProgramBuffer,
    ProgramKernel,
    ProgramResult,
    ProgramStep,
    RepeatStep,
)

WGSL = """
struct Sizes { count: u32, step: u32 }
@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<u32>;
@group(0) @binding(2) var<storage, read> counter: array<u32>;
@group(0) @binding(3) var<uniform> sizes: Sizes;

@compute @workgroup_size(4) fn double(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&a) { b[id.x] = 2u * a[id.x]; }
}
@compute @workgroup_size(4) fn add(@builtin(global_invocation_id) id: vec3u) {
    if id.x < sizes.count { a[id.x] += b[id.x] + sizes.step; }
}
@compute @workgroup_size(1) fn append() { a[counter[0]] = 10u * counter[0] + 1u; }
@compute @workgroup_size(1) fn halve() { a[0] /= 2u; b[0] += 1u; }
@compute @workgroup_size(1) fn is_more() { b[0] = select(0u, 1u, a[0] > 1u); }
@compute @workgroup_size(1) fn never_ends() { b[0] = 1u; }
"""


@pytest.fixture(scope="module")
def device() -> Iterator[GpuDevice]:
    reason = GpuDevice.unavailable_reason()
    if reason is not None:
        pytest.skip(f"no GPU: {reason}")
    device = GpuDevice()
    yield device
    device.close()


ENTRIES = ("double", "add", "append", "halve", "is_more", "never_ends")
KERNELS = tuple(ProgramKernel(WGSL, it) for it in ENTRIES)


def words(*numbers: int, output: bool = False) -> ProgramBuffer:
    return ProgramBuffer(4 * len(numbers), np.array(numbers, np.uint32), is_output=output)


def zeros(count: int, *, output: bool = False) -> ProgramBuffer:
    return ProgramBuffer(4 * count, is_output=output)


def dispatch(entry: str, *buffers: int, workgroups: int = 1, sizes: int | None = None) -> DispatchStep:
    """Buffers at bindings 0, 1, …; `append` reads its counter at binding 2."""
    places = (0, 2) if entry == "append" else range(len(buffers))
    kinds = {2: "read-only-storage"}
    bound = [BoundBuffer(0, at, kinds.get(at, "storage"), it) for at, it in zip(places, buffers, strict=True)]
    bound += [] if sizes is None else [BoundBuffer(0, 3, "uniform", sizes)]
    return DispatchStep(ENTRIES.index(entry), tuple(bound), (workgroups, 1, 1))


def run(device: GpuDevice, buffers: list[ProgramBuffer], *steps: ProgramStep, timeout: float = 60.0) -> ProgramResult:
    return device.run_program(GpuProgram(KERNELS, tuple(buffers), steps), timeout=timeout)


def numbers(result: ProgramResult, buffer: int) -> list[int]:
    return np.frombuffer(result.outputs[buffer], np.uint32).tolist()


def test_dispatches_share_a_transient(device: GpuDevice) -> None:
    buffers = [words(1, 2, 3, output=True), zeros(3), words(3, 100)]
    result = run(device, buffers, dispatch("double", 0, 1), dispatch("add", 0, 1, sizes=2))
    assert result.outputs.keys() == {0}
    assert numbers(result, 0) == [103, 106, 109]
    assert result.run_seconds > 0


def test_pipelines_are_compiled_once(device: GpuDevice) -> None:
    buffers = [words(1, output=True), zeros(1), words(1, 0)]
    steps = dispatch("double", 0, 1), dispatch("add", 0, 1, sizes=2)
    run(device, buffers, *steps)
    assert run(device, buffers, *steps).compile_seconds == 0


def test_repeat_counts(device: GpuDevice) -> None:
    steps = RepeatStep(4, 1, (dispatch("append", 0, 1),))
    assert numbers(run(device, [zeros(5, output=True), zeros(1)], steps), 0) == [1, 11, 21, 31, 0]


def test_repeats_in_a_repeat(device: GpuDevice) -> None:
    inner = RepeatStep(3, 2, (dispatch("double", 0, 1), dispatch("add", 0, 1, sizes=3)))
    buffers = [words(1, output=True), zeros(1), zeros(1), words(1, 0)]
    assert numbers(run(device, buffers, RepeatStep(2, 2, (inner,))), 0) == [3**6]


def test_long_repeats_are_submitted_in_parts(device: GpuDevice) -> None:
    buffers = [zeros(5000, output=True), zeros(1, output=True)]
    result = run(device, buffers, RepeatStep(5000, 1, (dispatch("append", 0, 1),)))
    assert numbers(result, 0) == [10 * it + 1 for it in range(5000)]
    assert numbers(result, 1) == [4999]


def test_a_repeat_of_zero_times_runs_nothing(device: GpuDevice) -> None:
    result = run(device, [words(7, output=True), zeros(1)], RepeatStep(0, 1, (dispatch("append", 0, 1),)))
    assert numbers(result, 0) == [7]


def test_a_loop_ends_by_its_flag(device: GpuDevice) -> None:
    loop = LoopStep((dispatch("is_more", 0, 1),), 1, (dispatch("halve", 0, 2),))
    result = run(device, [words(100, output=True), zeros(1), zeros(1, output=True)], loop)
    assert (numbers(result, 0), numbers(result, 2)) == ([1], [6])


@pytest.mark.parametrize(("start", "expected"), [(8, 4), (1, 3)])
def test_a_branch_goes_by_its_flag(device: GpuDevice, start: int, expected: int) -> None:
    larger = (dispatch("double", 0, 2), dispatch("add", 0, 2, sizes=3))
    steps = dispatch("is_more", 0, 1), BranchStep(1, larger, (dispatch("halve", 0, 2),))
    result = run(device, [words(start, output=True), zeros(1), zeros(1), words(1, 0)], *steps)
    assert numbers(result, 0) == [expected]


def test_copies_and_clears(device: GpuDevice) -> None:
    buffers = [words(1, 2, output=True), words(3, 4, output=True), words(5, 6, output=True)]
    result = run(device, buffers, CopyStep(0, 1), ClearStep(0))
    assert [numbers(result, it) for it in range(3)] == [[0, 0], [1, 2], [5, 6]]


def test_zero_workgroups_run_nothing(device: GpuDevice) -> None:
    result = run(device, [words(1), words(5, output=True)], dispatch("double", 0, 1, workgroups=0))
    assert numbers(result, 1) == [5]


def test_lengths_are_rounded_up_to_words(device: GpuDevice) -> None:
    wgsl = """@group(0) @binding(0) var<storage, read_write> a: array<u32>;
    @compute @workgroup_size(1) fn main() { a[0] = arrayLength(&a); }"""
    bound = (BoundBuffer(0, 0, "storage", 0),)
    for size, words_of in ((0, 1), (3, 1), (4, 1), (20, 5)):
        step = DispatchStep(0, bound, (1, 1, 1))
        program = GpuProgram((ProgramKernel(wgsl, "main"),), (ProgramBuffer(size, is_output=True),), (step,))
        outputs = device.run_program(program).outputs
        assert len(outputs[0]) == size
        assert size < 4 or outputs[0][0] == words_of


def test_a_loop_without_end_is_stopped(device: GpuDevice) -> None:
    loop = LoopStep((dispatch("never_ends", 0, 1),), 1)
    program = GpuProgram(KERNELS, (zeros(1), zeros(1)), (loop,), name="walk")
    with pytest.raises(GpuError) as caught:
        device.run_program(program, timeout=1.0)
    assert (caught.value.kind, "did not finish 'walk' in 1 s" in caught.value.message) == ("timeout", True)
    assert numbers(run(device, [words(4, output=True)]), 0) == [4]


@pytest.mark.parametrize(
    ("wgsl", "entry", "message"),
    [
        ("@compute @workgroup_size(1) fn main() { let x: u32 = 1.5; }", "main", "u32"),
        ("@compute @workgroup_size(1) fn main() {}", "other", "other"),
    ],
)
def test_what_naga_refuses(device: GpuDevice, wgsl: str, entry: str, message: str) -> None:
    program = GpuProgram((ProgramKernel(wgsl, entry),), (), (DispatchStep(0, (), (1, 1, 1)),))
    with pytest.raises(GpuError) as caught:
        device.run_program(program)
    assert (caught.value.kind, message in caught.value.message) == ("invalid", True)


def test_limits_of_the_adapter(device: GpuDevice) -> None:
    limits = device.adapter().limits
    most = limits["max-compute-workgroups-per-dimension"]
    with pytest.raises(GpuError, match=f"{most + 1} workgroups of 'double' along x; this adapter allows {most}"):
        run(device, [zeros(1), zeros(1)], dispatch("double", 0, 1, workgroups=most + 1))
    with pytest.raises(GpuError, match=r"buffer 0 has \d+ bytes; this adapter allows"):
        run(device, [ProgramBuffer(limits["max-buffer-size"] + 4)])
    most = limits["max-storage-buffers-per-shader-stage"]
    bound = tuple(BoundBuffer(0, it, "storage", it) for it in range(most + 1))
    with pytest.raises(GpuError, match=f"'double' uses {most + 1} storage buffers; this adapter allows {most}"):
        run(device, [zeros(1)] * (most + 1), DispatchStep(0, bound, (1, 1, 1)))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (dispatch("double", 0, 2), "no buffer 2"),
        (dispatch("double", 0, 0), "binds buffer 0 twice"),
        (dispatch("double", 0, 1, workgroups=-1), "negative"),
        (DispatchStep(9, (), (1, 1, 1)), "no kernel 9"),
        (RepeatStep(1, 7, ()), "no buffer 7"),
        (LoopStep((ClearStep(3),), 0), "no buffer 3"),
        (BranchStep(0, (CopyStep(0, 4),), ()), "no buffer 4"),
        (
            DispatchStep(0, (BoundBuffer(0, 0, "storage", 0), BoundBuffer(0, 0, "storage", 1)), (1, 1, 1)),
            "two buffers at one place",
        ),
    ],
)
def test_mistakes_of_the_caller(device: GpuDevice, step: ProgramStep, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run(device, [zeros(1), zeros(1)], step)


def test_data_must_have_the_size_of_its_buffer(device: GpuDevice) -> None:
    with pytest.raises(ValueError, match="buffer 0 has 8 bytes, and its data 4"):
        run(device, [ProgramBuffer(8, bytes(4))])
