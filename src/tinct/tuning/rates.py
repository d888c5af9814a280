"""What is known of how fast a device is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MEASURED_INVOCATIONS: Final = 64
"""The invocations of the workgroups for which a barrier is measured."""
BARRIERS: Final = """
var<workgroup> shared_values: array<f32, 64>;

@compute @workgroup_size(64)
fn barriers(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) at: u32) {
    shared_values[at] = f32(id.x);
    for (var n = 0u; n < turns; n++) {
        workgroupBarrier();
        let found = shared_values[(at + 1u) % 64u];
        workgroupBarrier();
        shared_values[at] = found;
    }
    if id.x < arrayLength(&y) {
        y[id.x] = shared_values[at] * x[0];
    }
}
"""
"""A kernel with two barriers a turn, for modules that have `turns`, `x` and `y`. What it stores depends on all turns,
so that no compiler does without them.
"""


@dataclass(frozen=True, slots=True)
class CacheRate:
    """The bytes of a cache, and how many of them one unit loads in a second."""

    size: int
    bandwidth: float


@dataclass(frozen=True, slots=True)
class Rates:
    """Seconds, bytes a second and operations a second.

    `memory` is the bandwidth of copying what is larger than the caches, reads and writes together, `cached` that of
    what is smaller. `operations` counts additions and products of f32 of the whole device, and `fused` those of both in
    one operation, as one; it is 0 where nothing is fused. Each of the `units` runs workgroups of its own, in vectors of
    `lanes`, or, where a workgroup `spreads`, vectors of any workgroups; there many vectors run at a time, and each
    waits for the `latency` of what it loads. `registers` is how many vectors an invocation may keep without spilling.
    `launch` is the time of an empty dispatch.

    The rest is of one unit: `load` is the time for a vector from its closest cache, `gather` that for a vector whose
    lanes lie apart, `barrier` that for a barrier of a workgroup of `MEASURED_INVOCATIONS`, `workgroup` that for
    beginning a workgroup, and `page` that for the first bytes of a page. `caches` are those that are faster than
    memory, the closest one first.

    A GPU in software (`is_software`) loads lane by lane, so that a `load` takes as long wherever they are; a vector of
    four elements for each lane takes `of_four` times that.
    """

    memory: float
    cached: float
    operations: float
    units: int
    lanes: int
    registers: int
    launch: float
    gather: float
    load: float
    barrier: float
    workgroup: float
    page: float
    caches: tuple[CacheRate, ...]
    spreads: bool = False
    latency: float = 0.0
    is_software: bool = False
    of_four: float = 4.0
    fused: float = 0.0

    @property
    def operation(self) -> float:
        """The seconds that one unit takes for an operation on a vector, many after one another."""
        return self.units * self.lanes / self.operations

    @property
    def of_fused(self) -> float:
        """How many operations a product and a sum in one operation stand for: two where units of their own add."""
        return max(self.operations / self.fused, 1.0) if self.fused else 1.0


ASSUMED: Final = Rates(
    memory=2e10,
    cached=8e10,
    operations=1e11,
    units=2,
    lanes=8,
    registers=16,
    launch=1e-5,
    gather=1e-8,
    load=3e-10,
    barrier=2e-8,
    workgroup=2e-8,
    page=5e-9,
    caches=(CacheRate(1 << 15, 1e11), CacheRate(1 << 20, 4e10)),
)
"""The rates of a device that cannot be measured."""
