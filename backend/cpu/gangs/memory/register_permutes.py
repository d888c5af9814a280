"""Permutations of vectors of 32-bit elements by numbers that are known at run time only.

LLVM has portable names only for permutations that are constants, so these are the intrinsics of AVX2 and AVX-512. Their
semantics are in Intel's "Intrinsics Guide".
"""

from __future__ import annotations

from ..values.vectors import LaneVectors

_AVX2_LANES = 8


class RegisterPermutes:
    """Permutations of a gang's vectors, if the target has them."""

    def __init__(self, vectors: LaneVectors) -> None:
        self._vectors = vectors
        self._vec, self._out, self._lanes = vectors.vec, vectors.out, vectors.lanes
        self._target = vectors.out.module.target

    def are_available(self) -> bool:
        """Whether `pick` can be written."""
        return self._has_two_sources() or (self._target.has_avx2 and self._lanes == _AVX2_LANES)

    def _has_two_sources(self) -> bool:
        return self._target.has_avx512 and self._lanes in (4, 8, 16)

    def pick(self, scalar: str, lower: str, upper: str, numbers: str) -> str:
        """For each lane an element of two vectors of some type of 32 bits, by its number in both together."""
        low, high = (self._vec.convert("bitcast", scalar, it, "i32") for it in (lower, upper))
        if self._has_two_sources():
            name = f"vpermi2var.d.{32 * self._lanes}"
            found = self._call(f"avx512.{name}", [(low, "i32"), (numbers, "i32"), (high, "i32")])
        else:
            parts = [self._call("avx2.permd", [(it, "i32"), (numbers, "i32")]) for it in (low, high)]
            is_low = self._vec.binary("icmp ult", "i32", numbers, self._vec.constant("i32", self._lanes))
            found = self._vec.select(is_low, "i32", *parts)
        return self._vec.convert("bitcast", "i32", found, scalar)

    def _call(self, name: str, operands: list[tuple[str, str]]) -> str:
        type, types = self._vec.type("i32"), [self._vec.type(it) for _, it in operands]
        self._out.module.declare(f"{type} @llvm.x86.{name}({', '.join(types)})")
        arguments = ", ".join(f"{it} {value}" for it, (value, _) in zip(types, operands, strict=True))
        return self._out.pure(f"call {type} @llvm.x86.{name}({arguments})")
