"""Drivers with known faults: wrong answers without an error, long compiling at each dispatch, aborted processes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from .model import AdapterInfo

FaultKind: TypeAlias = Literal["loop iterations", "nesting", "uniform values", "first broadcasts", "upper halves"]
"""What a driver does, without an error.

loop iterations: once the invocations of one vector have done this many in all their loops together, every loop ends
after the current iteration. nesting: code under more conditions than that runs whatever the innermost ones are.

uniform values: a shader of more SSA values than this, with conditions or ends of loops that depend on uniform buffers
alone, may be compiled again at each dispatch, for what the buffers hold. Its answers are right.

upper halves: the upper half of `unpack2x16float` is 0 for more words than this that are constant to the driver.

first broadcasts: compiling more `subgroupBroadcastFirst` than this may end the process, where one is in a loop and the
next iteration's value depends on it.
"""


@dataclass(frozen=True, slots=True)
class Fault:
    """A driver's fault. `driver` is a part of the driver's or the adapter's name, in lower case.

    `most` is the greatest number that works; `mended_in` the first version of Mesa without the fault.
    """

    kind: FaultKind
    driver: str
    most: int
    mended_in: tuple[int, int] | None = None

    def is_of(self, adapter: AdapterInfo) -> bool:
        """Whether an adapter's driver has the fault. A driver of unknown version is assumed to be old."""
        if self.driver not in f"{adapter.vendor} {adapter.name}".lower():
            return False
        version = re.search(r"Mesa (\d+)\.(\d+)", adapter.description)
        return version is None or self.mended_in is None or (int(version[1]), int(version[2])) < self.mended_in


FAULTS: Final = (
    Fault("loop iterations", driver="llvmpipe", most=65_535, mended_in=(25, 0)),
    Fault("nesting", driver="llvmpipe", most=80),
    Fault("uniform values", driver="llvmpipe", most=100, mended_in=(25, 0)),
    Fault("first broadcasts", driver="llvmpipe", most=0, mended_in=(25, 0)),
    Fault("upper halves", driver="llvmpipe", most=0, mended_in=(25, 0)),
)
"""llvmpipe is Mesa's software driver.

Its loops: `lp_exec_endloop` counts `loop_limiter` down from LP_MAX_TGSI_LOOP_ITERATIONS, once for each vector of
invocations, and goes round only while it is above 0. Mesa 25.0.0 has taken that out (its release notes: "gallivm:
Remove loop limiting"). Its Ifs: `lp_exec_mask_cond_push` does nothing where LP_MAX_TGSI_NESTING conditions are on its
stack. (src/gallium/auxiliary/gallivm/lp_bld_ir_common.c and lp_bld_limits.h of Mesa 22.3.6, and the latter of 25.0.7.)

Its uniform values: at each dispatch, `update_inline_shader_state` copies the shader, puts the values of the words that
`lvp_find_inlinable_uniforms` found into the copy, and compiles the copy unless only a little of it has gone. That test
subtracts unsigned numbers, so that a copy that has grown, since a loop in it was unrolled, passes, too.
(src/gallium/frontends/lavapipe/lvp_execute.c, lvp_inline_uniforms.c and lvp_pipeline.c, as of Mesa 22.3.) Later
versions keep the copies; on Mesa 25.0.7 only one dispatch was found to compile again.

Its upper halves were found by unpacking 894 constants: on Mesa 22.3.6 all upper halves but one, 0, are wrong, on
25.0.7 none; lower ones are right on both.

Its first broadcasts: LLVM finds the function `cs_co_variant` broken, and aborts. Mesa 25.0.7 compiles the same kernels.
"""


def faults_of(adapter: AdapterInfo) -> Mapping[FaultKind, int]:
    """The faults of an adapter's driver, each with the greatest number that works."""
    return {fault.kind: fault.most for fault in FAULTS if fault.is_of(adapter)}
