"""Sessions: buffers that stay on a device, and dispatches on them."""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections.abc import Generator, Hashable, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Literal, NoReturn

import numpy as np
import numpy.typing as npt

from ..arguments import name_of, seconds_of
from ..backend.cpu.aligned import Bytes
from ..base.deadline import compiling_within
from ..base.errors import DeviceError, InputError, TinctError
from ..buffers import pack_binding, zeros, zeros_size
from ..counting.recorders import recorders
from ..devices import adapter_named, device_named
from ..dispatch import DispatchSize, check_samplers
from ..ir.layout_numbers import shown
from ..ir.samplers import Sampler
from ..ir.textures import HEADER_BYTES
from ..ir.types import Texture
from ..reflection import BindingInfo
from .arguments import Argument, check_apart
from .buffer import Buffer, dtype_of, shape_of
from .calls import Call, Calls, Constants, KernelLike, Options
from .copies import Copies
from .forms import ArrayForm, BindingForm, Form, as_plain_array
from .forms import like as without_memory
from .gpu_launch import GpuLaunch
from .gpu_side import GpuSide
from .launch_cache import LaunchCache
from .launches import CpuLaunch, EmptyLaunch, InterpretedLaunch, Launch, Plan
from .memory import HOST, Ledger, Memory
from .resolving import Resolved, Resolver, Values, check_is_no_sampler
from .twins import run_twin, twin_of
from .widening import WideningLaunch, check_is_bound_as_it_is, must_widen

_sessions: weakref.WeakSet[Session] = weakref.WeakSet()


