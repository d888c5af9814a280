"""The vector registers of this machine."""

from __future__ import annotations

from functools import cache
from typing import Any, cast


@cache
def native_bytes() -> int:
    """The bytes of a vector register: 64 with AVX-512, 32 with AVX2, else 16."""
    import llvmlite.binding as llvm  # pyright: ignore[reportMissingTypeStubs]

    features = cast("Any", llvm).get_host_cpu_features()
    if features.get("avx512f") and features.get("avx512vl"):
        return 64
    return 32 if features.get("avx2") else 16
