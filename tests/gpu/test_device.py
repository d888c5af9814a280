"""The GPU device: dispatches, limits, and the child process that may die."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BufferedReader

import numpy as np
import pytest

from tinct.backend.gpu import BufferBinding, GpuDevice, GpuError, GpuResult, process
from tinct.backend.gpu.messages import Reply
from tinct.backend.gpu.resident_messages import Command
from tinct.backend.gpu.shared_bytes import SharedBytes

SCALE = """
override factor: f32 = 2.0;
@group(0) @binding(0) var<uniform> count: u32;
@group(0) @binding(1) var<storage, read> source: array<f32>;
@group(1) @binding(3) var<storage, read_write> scaled: array<f32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x < count { scaled[id.x] += factor * source[id.x]; }
}
@compute @workgroup_size(1) fn length() { scaled[0] = f32(arrayLength(&scaled)); }
"""

# A pointer to an element as an argument is valid WGSL, and naga's SPIR-V writer panics at it.
ABORTS_NAGA = """
@group(0) @binding(0) var<storage, read_write> result: array<f32>;
fn increment(p: ptr<function, f32>) { *p += 1.0; }
@compute @workgroup_size(1) fn main() { var values: array<f32, 4>; increment(&values[2]); result[0] = values[2]; }
"""

# Finite, since a hardware driver may reset at an endless loop, and lavapipe leaves any loop after 65535 rounds.
TAKES_MINUTES = """
@group(0) @binding(0) var<storage, read_write> result: atomic<u32>;
@compute @workgroup_size(64) fn main() {
    for (var i = 0u; i < 60000u; i++) { atomicAdd(&result, atomicLoad(&result) ^ i); }
}
"""


@pytest.fixture(scope="module")
def device() -> Iterator[GpuDevice]:
    reason = GpuDevice.unavailable_reason()
    if reason is not None:
        pytest.skip(f"no GPU: {reason}")
    device = GpuDevice()
    yield device
    device.close()


def storage(binding: int, data: np.ndarray, group: int = 0) -> BufferBinding:
    return BufferBinding(group, binding, "storage", data)


def scale(device: GpuDevice, count: int = 10, **options: object) -> GpuResult:
    data = np.arange(10, dtype=np.float32)
    options = {"entry": "main", "workgroups": (2, 1, 1), "constants": None, **options}
    bindings = [
        BufferBinding(0, 0, "uniform", np.array([count], np.uint32)),
        BufferBinding(0, 1, "read-only-storage", data),
        storage(3, data, group=1),
    ]
    return device.run(SCALE, bindings=bindings, **options)


def scaled(result: GpuResult) -> list[float]:
    return np.frombuffer(result.outputs[1, 3], np.float32).tolist()


def test_only_writable_bindings_come_back(device: GpuDevice) -> None:
    result = scale(device, count=3)
    assert result.outputs.keys() == {(1, 3)}
    assert scaled(result) == [0, 3, 6, 3, 4, 5, 6, 7, 8, 9]


def test_constants_set_overrides(device: GpuDevice) -> None:
    assert scaled(scale(device, constants={"factor": 0.5}))[:4] == [0, 1.5, 3, 4.5]


def test_bindings_that_an_entry_point_leaves_unused_do_no_harm(device: GpuDevice) -> None:
    assert scaled(scale(device, entry="length", workgroups=(1, 1, 1)))[0] == 10


def test_pipelines_are_compiled_once(device: GpuDevice) -> None:
    scale(device, constants={"factor": 8})
    assert scale(device, constants={"factor": 8}).compile_seconds == 0
    assert scale(device, constants={"factor": 9}).compile_seconds > 0


def test_every_repeat_starts_from_the_inputs(device: GpuDevice) -> None:
    result = scale(device, repeat=5)
    assert scaled(result) == [3 * i for i in range(10)]
    assert len(result.samples) == 5
    assert result.run_seconds == min(result.samples)


def test_a_zero_in_the_dispatch_runs_nothing(device: GpuDevice) -> None:
    result = scale(device, workgroups=(2, 0, 1))
    assert scaled(result) == list(range(10))
    assert result.run_seconds == 0


def test_lengths_that_webgpu_cannot_bind_are_padded(device: GpuDevice) -> None:
    wgsl = """
    enable f16;
    @group(0) @binding(0) var<storage, read_write> halves: array<f16>;
    @group(0) @binding(1) var<storage, read_write> empty: array<u32>;
    @compute @workgroup_size(1) fn main() { halves[2] = f16(arrayLength(&halves)); empty[0] = 7; }
    """
    if "shader-f16" not in device.adapter().features:
        pytest.skip("the adapter has no f16")
    halves, empty = storage(0, np.zeros(3, np.float16)), storage(1, np.zeros(0, np.uint32))
    result = device.run(wgsl, "main", [halves, empty], (1, 1, 1))
    assert np.frombuffer(result.outputs[0, 0], np.float16).tolist() == [0, 0, 4]
    assert result.outputs[0, 1] == b""


def test_validate_gives_nagas_message(device: GpuDevice) -> None:
    assert device.validate(SCALE) is None
    message = device.validate("fn f() -> u32 { return 1.5; }")
    assert message is not None
    assert "1.5" in message
    assert "Caused by" not in message


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"entry": "nothing"}, "invalid", "nothing"),
        ({"constants": {"unknown": 1}}, "invalid", "unknown"),
        ({"workgroups": (1, 65_536, 1)}, "limit", "65536 workgroups along y; this adapter allows 65535"),
        ({"repeat": 100_000}, "limit", "100000 repeats"),
    ],
)
def test_what_wgpu_would_reject_is_an_error(device: GpuDevice, options: dict, kind: str, words: str) -> None:
    with pytest.raises(GpuError, match=words) as caught:
        scale(device, **options)
    assert caught.value.kind == kind


def test_a_missing_binding_is_invalid(device: GpuDevice) -> None:
    with pytest.raises(GpuError, match="binding: 1") as caught:
        device.run(SCALE, "main", [BufferBinding(0, 0, "uniform", bytes(4))], (1, 1, 1))
    assert caught.value.kind == "invalid"


def test_a_binding_that_is_too_large_names_its_place(device: GpuDevice) -> None:
    size = device.adapter().limits["max-uniform-buffer-binding-size"] + 16
    with pytest.raises(GpuError, match=rf"uniform buffer at @group\(0\) @binding\(2\) has {size} bytes") as caught:
        device.run(SCALE, "main", [BufferBinding(0, 2, "uniform", bytes(size))], (1, 1, 1))
    assert caught.value.kind == "limit"


@pytest.mark.parametrize(
    ("bindings", "workgroups", "words"),
    [
        ([BufferBinding(0, 0, "uniform", bytes(4))] * 2, (1, 1, 1), "given twice"),
        ([], (1, -1, 1), "negative"),
    ],
)
def test_calls_that_make_no_sense(bindings: list, workgroups: tuple[int, int, int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        GpuDevice().run(SCALE, "main", bindings, workgroups)


def test_an_abort_of_naga_is_an_error_and_the_next_call_works(device: GpuDevice) -> None:
    with pytest.raises(GpuError, match=r"SIGABRT.*not cached.*naga") as caught:
        device.run(ABORTS_NAGA, "main", [storage(0, np.zeros(1, np.float32))], (1, 1, 1))
    assert caught.value.kind == "crash"
    assert scaled(scale(device))[1] == 3


def test_a_shader_that_takes_too_long_is_killed(device: GpuDevice) -> None:
    scale(device)
    with pytest.raises(GpuError, match=r"did not finish 'run' in 1\.5 s") as caught:
        device.run(TAKES_MINUTES, "main", [storage(0, np.zeros(1, np.uint32))], (65_535, 1, 1), timeout=1.5)
    assert caught.value.kind == "timeout"
    assert device.worker_pid is None
    assert scaled(scale(device))[1] == 3


def test_a_time_that_expires_while_the_reply_arrives(device: GpuDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    """The child is killed then, so that the call fails, and not the next one."""
    scale(device)
    receive = process.receive_reply

    def receive_late(stream: BufferedReader, shared: SharedBytes) -> tuple[Reply, list[bytearray]]:
        reply = receive(stream, shared)
        time.sleep(2.5)
        return reply

    with monkeypatch.context() as patched:
        patched.setattr(process, "receive_reply", receive_late)
        with pytest.raises(GpuError) as caught:
            scale(device, timeout=2.0)
    assert caught.value.kind == "timeout"
    assert scaled(scale(device))[1] == 3


@pytest.mark.parametrize("timeout", [1e30, math.inf, 2.0**40])
def test_time_limits_longer_than_any_clock(device: GpuDevice, timeout: float) -> None:
    assert scaled(scale(device, timeout=timeout))[1] == 3


def test_a_child_that_is_killed_leaves_no_file_open() -> None:
    script = f"""
