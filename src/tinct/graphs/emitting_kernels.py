"""The kernels of an emitted plan: their WGSL files, and their bindings in WebGPU's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ..base.cached import cached_property
from ..compilation import Compilation
from ..ir.types import Sampler, Texture
from ..pipeline import GpuOptions
from ..reflection import BindingInfo
from .emitting_handles import layout_of
from .indirect import indirect_kernel
from .plan import Dispatch

if TYPE_CHECKING:
    from .program import GraphProgram

INDIRECT_FILE: Final = "indirect-dispatch.wgsl"
"""The kernel that makes the numbers of workgroups of indirect dispatches; no leaf has such a name."""
_LAYOUTS: Final = {
    ("uniform", "read"): "uniform",
    ("storage", "read"): "read-only-storage",
    ("storage", "read_write"): "storage",
}
"""WebGPU's GPUBufferBindingType, by address space and access."""

Json: TypeAlias = dict[str, Any]


@dataclass
class EmittedKernels:
    """The WGSL files: kernels of equal text are one."""

    program: GraphProgram
    is_filtered: bool
    texts: dict[str, str] = field(default_factory=dict[str, str])
    described: list[Json] = field(default_factory=list[Json])
    has_f16: bool = False
    limits: dict[str, int] = field(default_factory=dict[str, int])
    """The limits over WebGPU's default ones that a device must be asked for, since a kernel's workgroups need them."""

    _numbers: dict[str, int] = field(default_factory=dict[str, int])

    def number(self, step: Dispatch) -> int:
        """The index of a dispatch's kernel."""
        if step.leaf not in self._numbers:
            links = self.program.links
            kernel, names = links.kernel(step.leaf), {it.name for it in step.bindings}
            bound = [it for it in kernel.bindings if it.name in names]
            self._numbers[step.leaf] = self._add(links.compilation(step.leaf), bound, f"{step.leaf}.wgsl")
        return self._numbers[step.leaf]

    @cached_property
    def indirect(self) -> int:
        """The index of the kernel that makes the numbers of workgroups of indirect dispatches."""
        kernel = indirect_kernel()
        return self._add(kernel.compilation(), kernel.bindings, INDIRECT_FILE)

    def _add(self, compilation: Compilation, bound: Sequence[BindingInfo], name: str) -> int:
        made = compilation.for_gpu(GpuOptions())
        self.has_f16 |= made.has_f16
        for limit, value in made.limits:
            self.limits[limit] = max(value, self.limits.get(limit, 0))
        for number, it in enumerate(self.described):
            if self.texts[it["file"]] == made.wgsl:
                return number
        self.texts[name] = made.wgsl
        bindings = [{"group": it.group, "binding": it.binding, "name": it.name, **self._layout(it)} for it in bound]
        size = list(compilation.workgroup_size)
        self.described.append({"file": name, "entry": made.entry, "workgroup_size": size, "bindings": bindings})
        return len(self.described) - 1

    def _layout(self, info: BindingInfo) -> Json:
        if isinstance(info.type, (Texture, Sampler)):
            return layout_of(info.type, is_filtered=self.is_filtered)
        return {"type": _LAYOUTS[info.space, info.access]}
