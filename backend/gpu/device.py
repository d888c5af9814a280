"""The GPU device: runs final WGSL text on an adapter of wgpu, in a child process."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from ...base.cached import cached_property
from ...base.deadline import compile_time_left
from ...base.errors import InputError
from ...base.forks import ForkLock
from ...base.in_time import Background
from .binding_headers import header_of
from .messages import Reply, Request
from .model import AdapterInfo, Binding, BufferBinding, GpuError, GpuResult
from .process import Sent, WorkerProcess
from .program_checks import check_program, check_program_limits
from .program_messages import program_request
from .program_model import GpuProgram, ProgramResult
from .resident_messages import Command
from .shared_bytes import Blob

_PROBE_SECONDS = 60.0
DEFAULT_SECONDS = 120.0
_MOST_REPEATS = 1024

_BUFFER_LIMIT = {
    "uniform": "max-uniform-buffer-binding-size",
    "storage": "max-storage-buffer-binding-size",
    "read-only-storage": "max-storage-buffer-binding-size",
}


_SUBGROUP_SIZE = """
@group(0) @binding(0) var<storage, read_write> size: u32;
@compute @workgroup_size(64) fn main(@builtin(subgroup_size) own: u32) { size = own; }
"""


class GpuDevice:
    """A WebGPU device in a child process, which starts with the first call. Use `shared_device` to share one.

    `adapter` says which: a backend or a part of an adapter's name, as `adapters.choose` takes it. A thread that may
    compile for a limited time (`compiling_within`) waits no longer than that for the start, which then goes on.
    """

    def __init__(self, adapter: str = "") -> None:
        self._worker = WorkerProcess(adapter)
        self._adapter: AdapterInfo | None = None
        self._ready_child = 0
        """The number of the last child that was seen to have opened its adapter."""
        self._start: Background[AdapterInfo] | None = None
        self._start_lock = ForkLock()
        self._unused: deque[tuple[int, Sequence[int]]] = deque()

    @staticmethod
    def available(adapter: str = "") -> AdapterInfo | None:
        """The adapter that `run` would use, or None; `unavailable_reason` then says why. Asked once a process.

        Raises InputError for an adapter's name that nothing here has.
        """
        found = _probe(adapter)
        return found if isinstance(found, AdapterInfo) else None

    @staticmethod
    def unavailable_reason(adapter: str = "") -> str | None:
        """Why no adapter can be used; None when one can. Raises InputError as `available` does."""
        found = _probe(adapter)
        return None if isinstance(found, AdapterInfo) else found

    @property
    def worker_pid(self) -> int | None:
        """The child's process id while one runs."""
        return self._worker.pid

    def adapter(self) -> AdapterInfo:
        """The adapter, its features and limits; the child is asked once.

        Raises GpuError of kind "unavailable" when there is none, and InputError for a name that nothing here has.
        """
        if self._adapter is None:
            self._await_start()
        if self._adapter is None:
            self._adapter = self._probe_adapter()
        return self._adapter

    def _await_start(self) -> None:
        """Where this thread's time is limited, wait for a child that has opened its adapter. Raises DeviceError."""
        if compile_time_left() is None or self._worker.is_running(self._ready_child):
            return
        with self._start_lock:
            start = self._start
            if start is None or start.has_ended or start.owner != os.getpid():
                start = self._start = Background(self._probe_adapter, "the start of the GPU's process")
        self._adapter = start.result()

    @cached_property
    def subgroup_size(self) -> int:
        """The number of invocations in a subgroup, measured, for an adapter with the feature `subgroup`. Drivers that
        choose among several sizes give that of a small kernel.
        """
        size = BufferBinding(0, 0, "storage", bytes(4))
        result = self.run(_SUBGROUP_SIZE, "main", [size], (1, 1, 1))
        return int.from_bytes(result.outputs[0, 0], "little")

    def _probe_adapter(self) -> AdapterInfo:
        child = self._worker.start()
        reply = self._ask({"operation": "probe", "seconds": _PROBE_SECONDS})
        assert reply["status"] == "adapter"
        self._ready_child = child
        return AdapterInfo(
            name=reply["name"],
            description=reply["description"],
            vendor=reply["vendor"],
            backend=reply["backend"],
            kind=reply["kind"],
            features=frozenset(reply["features"]),
            limits=reply["limits"],
        )

    def validate(self, wgsl: str, *, timeout: float = DEFAULT_SECONDS) -> str | None:
        """None when naga accepts the module, else its message. Code generation, which may still fail, is not tried."""
        try:
            self._ask({"operation": "validate", "seconds": timeout, "wgsl": wgsl})
        except GpuError as error:
            if error.kind != "invalid":
                raise
            return error.message
        return None

    def run(
        self,
        wgsl: str,
        entry: str,
        bindings: Sequence[Binding],
        workgroups: tuple[int, int, int],
        constants: Mapping[str, float] | None = None,
        *,
        repeat: int = 1,
        timeout: float = DEFAULT_SECONDS,
    ) -> GpuResult:
        """Dispatches `entry` and returns the bytes of every writable binding.

        The inputs are untouched, and every repeat starts from them, so the outputs are those of one dispatch. Bindings
        that the entry point does not use do no harm. A zero in `workgroups` runs nothing and returns the inputs, for
        which no GPU is needed. WebGPU cannot bind less than 4 bytes: an empty binding arrives as 4 zero bytes, and
        lengths are rounded up to a multiple of 4, which `arrayLength` sees. Raises GpuError.
        """
        _check_call(bindings, workgroups, repeat)
        if 0 in workgroups:
            unchanged = {it.point: it.restored(bytearray(it.raw())) for it in bindings if it.writable}
            return GpuResult(unchanged, compile_seconds=0.0, samples=(), timed_by="wall")
        blobs = [binding.raw() for binding in bindings]
        _check_limits(self.adapter().limits, bindings, blobs, workgroups, repeat)
        self._await_start()
        reply, outputs = self._worker.ask(
            {
                "operation": "run",
                "seconds": timeout,
                "wgsl": wgsl,
                "entry": entry,
                "bindings": [header_of(binding) for binding in bindings],
                "workgroups": workgroups,
                "constants": {name: float(value) for name, value in (constants or {}).items()},
                "repeat": repeat,
            },
            blobs,
        )
        reply = self._accept(reply)
        assert reply["status"] == "ran"
        written = [binding for binding in bindings if binding.writable]
        return GpuResult(
            outputs={it.point: it.restored(data) for it, data in zip(written, outputs, strict=True)},
            compile_seconds=reply["compile_seconds"],
            samples=tuple(reply["samples"]),
            timed_by=reply["timed_by"],
        )

    def run_program(self, program: GpuProgram, *, timeout: float = DEFAULT_SECONDS) -> ProgramResult:
        """Runs a program: its buffers stay on the device from the first step to the last, and its outputs come back.

        Buffers are rounded up to a multiple of 4 bytes above 0, which `arrayLength` sees; uniform ones to a multiple of
        16. Raises ValueError for a program that no adapter could run, and GpuError.
        """
        check_program(program)
        check_program_limits(program, self.adapter().limits)
        self._await_start()
        blobs = [it.raw() for it in program.buffers if it.data is not None]
        reply, outputs = self._worker.ask(program_request(program, timeout), blobs)
        reply = self._accept(reply)
        assert reply["status"] == "program"
        return ProgramResult(
            outputs=dict(zip(program.outputs, outputs, strict=True)),
            compile_seconds=reply["compile_seconds"],
            run_seconds=reply["run_seconds"],
        )

    def start(self) -> int:
        """The number of the child process that runs, started if there is none. Each child has another number."""
        self._await_start()
        return self._worker.start()

    def is_running(self, child: int) -> bool:
        """Whether the child process of that number runs."""
        return self._worker.is_running(child)

    def ending(self, child: int) -> GpuError:
        """Why the child process of that number has ended."""
        return self._worker.ending(child)

    def post_resident(
        self, commands: Sequence[Command], blobs: Sequence[Blob], *, child: int, timeout: float, is_limited: bool
    ) -> Sent:
        """Sends commands on what stays in a child process, which `settle` waits for. If the time `is_limited` by a
        caller, it begins now, else when that of what was sent before is over.

        Raises GpuError where that child has ended.
        """
        freed = [id for of, ids in self._drained() if of == child for id in ids]
        free: list[Command] = [{"do": "free", "ids": freed}] if freed else []
        request: Request = {"operation": "session", "seconds": timeout, "commands": [*free, *commands]}
        return self._worker.post(request, blobs, child=child, is_limited=is_limited)

    def settle(self, sent: Sequence[Sent], *, child: int) -> list[bytearray]:
        """Waits for commands that were sent, one request after another, and returns what the last of them has read.

        Raises GpuError for the first that failed, or where that child has ended.
        """
        read: list[bytearray] = []
        for it in sent:
            reply, read = self._worker.answer(it, child=child)
            self._accept(reply)
        return read

    def free_later(self, child: int, ids: Sequence[int]) -> None:
        """Frees what stays in a child process with the next request: takes no lock, so that finalizers can call it."""
        self._unused.append((child, ids))

    def _drained(self) -> Iterator[tuple[int, Sequence[int]]]:
        while self._unused:
            yield self._unused.popleft()

    def close(self) -> None:
        """Ends the child process; it also ends with this object and with the interpreter."""
        self._worker.close()

    def _ask(self, request: Request) -> Reply:
        reply, _ = self._worker.ask(request)
        return self._accept(reply)

    def _accept(self, reply: Reply) -> Reply:
        """The reply; a failure is raised. After a failure of the driver the child is replaced."""
        if reply["status"] != "failed":
            return reply
        if reply["kind"] == "input":
            raise InputError(reply["message"])
        if reply["kind"] in ("device", "unavailable"):
            self._worker.close()
        raise GpuError(reply["kind"], reply["message"])


