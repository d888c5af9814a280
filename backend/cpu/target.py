"""The machine that code is made for: this one, a lesser level of its architecture that it contains, or another one."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from ...base.errors import InputError
from ...base.records import dataclass
from .host import llvm_host

LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")
"""The microarchitecture levels of the x86-64 psABI: SSE4.2; AVX2 and FMA; AVX-512."""


@dataclass(frozen=True, slots=True)
class Target:
    """A processor as LLVM names it, with the features that the code generator uses.

    `vector_bytes` is the size of a vector register, `has_fma` whether it multiplies and adds with one rounding,
    `has_half` whether it converts between f16 and f32, `has_avx512` whether it scales floats by powers of two and
    estimates inverse roots in vectors of any size, `has_byte_products` whether it adds products of unsigned by signed
    bytes (VNNI), `is_arm` whether it is a 64-bit Arm processor. `triple` is that of another machine, whose code does
    not run in this process; empty for this machine.
    """

    processor: str
    features: str
    vector_bytes: int
    has_fma: bool
    has_half: bool
    has_avx512: bool
    has_byte_products: bool = False
    is_arm: bool = False
    triple: str = ""

    @property
    def has_avx2(self) -> bool:
        """Whether it permutes words across a vector of 32 bytes, and gathers words: AVX2, or AVX-512, which has it."""
        return not self.is_arm and self.vector_bytes >= _AVX2_BYTES

    @property
    def vector_registers(self) -> int:
        """How many vectors fit in registers."""
        return 32 if self.has_avx512 or self.is_arm else 16


OTHERS = {
    "aarch64": Target(
        "generic",
        "",
        vector_bytes=16,
        has_fma=True,
        has_half=True,
        has_avx512=False,
        is_arm=True,
        triple="aarch64-linux-gnu",
    ),
}
"""Machines of other kinds, by name: Armv8.0-A with NEON."""

_GATHERING = "+fast-gather"
"""The feature by which LLVM uses the gathers of AVX2. It otherwise does so for few processors, and makes of a gather
under a mask a branch and a load for each lane, which takes two to four times as long on those that are not among them.
"""

_AVX2_BYTES = 32

_asked_for: ContextVar[str | None] = ContextVar("target asked for", default=None)


@contextmanager
def compiling_for(name: str) -> Generator[None]:
    """Within the block, code is made for the target of this name, a level or one of `OTHERS`."""
    token = _asked_for.set(name)
    try:
        yield
    finally:
        _asked_for.reset(token)


def target_name() -> str:
    """The name of the current target, `native` for this machine."""
    return _asked_for.get() or os.environ.get("TINCT_CPU_TARGET", "native")


def current_target() -> Target:
    """The target that `compiling_for` names, or the environment variable TINCT_CPU_TARGET, else this machine.

    With levels, one machine tests the code of others. Raises InputError for one that it does not have.
    """
    return _target(target_name())


@cache
def _target(name: str) -> Target:
    if name in OTHERS:
        return OTHERS[name]
    host = llvm_host()
    has_512, has_256 = host.has("avx512f", "avx512vl"), host.has("avx2", "fma", "f16c")
    is_arm = host.triple.startswith(("aarch64", "arm64"))
    if name == "native":
        size = 64 if has_512 else 32 if has_256 else 16
        has_fma, has_half = is_arm or host.has("fma"), is_arm or host.has("f16c")
        features = f"{host.features},{_GATHERING}" if size == 32 else host.features
        has_byte_products = host.has("avx512vnni", "avx512vl") or host.has("avxvnni")
        return Target(host.processor, features, size, has_fma, has_half, has_512, has_byte_products, is_arm)
    available = [host.has("sse4.2"), has_256, has_512]
    levels = [level for level, is_there in zip(LEVELS, available, strict=True) if is_there]
    if name not in levels:
        raise InputError(f"TINCT_CPU_TARGET must be one of {', '.join(['native', *levels])}, not {name!r}")
    level = LEVELS.index(name)
    return Target(
        name, _GATHERING if level == 1 else "", 16 << level, has_fma=level > 0, has_half=level > 0, has_avx512=level > 1
    )
