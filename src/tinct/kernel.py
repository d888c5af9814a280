"""A compute entry point that can be run: what `shader["main"]` is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .arguments import count_of, flag_of, mapping_of, name_of, seconds_of, text_of
from .base.cached import cached_property
from .base.deadline import compiling_within
from .base.errors import InputError
from .base.records import dataclass
from .buffers import Output, Packed, bytes_to_run_on, unpack_buffers, values_by_name
from .compilation import Compilation
from .counting.recorders import recorders
from .devices import adapter_named, check_contract, device_named, routed
from .dispatch import Dispatch, DispatchSize, Timing, check_samplers, dispatch_size, handle_facts
from .instrumented import InstrumentedKernel, plain_runs, runs_are_plain
from .ir.diagnostics import Diagnostic, render_all
from .ir.layout_numbers import shown
from .ir.samplers import Sampler
from .ir.source import Source
from .ir.types import BindingPoint, Texture
from .ir.types import Sampler as SamplerType
from .outputs import Outputs, summary
from .pipeline import GpuOptions
from .print_lines import limited
from .reflection import (
    BindingInfo,
    EntryPointInfo,
)
from .sessions.calls import Constants, Held, Options

if TYPE_CHECKING:
    import threading

    import numpy.typing as npt

    from .debugging import Launch, Trace, Writes
    from .debugging.engine import Debugger
    from .printing import PrintingProgram
    from .sessions.buffer import Buffer
    from .shader import Shader
    from .wgpu_py import GpuObject, LayoutEntry, Layouts, WgpuDevice

BufferValue: TypeAlias = (
    "npt.ArrayLike | Mapping[str, Any] | bytes | bytearray | memoryview | Buffer | Sampler | Output"
)
"""What `Kernel.run` takes for a binding."""
BufferValues: TypeAlias = (
    "Mapping[str, BufferValue] | Mapping[tuple[int, int], BufferValue] | Mapping[str | tuple[int, int], BufferValue]"
)
"""Values of bindings, by name or by `(group, binding)`."""


@dataclass(frozen=True, slots=True)
class Run:
    """The result of a dispatch: the written buffers by variable name, and the seconds it took."""

    outputs: dict[str, npt.NDArray[Any]]
    timing: Timing

    def __repr__(self) -> str:
        return f"<Run {summary(self.outputs, self.timing)}>"


@dataclass(frozen=True, slots=True)
class Sanitized:
    """The result of a sanitized dispatch: the written buffers by variable name, and the findings with their places."""

    outputs: dict[str, npt.NDArray[Any]]
    findings: tuple[Diagnostic, ...]
    source: Source

    def __repr__(self) -> str:
        return f"<Sanitized {summary(self.outputs)}; findings: {len(self.findings)}>"

    def __str__(self) -> str:
        """The findings with their source lines."""
        return render_all(self.findings, self.source)


def _unpickled_kernel(shader: Shader, entry: str) -> Kernel:
    return shader.kernel(entry)


class Kernel:
    """A compute entry point, ready to run on any device."""

    def __init__(self, shader: Shader, info: EntryPointInfo) -> None:
        self.shader = shader
        self._info = info

    def __reduce__(self) -> tuple[Callable[[Shader, str], Kernel], tuple[Shader, str]]:
        return _unpickled_kernel, (self.shader, self.info.name)

    def __dask_tokenize__(self) -> tuple[str, bytes, str]:
        return "tinct.Kernel", self.shader.source.data, self.info.name

    def __repr__(self) -> str:
        return f"<Kernel {self.info.name} of {self.shader.source.name}>"

    @property
    def info(self) -> EntryPointInfo:
        """The entry point."""
        return self._info

    @property
    def bindings(self) -> tuple[BindingInfo, ...]:
        """The bound variables it uses."""
        return self._bindings

    @cached_property
    def _bindings(self) -> tuple[BindingInfo, ...]:
        return tuple(self.shader.bindings[name] for name in self.info.bindings)

    def compilation(self, constants: Constants | None = None) -> Compilation:
        """Its compilation, whose stages are made once. Raises InputError for unknown constants."""
        return self.shader.compilation(self.info.name, {} if constants is None else constants)

    def workgroup_size(self, constants: Constants | None = None) -> tuple[int, int, int]:
        """Invocations a workgroup along x, y and z."""
        return self.compilation(constants).workgroup_size

    def __call__(
        self,
        buffers: Mapping[str, object],
        *,
        threads: object = None,
        workgroups: object = None,
        constants: Constants | None = None,
        capacity: int | None = None,
    ) -> dict[str, Any]:
        """Add a node that executes the kernel to the graph whose inputs and ports are among `buffers`.

        `capacity` is the most invocations, where a node writes their number; see `Graph.node`. For functions under
        `tinct.graph`; `run` takes arrays. Returns the ports of the written bindings by name. Raises InputError.
        """
        from .graph_calls import call_on_ports

        options = {"threads": threads, "workgroups": workgroups, "constants": constants, "capacity": capacity}
        return call_on_ports(self, buffers, **options)

    def run(
        self,
        buffers: BufferValues,
        *,
        workgroups: DispatchSize | None = None,
        threads: DispatchSize | None = None,
        constants: Constants | None = None,
        device: str = "cpu",
        via: str | None = None,
        timeout: float | None = None,
        contract: bool = False,
        print_limit: int | None = None,
    ) -> dict[str, npt.NDArray[Any]]:
        """Dispatch on a device and return the writable buffers; the arrays given stay as they are. No other thread may
        write them meanwhile: what is only read is not copied.

        `buffers` has an array (or bytes) for each binding, by variable name or by `(group, binding)`: in the layout
        `BindingInfo.dtype` describes, or without padding. A sampler is a `tinct.Sampler`. None, or (None, elements) for
        a runtime-sized array, or (None, shape) for a texture, stands for zeros in a binding that is written. A `Buffer`
        of a session among them is changed in place, and is not in what is returned. The size of the dispatch is given
        as `workgroups`, or as `threads`, which is rounded up to whole workgroups; one to three numbers for x, y, z. A
        zero runs nothing.
        `constants` sets overrides. `device` is one of `tinct.DEVICES`, or `gpu:ADAPTER` for a certain GPU, where
        ADAPTER is a backend (`gpu:vulkan`) or a part of an adapter's name (`gpu:radeon`). With
        `via="hercules"`, the WGSL for a GPU is written from Hercules IR, after its passes, as code for the CPU
        always is. Compiling that takes longer than `timeout` seconds, with the imports that it needs and the start of
        the GPU's process, ends by an error, and so does a dispatch that then takes longer; `math.inf` is no limit, and
        so is None, except that a GPU then has 120 seconds. With `contract`, the CPU may round `a * b + c` once, as WGSL
        allows and GPUs do: that is faster and often more exact, but the results are no longer the interpreter's, bit
        for bit. `print_limit` is as for `printed`.

        Raises InputError for buffers, sizes or names that do not fit, ShaderError for what the device cannot compile,
        DeviceError when the device fails or the time is over.
        """
        return self.run_timed(
            buffers,
            workgroups=workgroups,
            threads=threads,
            constants=constants,
            device=device,
            via=via,
            timeout=timeout,
            contract=contract,
            print_limit=print_limit,
        ).outputs

    def bind_group_layouts(self) -> Layouts:
        """The entries of its bind group layouts, by group, as wgpu-py's `create_bind_group_layout` takes them.

        Raises InputError for a binding that wgpu-py does not have.
        """
        from .wgpu_py import layouts_of

        return layouts_of(self.bindings, self.sampled_pairs())

    def sampled_pairs(self) -> Sequence[tuple[BindingPoint, BindingPoint]]:
        """The bindings of each texture with each sampler that a builtin function takes together with it."""
        has_samplers = any(isinstance(it.type, SamplerType) for it in self.bindings)
        return self.compilation().sampled_pairs if has_samplers else ()

    def layout_entries(self) -> dict[str, LayoutEntry]:
        """The entries of `bind_group_layouts` by the variables' names, for bind groups that are made by hand.

        An entry says what `BindingInfo` cannot, since it depends on how the kernel uses a variable: whether a sampler
        is filtering, and a texture filterable. Raises InputError for a binding that wgpu-py does not have.
        """
        entries = {(group, it["binding"]): it for group, layout in self.bind_group_layouts().items() for it in layout}
        return {it.name: entries[it.group, it.binding] for it in self.bindings}

    def pipeline(self, device: WgpuDevice, *, constants: Constants | None = None) -> GpuObject:
        """A `wgpu.GPUComputePipeline` on a device of wgpu-py, with overrides set by `constants`.

        Its layouts are those of `bind_group_layouts`. The WGSL is written for wgpu: indices are clamped, and workgroup
        memory is zeroed. Raises ShaderError, InputError, and what wgpu raises.
        """
        from .wgpu_py import made_pipeline

        made = self.compilation(constants).for_gpu(GpuOptions(for_naga=True))
        return made_pipeline(device, made, self.bind_group_layouts())

    def bind(self, device: WgpuDevice, values: Mapping[Any, Any]) -> dict[int, GpuObject]:
        """The `wgpu.GPUBindGroup` of each group on a device of wgpu-py, for `pipeline` and any other of these layouts.

        A value is a `GPUBuffer`, a part of one (`{"buffer": b, "offset": 256, "size": 64}`), a `GPUTexture`, a
        `GPUTextureView`, a `GPUSampler`, or what `run` takes, which is packed into a new buffer. Raises InputError.
        """
        from .wgpu_py import bound_groups

        return bound_groups(device, self.bindings, self.bind_group_layouts(), values)

    def dispatch_size(
        self,
        *,
        threads: DispatchSize | None = None,
        workgroups: DispatchSize | None = None,
        constants: Constants | None = None,
    ) -> tuple[int, int, int]:
        """The numbers of workgroups along x, y and z for so many threads, rounded up. Raises InputError."""
        return dispatch_size(workgroups, threads, self.compilation(constants))

    def run_timed(
        self,
        buffers: BufferValues,
        *,
        workgroups: DispatchSize | None = None,
        threads: DispatchSize | None = None,
        constants: Constants | None = None,
        device: str = "cpu",
        via: str | None = None,
        timeout: float | None = None,
        contract: bool = False,
        trial: bool = True,
        print_limit: int | None = None,
    ) -> Run:
        """`run` with the seconds that compiling and running took. Without `trial`, the CPU uses fully optimised code
        from the first run on.
        """
        seconds = seconds_of(timeout)
        with limited(print_limit), compiling_within(seconds):
            return self._run_timed(
                buffers, Options(workgroups, threads, constants, device, via, contract, is_trial=trial), seconds
            )

    def _run_timed(self, buffers: BufferValues, options: Options, seconds: float | None) -> Run:
        device, contract = options.device, flag_of(options.contract, "contract")
        way = None if options.via is None else name_of(options.via, "a way", "hercules")
        runner = device_named(routed(name_of(device, "a device", "cpu"), way))
        check_contract(device, contract=contract)
        if any(isinstance(value, Held) for value in mapping_of(buffers, "buffers", self.info.bindings).values()):
            from .sessions.mixed import run_with_buffers

            outputs, timing = run_with_buffers(self, buffers, options, seconds)
            return Run(Outputs(outputs), timing)
        prepared = self._prepared(buffers, options.workgroups, options.threads, options.constants, device)
        timing = runner(
            Dispatch(
                prepared.compilation,
                prepared.kernel.bindings,
                prepared.packed,
                prepared.workgroups,
                seconds,
                contract,
                options.is_trial,
            )
        )
        return Run(prepared.outputs(), timing)

    def twin(self) -> InstrumentedKernel | None:
        """The kernel that runs in its place: with counters while somebody measures coverage, with records of what it
        prints, or with both. None if nothing is counted or printed.
        """
        if runs_are_plain():
            return None
        return self._counted if recorders() else self._printing

    @property
    def prints(self) -> bool:
        """Whether it may print by `debugPrintf`."""
        return self._printing is not None

    @cached_property
    def _counted(self) -> InstrumentedKernel:
        counted, prints = self.shader.counted, self._prints
        return InstrumentedKernel(self, counted.origin, [counted] if prints is None else [prints, counted])

    @cached_property
    def _printing(self) -> InstrumentedKernel | None:
        prints = self._prints
        if prints is None:
            return None
        from .printing import PrintingOrigin

        return InstrumentedKernel(self, PrintingOrigin(prints.program), [prints])

    @cached_property
    def _prints(self) -> PrintingProgram | None:
        """The prints of its program, if it may print."""
        program = self.shader.printing
        return program if program is not None and self.info.name in program.entries else None

    def sanitize(
        self,
        buffers: BufferValues,
        *,
        workgroups: DispatchSize | None = None,
        threads: DispatchSize | None = None,
        constants: Constants | None = None,
        timeout: float | None = None,
    ) -> Sanitized:
        """`run` on the interpreter, which looks for races and misuse of memory (see `ir.core.sanitizer`)."""
        from .ir.core.sanitizer import sanitize

        prepared = self._prepared(buffers, workgroups, threads, constants, "interp")
        compilation, seconds = prepared.compilation, seconds_of(timeout)
        findings = sanitize(
            compilation.specialised, compilation.entry, prepared.packed, prepared.workgroups, timeout=seconds
        )
        return Sanitized(prepared.outputs(), findings, self.shader.source)

    def trace(
        self,
        buffers: BufferValues,
        *,
        invocation: DispatchSize,
        workgroups: DispatchSize | None = None,
        threads: DispatchSize | None = None,
        constants: Constants | None = None,
        turns: tuple[int, int] = (2, 1),
        alone: bool = False,
        timeout: float | None = None,
    ) -> Trace:
        """What one invocation, by its global id, computes: each statement that it runs, with the values that it gives.

        Of each loop the first and the last turns are kept, `turns` of them. The whole workgroup runs, on the
        interpreter, after the workgroups before it; those are left out if nothing that they write can be read, or
        with `alone`. Raises what `run` raises, and InputError for an invocation that is not in the dispatch.
        """
        from .debugging import Folding, trace

        first, last = (count_of(it, "a number of turns") for it in turns)
        launch = self._launch(buffers, workgroups, threads, constants)
        chosen = _global_id(invocation)
        return trace(launch, chosen, Folding(first, last), seconds_of(timeout), alone=flag_of(alone, "alone"))

    def who_wrote(
        self,
        path: str,
        buffers: BufferValues,
        *,
        workgroups: DispatchSize | None = None,
        threads: DispatchSize | None = None,
        constants: Constants | None = None,
        limit: int = 1000,
        timeout: float | None = None,
    ) -> Writes:
        """All writes of a dispatch to a part of a buffer or of workgroup memory, such as `out[3].pos.x`, in order.

        The dispatch runs on the interpreter. Of more than `limit` writes, the first ones and the last one are kept.
        Raises what `run` raises, and InputError for a path that does not fit.
        """
        from .debugging import who_wrote

        launch = self._launch(buffers, workgroups, threads, constants)
        text = text_of(path, "a path", "out[3].pos.x")
        return who_wrote(launch, text, count_of(limit, "the limit"), seconds_of(timeout))

    def debug(
        self,
        buffers: BufferValues,
        *,
        invocation: DispatchSize = 0,
        workgroups: DispatchSize | None = None,
        threads: DispatchSize | None = None,
        constants: Constants | None = None,
        alone: bool = False,
        timeout: float | None = None,
        pause: threading.Event | None = None,
    ) -> Debugger:
        """A debugger, which stands before the first statement of an invocation, by its global id.

        The workgroup of the invocation runs as `trace` says. A command of the debugger that takes longer than `timeout`
        seconds pauses, and so does one during which `pause` is set. Raises what `run` raises, and InputError for an
        invocation that is not in the dispatch.
        """
        from .debugging.engine import Debugger

        launch = self._launch(buffers, workgroups, threads, constants)
        limit, is_alone = seconds_of(timeout), flag_of(alone, "alone")
        return Debugger(launch, _global_id(invocation), limit, alone=is_alone, pause_requested=pause)

    def _launch(
        self,
        buffers: BufferValues,
        workgroups: DispatchSize | None,
        threads: DispatchSize | None,
        constants: Constants | None,
    ) -> Launch:
        from .debugging import Launch

        with plain_runs():
            made = self._prepared(buffers, workgroups, threads, constants, "interp")
        packed = {point: bytearray(it) for point, it in made.packed.items()}  # arrays may change until it is debugged
        return Launch(self.shader.program, self.info.name, made.compilation.job.constants, packed, made.workgroups)

    def _prepared(
        self,
        buffers: BufferValues,
        workgroups: DispatchSize | None,
        threads: DispatchSize | None,
        constants: Constants | None,
        device: str,
    ) -> _Prepared:
        """What a dispatch needs. Raises InputError and ShaderError."""
        values, twin = values_by_name(self.bindings, buffers), self.twin()
        kernel = self if twin is None else twin
        values |= {} if twin is None else twin.values()
        compilation = kernel.compilation(constants)
        is_suited = device == "cpu" and any(isinstance(it.type, (SamplerType, Texture)) for it in kernel.bindings)
        if not is_suited:
            compilation.check_runnable_on(device)
        packed = bytes_to_run_on(kernel.bindings, values, "compact" if adapter_named(device) is None else "wide")
        if is_suited:  # the code that will run may be in the cache
            compilation.suited_to(handle_facts(kernel.bindings, packed)).check_runnable_on(device)
        check_samplers(compilation, kernel.bindings, packed)
        return _Prepared(kernel, twin, values, compilation, packed, dispatch_size(workgroups, threads, compilation))


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A dispatch: the kernel that runs, the values that were given, and the bytes of each binding."""

    kernel: Kernel | InstrumentedKernel
    twin: InstrumentedKernel | None
    values: Mapping[str, Any]
    compilation: Compilation
    packed: dict[BindingPoint, Packed]
    workgroups: tuple[int, int, int]

    def outputs(self) -> Outputs:
        """What the dispatch, which has ended, wrote for the caller."""
        outputs = unpack_buffers(self.kernel.bindings, self.packed, self.values)
        if self.twin is not None:
            self.twin.take(outputs, self.compilation, self.workgroups)
        return Outputs(outputs)


def _global_id(invocation: object) -> tuple[int, int, int]:
    """An invocation's global id from one to three numbers; missing ones are 0. Raises InputError."""
    numbers = np.atleast_1d(np.asarray(invocation, object)).tolist()
    if not 1 <= len(numbers) <= 3:
        raise InputError(f"an invocation is one to three whole numbers, not {shown(invocation)}")
    x, y, z = (*(count_of(it, "an invocation's id") for it in numbers), 0, 0)[:3]
    return x, y, z
