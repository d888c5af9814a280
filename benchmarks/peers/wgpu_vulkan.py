"""The WebGPU adapter that wgpu finds: lavapipe where there is no GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tinct.backend.gpu import BufferBinding, BufferKind, GpuDevice, GpuError, faults_of, shared_device
from tinct.pipeline import GpuOptions
from tinct.reflection import BindingInfo

from ..problem import Problem
from .base import Prepared, Unsupported


class WgpuVulkan:
    """The WGSL file as it stands, through naga; timed on the device by timestamp queries.

    The first use counts as compiling, as far as it takes longer than the second: software drivers compile then.
    """

    name = "wgpu"

    def available(self) -> str | None:
        return GpuDevice.unavailable_reason()

    def version(self) -> str:
        from importlib.metadata import version

        adapter = shared_device().adapter()
        return f"wgpu {version('wgpu')}, {adapter.name} ({adapter.description}, {adapter.backend})"

    def prepare(self, problem: Problem) -> Prepared:
        wgsl, constants = self.text(problem)
        adapter = shared_device().adapter()
        if "enable f16" in wgsl and "shader-f16" not in adapter.features:
            raise Unsupported("the adapter has no f16")
        workgroups = problem.workgroups
        compile_seconds = 0.0

        def run() -> float:
            nonlocal compile_seconds
            bindings = [
                BufferBinding(b.group, b.binding, buffer_kind(b), problem.buffers[b.name]) for b in problem.bindings
            ]
            try:
                result = shared_device().run(
                    wgsl, problem.kernel.info.name, bindings, workgroups, constants, timeout=300
                )
            except GpuError as error:
                raise Unsupported(error.message) from error
            compile_seconds += result.compile_seconds
            for info in problem.bindings:
                if info.is_written:
                    problem.buffers[info.name].data[:] = result.outputs[info.group, info.binding]
            return result.run_seconds

        first, second = _first_and_second(problem, run)
        return Prepared(run, compile_seconds + max(0.0, first - second))

    def text(self, problem: Problem) -> tuple[str, Mapping[str, float]]:
        """The WGSL, and the values of its overrides."""
        constants = {name: float(value) for name, value in problem.case.constants.items()}
        return problem.case.kernel_path.read_text(encoding="utf-8"), constants


class TinctGpu(WgpuVulkan):
    """The WGSL that we write for the adapter: from core IR, or by way of Hercules IR."""

    def __init__(self, name: str, *, via_hercules: bool) -> None:
        self.name = name
        self._via_hercules = via_hercules

    def text(self, problem: Problem) -> tuple[str, Mapping[str, float]]:
        compilation = problem.kernel.shader.compilation(problem.kernel.info.name, problem.case.constants)
        hides_uniforms = "uniform values" in faults_of(shared_device().adapter())
        options = GpuOptions(for_naga=True, via_hercules=self._via_hercules, hides_uniforms=hides_uniforms)
        return compilation.for_gpu(options).wgsl, {}


def _first_and_second(problem: Problem, run: Callable[[], float]) -> tuple[float, float]:
    times: list[float] = []
    for _ in range(2):
        problem.restore()
        times.append(run())
    return times[0], times[1]


def buffer_kind(info: BindingInfo) -> BufferKind:
    """The kind of binding in wgpu's words."""
    if info.space == "uniform":
        return "uniform"
    return "storage" if info.is_written else "read-only-storage"