import gc, warnings
warnings.simplefilter("error", ResourceWarning)
from tinct.backend.gpu import BufferBinding, GpuDevice, GpuError
device = GpuDevice()
if device.unavailable_reason() is None:
    try:
        device.run({TAKES_MINUTES!r}, "main", [BufferBinding(0, 0, "storage", bytes(4))], (65535, 1, 1), timeout=0.5)
    except GpuError as error:
        print(error.kind)
device.close()
gc.collect()
"""
    done = run_python_process(script, "-X", "dev")
    assert done.returncode == 0
    assert b"ResourceWarning" not in done.stderr


def test_a_child_killed_between_calls_is_replaced(device: GpuDevice) -> None:
    scale(device)
    killed = device.worker_pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    os.waitid(os.P_PID, killed, os.WEXITED | os.WNOWAIT)
    assert scaled(scale(device))[1] == 3
    assert device.worker_pid != killed


def test_why_a_child_ended_while_another_thread_replaces_it(device: GpuDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    number, pid, wait = device.start(), device.worker_pid, subprocess.Popen.wait
    assert pid is not None
    os.kill(pid, signal.SIGKILL)

    def late(popen: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        """The other thread comes when this one knows that the child has ended, and asks for its last words."""
        status = wait(popen, timeout)
        monkeypatch.undo()
        assert device.start() != number
        return status

    monkeypatch.setattr(subprocess.Popen, "wait", late)
    assert "SIGKILL" in str(device.ending(number))
    assert device.worker_pid not in (None, pid)


def test_close_ends_the_child(device: GpuDevice) -> None:
    scale(device)
    pid = device.worker_pid
    assert pid is not None
    device.close()
    assert device.worker_pid is None
    assert is_gone(pid)


def test_the_parent_never_imports_wgpu_and_leaves_no_child_behind(device: GpuDevice) -> None:
    script = """