class Session:
    """Holds buffers on devices, and runs kernels on them, in order.

    On the CPU a dispatch is done when `run` returns. On a GPU it is recorded; what is recorded is sent from time to
    time and when something is read. `device` is where `run` runs what names no device of its own.

    Threads may share a session: their calls are done one after another. The child of a fork may not use the sessions of
    its parent. Every method raises InputError after the end of the session.
    """

    def __init__(self, device: str = "cpu") -> None:
        device_named(name_of(device, "a device", "cpu"))
        self._device = device
        self._lock = threading.RLock()
        self._ledger = Ledger()
        self._launches = LaunchCache()
        self._calls = Calls()
        self._resolver = Resolver(self, self._ledger)
        self._sides: dict[str, GpuSide] = {}
        self._adopted: list[Memory] = []
        """The adopted memories that are used, or lack their newest bytes, which they get in the end."""
        self._memories: weakref.WeakSet[Memory] = weakref.WeakSet()
        self._numbers = itertools.count(1)
        self._process = os.getpid()
        self._is_closed = False
        _sessions.add(self)

    def __repr__(self) -> str:
        return f"<Session on {self._device}{', ended' if self._is_closed else ''}>"

    def __reduce__(self) -> NoReturn:
        raise InputError("a session cannot be copied or pickled, as it holds memory of devices: begin another")

    def __enter__(self) -> Session:
        with self.entered():
            return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except TinctError:
            if error is None:
                raise

    @property
    def copies(self) -> Copies:
        """The copies between devices, and on a device, that the session has made so far, in order."""
        return self._ledger.copies

    # Buffers

    def buffer(
        self,
        values: npt.ArrayLike | Mapping[str, Any] | bytes | bytearray | memoryview,
        binding: BindingInfo | None = None,
        *,
        label: str = "",
    ) -> Buffer:
        """A buffer with a copy of an array, or of bytes.

        For a `binding` (as `kernel.bindings` has them), `values` is whatever `Kernel.run` takes for it, a texture's
        too, and the buffer has its memory layout. Without one, the bytes are those of the array. Raises InputError.
        """
        with self.entered():
            if binding is None:
                return self._array_buffer(values, label)
            info = _binding_of(binding)
            data = pack_binding(info, values, "compact")
            header = bytes(data[:HEADER_BYTES]) if isinstance(info.type, Texture) else b""
            return self._filled(BindingForm(info, len(data), without_memory(values), header), data, label)

    def texture(self, binding: BindingInfo, data: bytes, *, label: str = "") -> Buffer:
        """A texture with these bytes, which `ir.textures` describes."""
        with self.entered():
            return self._filled(BindingForm(binding, len(data), header=data[:HEADER_BYTES]), data, label)

    def adopt(self, array: npt.NDArray[Any], *, label: str = "") -> Buffer:
        """A buffer that works in the caller's array, which must be contiguous.

        A dispatch on the CPU changes the array in place; after one on another device `Buffer.request`, or the end of
        the session, brings the newest bytes into it. A caller that changes the array says so by `Buffer.changed`.

        Raises InputError for what is no contiguous array of numbers, or overlaps an array that was adopted before.
        """
        with self.entered():
            name = self._label(label)
            plain = as_plain_array(array, name)
            if plain is not array:
                raise InputError(f"{name} adopts a contiguous numpy array: copy this one with session.buffer(array)")
            data = plain.reshape(-1).view(np.uint8)
            self._check_adopts(data, name)
            memory = Memory.adopting(self._ledger, name, data)
            self._adopted.append(memory)
            self._memories.add(memory)
            return Buffer(self, memory, ArrayForm(plain.dtype, plain.shape), 0, memory.size)

    def empty(
        self,
        like: BindingInfo | npt.DTypeLike,
        extent: int | tuple[int, ...] | None = None,
        *,
        label: str = "",
    ) -> Buffer:
        """A buffer of zeros, which no device has until it is used, so that nothing is uploaded.

        For a binding, `extent` is the number of elements in its runtime-sized array, or a texture's shape; for a dtype
        it is the array's shape. Raises InputError.
        """
        with self.entered():
            if isinstance(like, BindingInfo):
                check_is_no_sampler(like)
                return self._empty_for(like, extent, label)
            form = ArrayForm(dtype_of(like), shape_of(1 if extent is None else extent))
            return self._made(form, form.size, label)

    def copy(self, buffer: Buffer, *, label: str = "", why: str = "the program copies it") -> Buffer:
        """A new buffer with the values of another that is no view, made on a device that has its newest bytes.

        `copies` has a record of the copy, with `why`; zeros that were never written are not copied. Raises InputError,
        and DeviceError for bytes that are torn or lost.
        """
        with self.entered():
            self.check_mine(buffer)
            if buffer.nbytes != buffer.memory.size:
                raise InputError(f"not supported: a copy of a view of {buffer.label}")
            made = self._made(buffer.form, buffer.nbytes, label)
            buffer.memory.copy_to(made.memory, why)
            return made

    def release(self, buffer: Buffer) -> None:
        """What `Buffer.release` does."""
        with self.entered():
            self.check_mine(buffer)
            memory = buffer.memory
            try:
                _bring_home(memory)
            finally:
                memory.release()
                self._launches.clear()
                for side in self._sides.values():
                    side.forget(memory)

    def _array_buffer(self, values: object, label: str) -> Buffer:
        name = self._label(label)
        plain = as_plain_array(values, name)
        return self._filled(ArrayForm(plain.dtype, plain.shape), plain.reshape(-1).view(np.uint8).data, name)

    def _empty_for(self, info: BindingInfo, extent: int | tuple[int, ...] | None, label: str) -> Buffer:
        if not isinstance(info.type, Texture):
            size = zeros_size(info, extent)
            return self._made(BindingForm(info, size), size, label)
        data = zeros(info, extent)
        assert isinstance(extent, tuple)
        like = np.broadcast_to(np.zeros((), info.dtype), extent)
        return self._filled(BindingForm(info, len(data), like, bytes(data[:HEADER_BYTES])), data, label)

    def _filled(self, form: Form, data: bytes | bytearray | memoryview, label: str) -> Buffer:
        buffer = self._made(form, len(data), label)
        buffer.memory.set_host(data)
        return buffer

    def _made(self, form: Form, size: int, label: str) -> Buffer:
        memory = Memory(self._ledger, self._label(label), size, form.texture)
        self._memories.add(memory)
        return Buffer(self, memory, form, 0, size)

    def _label(self, label: str) -> str:
        return name_of(label, "a label", "positions") or f"buffer {next(self._numbers)}"

    def _check_adopts(self, data: Bytes, name: str) -> None:
        self._adopted = [it for it in self._adopted if not it.is_released and (it.users or it.is_owed)]
        for memory in self._adopted:
            if np.may_share_memory(memory.host(), data):
                raise InputError(f"{name} overlaps the array of {memory.label}, which the session has adopted")

    # Running

    def run(
        self,
        kernel: KernelLike,
        bindings: Values,
        *,
        workgroups: DispatchSize | None = None,
        threads: DispatchSize | None = None,
        constants: Constants | None = None,
        device: str | None = None,
        via: str | None = None,
        timeout: float | None = None,
        contract: bool = False,
        extra: Literal["refuse", "ignore"] = "refuse",
    ) -> dict[str, Buffer]:
        """Dispatch a kernel after all that was run before; nothing is copied back.

        `bindings` has a value for each binding, by name or by `(group, binding)`: a Buffer of this session, which the
        kernel may write; an array or anything else that `Kernel.run` takes, for what the kernel only reads, which is
        uploaded for this dispatch; or, for what it writes, None or (None, elements), which stands for a new buffer of
        zeros. The new buffers are returned, by name. `extra="ignore"` passes over keys that the kernel does not use, so
        that several kernels can share one mapping. All else is as for `Kernel.run`; `device` is the session's own if
        none is given. On a GPU, a dispatch with a `timeout` is waited for.

        Raises InputError for what does not fit, for buffers that are bound twice or overlap where one is written
        (WebGPU, "Usage Scopes"), and for a buffer of another session; ShaderError for what the device cannot compile;
        DeviceError when a device fails, the time is over, or a buffer is torn or lost.
        """
        with self._lock:
            key: Hashable | None
            try:
                ids = map(id, bindings.values())
                key = (kernel, threads, workgroups, constants, device, via, timeout, contract, extra, *bindings, *ids)
                launch = None if recorders() else self._launches.found.get(key)
            except (TypeError, AttributeError):  # no mapping, or what cannot be looked up: checked below
                key = launch = None
            if launch is not None:
                if launch.epoch != self._ledger.epoch:
                    launch.start(None)
                    return {}
                try:
                    launch.go()
                except BaseException as error:
                    raise launch.failure(error) from None
                return {}
            options = Options(workgroups, threads, constants, device or self._device, via, contract, extra)
            return self.run_with(kernel, bindings, options, timeout, fast_key=key if timeout is None else None)

    def wait(self, timeout: float | None = None) -> None:
        """Wait until all GPUs have done what is recorded, at most `timeout` seconds. Raises DeviceError."""
        with self.entered():
            seconds = seconds_of(timeout)
            for side in self._sides.values():
                side.wait(seconds)

    def run_with(
        self,
        kernel: KernelLike,
        bindings: Values,
        options: Options,
        timeout: float | None,
        *,
        fast_key: Hashable | None = None,
    ) -> dict[str, Buffer]:
        """`run`, with its options as one object. By `fast_key`, `run` finds the prepared dispatch the next time."""
        twin = twin_of(kernel)
        if twin is not None:
            return run_twin(self, twin, bindings, options, timeout)
        seconds = seconds_of(timeout)
        with self.entered(), compiling_within(seconds):
            call = self._calls.of(kernel, options)
            resolved = self._resolver.resolved(kernel.bindings, bindings, is_extra_ignored=options.extra == "ignore")
            check_apart(resolved.arguments)
            launch = self._launch(call, resolved)
            if seconds is None:
                launch.again()
            else:
                launch.start(seconds)
            if resolved.are_buffers and fast_key is not None:
                self._launches.keep(fast_key, launch, map(id, bindings.values()))
            return resolved.made

    def prepared(self, kernel: KernelLike, bindings: Mapping[str, Buffer | Sampler], options: Options) -> Launch:
        """A dispatch on buffers of the session and on samplers, checked, for any number of runs while the buffers live.
        Raises InputError and ShaderError.
        """
        with self.entered():
            resolved = self._resolver.resolved(kernel.bindings, bindings, is_extra_ignored=False)
            check_apart(resolved.arguments)
            return self._new_launch(self._calls.of(kernel, options), resolved)

    def gpu(self, device: str) -> GpuSide:
        """A GPU in this session, by the name of the device."""
        with self.entered():
            adapter = adapter_named(device)
            assert adapter is not None
            return self._gpu_side(device, adapter)

    def _launch(self, call: Call, resolved: Resolved) -> Launch:
        """The prepared dispatch, which is remembered if what it is bound to lasts."""
        if not resolved.is_lasting:
            return self._new_launch(call, resolved)
        key = (id(call.compilation), call.device, call.workgroups, call.contract, call.is_trial, *resolved.ids)
        launch = self._launches.found.get(key)
        if launch is None:
            launch = self._new_launch(call, resolved)
            self._launches.keep(key, launch, resolved.ids)
        return launch

    def _new_launch(self, call: Call, resolved: Resolved) -> Launch:
        check_samplers(call.compilation, [it.info for it in resolved.arguments], resolved.samplers())
        plan = Plan(call.compilation, resolved.arguments, call.workgroups)
        if 0 in call.workgroups:
            return EmptyLaunch(plan, self._ledger)
        if call.adapter is not None:
            check_is_bound_as_it_is(resolved.arguments, call)
            return GpuLaunch(plan, self._ledger, self._side(call), via_hercules=call.is_via_hercules)
        if any(map(must_widen, resolved.arguments)):
            return WideningLaunch(call, plan, self._ledger, self._calls, self._host_launch)
        return self._host_launch(call, resolved.arguments)

    def _host_launch(self, call: Call, arguments: Sequence[Argument]) -> Launch:
        plan = Plan(call.compilation, arguments, call.workgroups)
        if call.device == "cpu":
            return CpuLaunch(plan, self._ledger, contract=call.contract, trial=call.is_trial)
        return InterpretedLaunch(plan, self._ledger, call.device)

    def _side(self, call: Call) -> GpuSide:
        assert call.adapter is not None
        return self._gpu_side(call.gpu, call.adapter)

    def _gpu_side(self, name: str, adapter: str) -> GpuSide:
        if name not in self._sides:
            self._sides[name] = GpuSide(name, adapter)
        return self._sides[name]

    # The session's end

    def close(self) -> None:
        """End the session, as leaving its `with` statement does: adopted arrays get their newest bytes, everything else
        is released. Closing it again does nothing. Raises DeviceError for an adopted array that is torn or lost.
        """
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            problems = [] if self._is_foreign else self._bring_all_home()
            self._launches.clear()
            self._resolver.clear()
            self._adopted.clear()
            for memory in self._memories:
                memory.release()
            for side in self._sides.values():
                side.close()
            self._sides.clear()
        if problems:
            raise problems[0]

    def _bring_all_home(self) -> list[DeviceError]:
        """The errors on the way."""
        problems: list[DeviceError] = []
        for memory in self._adopted:
            try:
                _bring_home(memory)
            except DeviceError as error:
                problems.append(error)
        return problems

    # For buffers and kernels

    @contextmanager
    def entered(self) -> Generator[None]:
        """One call at a time, on a session that has not ended. Raises InputError."""
        with self._lock:
            if self._is_closed:
                raise InputError("the session has ended")
            if self._is_foreign:
                raise InputError("the session belongs to the process that was forked: make one in this process")
            yield

    def check_mine(self, buffer: Buffer) -> None:
        """Raise InputError for a buffer of another session."""
        if buffer.session is not self:
            raise InputError(f"{buffer.label} is a buffer of another session")

    def forget(self, bound: Buffer | Memory) -> None:
        """What is prepared for a buffer that ends is no longer needed."""
        self._launches.forget(id(bound))

    @property
    def _is_foreign(self) -> bool:
        return self._process != os.getpid()

    def leave_to_parent(self) -> None:
        """In the child of a fork: nothing that was prepared runs."""
        self._lock = threading.RLock()
        self._launches = LaunchCache()


def _binding_of(given: object) -> BindingInfo:
    """A binding. Raises InputError."""
    if isinstance(given, BindingInfo):
        check_is_no_sampler(given)
        return given
    raise InputError(f"a binding is one of kernel.bindings, not {shown(given)}")


def _bring_home(memory: Memory) -> None:
    """Have the newest bytes in an adopted array."""
    if memory.is_owed:
        memory.need(HOST, "the array is adopted")


def _leave_all_to_parent() -> None:
    for session in _sessions:
        session.leave_to_parent()


os.register_at_fork(after_in_child=_leave_all_to_parent)