def shared_device(adapter: str = "") -> GpuDevice:
    """The device on an adapter that everything in this process shares; without a name, the default adapter."""
    return _device(adapter)


@cache
def _device(adapter: str) -> GpuDevice:
    return GpuDevice(adapter)


@cache
def _probe(adapter: str) -> AdapterInfo | str:
    try:
        return shared_device(adapter).adapter()
    except GpuError as error:
        return error.message


def _check_call(bindings: Sequence[Binding], workgroups: tuple[int, int, int], repeat: int) -> None:
    """Raises ValueError for what no adapter could run, which is the caller's mistake and not the shader's."""
    if any(count < 0 for count in workgroups):
        raise ValueError(f"a dispatch cannot be negative: {workgroups}")
    if repeat < 1:
        raise ValueError(f"repeat must be at least 1, not {repeat}")
    seen: set[tuple[int, int]] = set()
    for binding in bindings:
        if binding.point in seen:
            raise ValueError(f"@group({binding.group}) @binding({binding.binding}) is given twice")
        seen.add(binding.point)


def _check_limits(
    limits: Mapping[str, int],
    bindings: Sequence[Binding],
    blobs: Sequence[Blob],
    workgroups: tuple[int, int, int],
    repeat: int,
) -> None:
    """Raises our own error for what wgpu would reject, before anything is sent."""
    most = limits["max-compute-workgroups-per-dimension"]
    for axis, count in zip("xyz", workgroups, strict=True):
        if count > most:
            raise GpuError("limit", f"{count} workgroups along {axis}; this adapter allows {most}")
    if repeat > _MOST_REPEATS:
        raise GpuError("limit", f"{repeat} repeats in one call; at most {_MOST_REPEATS} are possible")
    for binding, blob in zip(bindings, blobs, strict=True):
        if not isinstance(binding, BufferBinding):
            continue
        allowed = min(limits[_BUFFER_LIMIT[binding.kind]], limits["max-buffer-size"])
        if len(blob) > allowed:
            place = f"@group({binding.group}) @binding({binding.binding})"
            size = f"the {binding.kind} buffer at {place} has {len(blob)} bytes"
            raise GpuError("limit", f"{size}; this adapter allows {allowed}")
