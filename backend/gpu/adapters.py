"""Which adapter runs shaders: a choice among all that wgpu lists.

wgpu lists OpenGL adapters beside those of Vulkan, Metal and D3D12, and answers a request for any adapter with one where
there is no other. OpenGL lacks what WebGPU demands, so shaders give wrong numbers there: WebGPU's own level for OpenGL
ES, "compatibility mode", is a restricted one. Such an adapter is chosen only when its backend is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...base.errors import InputError
from ...ir.hints import closest
from .model import WEBGPU_BACKENDS, GpuError

_BACKENDS: Final = {
    **{backend.lower(): (backend,) for backend in WEBGPU_BACKENDS},
    "opengl": ("OpenGL", "OpenGLES"),
}
"""The backends that can be named, each with wgpu's spellings."""

_KINDS: Final = ("DiscreteGPU", "IntegratedGPU", "Unknown", "CPU")
"""Kinds of adapter as wgpu spells them, the fastest first; "Unknown" is what virtual machines have."""


@dataclass(frozen=True, slots=True)
class ListedAdapter:
    """An adapter that wgpu lists, in wgpu's words."""

    name: str
    backend: str
    kind: str

    @property
    def is_webgpu(self) -> bool:
        """Whether wgpu implements all of WebGPU on it."""
        return self.backend in WEBGPU_BACKENDS

    def __str__(self) -> str:
        return f"{self.name} ({self.backend})"


def choose(adapters: Sequence[ListedAdapter], wanted: str = "") -> int:
    """The index of the adapter to use: the fastest kind, and of those the first that is listed.

    `wanted` is a backend or a part of an adapter's name, in any case; an empty one stands for any WebGPU adapter.
    Raises GpuError of kind "unavailable" if no adapter is suitable, and InputError for a name that nothing here has.
    """
    name = wanted.strip().lower()
    if name in _BACKENDS:
        suitable = [it for it in adapters if it.backend in _BACKENDS[name]]
    else:
        suitable = [it for it in adapters if it.is_webgpu and name in it.name.lower()]
    if not suitable:
        _fail(adapters, name)
    return adapters.index(min(suitable, key=_slowness))


def _slowness(adapter: ListedAdapter) -> int:
    return _KINDS.index(adapter.kind if adapter.kind in _KINDS else "Unknown")


def _fail(adapters: Sequence[ListedAdapter], name: str) -> None:
    if not adapters:
        raise GpuError("unavailable", "no adapter answers")
    if not name or name in _BACKENDS:
        listed = ", ".join(map(str, adapters))
        advice = "" if name else "; OpenGL lacks parts of WebGPU and is used only as the device 'gpu:opengl'"
        backends = _alternatives(_BACKENDS.get(name, WEBGPU_BACKENDS))
        raise GpuError("unavailable", f"no {backends} adapter answers, only {listed}{advice}")
    known = dict.fromkeys([*(it.name for it in adapters if it.is_webgpu), *_BACKENDS])
    raise InputError(f"no GPU adapter or backend has {name!r} in its name; {_hint(name, list(known))}")


def _alternatives(backends: Sequence[str]) -> str:
    *others, last = backends
    return f"{', '.join(others)} or {last}" if others else last


def _hint(name: str, known: Sequence[str]) -> str:
    spelled = {it.lower(): it for it in known}
    words = {word: word for it in spelled for word in it.split()}
    close = closest(name, [*spelled, *words])
    if close is None:
        return f"there are {', '.join(known)}"
    return f"did you mean {spelled.get(close, close)!r}?"