import sys
from tinct.backend.gpu import GpuDevice
device = GpuDevice()
device.validate("fn f() {}")
print(device.worker_pid, "wgpu" in sys.modules)
"""
    pid, imported = run_python(script).split()
    assert imported == "False"
    assert is_gone(int(pid))


def test_without_a_driver_there_is_a_reason() -> None:
    script = """
from tinct.backend.gpu import GpuDevice
print(GpuDevice.available(), "|", GpuDevice.unavailable_reason())
"""
    variables = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES")
    adapter, reason = run_python(script, **dict.fromkeys(variables, "/nonexistent")).split("|")
    if adapter.strip() != "None":
        pytest.skip("another backend answers")
    assert "adapter answers" in reason


def run_python(script: str, **variables: str) -> str:
    answer = run_python_process(script, **variables)
    answer.check_returncode()
    return answer.stdout.decode()


def run_python_process(script: str, *options: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, **variables, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, *options, "-c", script]
    return subprocess.run(command, env=environment, capture_output=True, timeout=60, check=False)


def is_gone(pid: int) -> bool:
    """Whether the process ends within two seconds."""
    for _ in range(40):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_data_is_sent_while_data_is_on_its_way_back(device: GpuDevice) -> None:
    size = 1 << 20  # more than a pipe holds
    child = device.start()
    first: Command = {"do": "create", "id": 1001, "size": size, "has_data": False}
    second: Command = {"do": "create", "id": 1002, "size": size, "has_data": True}
    ones = b"\x01" * size

    def exchange() -> list[bytes]:
        reads: list[list[Command]] = [[first, {"do": "read", "id": 1001, "size": size}], [second]]
        reads.append([{"do": "read", "id": 1002, "size": size}, {"do": "free", "ids": [1001, 1002]}])
        sent = [
            device.post_resident(commands, blobs, child=child, timeout=30, is_limited=False)
            for commands, blobs in zip(reads, [(), (ones,), ()], strict=True)
        ]
        return [bytes(it) for one in sent for it in device.settle([one], child=child)]

    with ThreadPoolExecutor() as pool:
        found = pool.submit(exchange)
        try:
            assert found.result(timeout=20) == [bytes(size), ones]
        finally:
            if device.worker_pid is not None and not found.done():
                os.kill(device.worker_pid, signal.SIGKILL)
