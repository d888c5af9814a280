"""How much code the choices for gangs may write: the one place for limits of compile time and of registers.

The unit is an operation on a vector: the nodes of a body, once for each part of the gang and each copy. Long straight
code takes LLVM 15 to 60 µs for each (up to 170 where operations access memory), blocks and loops with masks and range
tests 150 to 600 (AMD EPYC, Zen 4; all of `shaders/`). The budgets are counts and not measured seconds, so that a busy
or slow machine makes the same code: what is kept on disk stays valid, and a kernel is as fast after each start. What
takes time while kernels run is weighed by the costs of the machine instead (see `machine`).
"""

from __future__ import annotations

from typing import Final

STRAIGHT: Final = 14000
"""All iterations of the straight loops of a function: about a second of compiling."""
COPIED: Final = 8000
"""All copies of a body in a loop around barriers, made by us for its states or by LLVM's unrolling: half a second."""
UNROLLED: Final = 16_000
"""The instructions that LLVM's unrolling adds to a function: a second or two. Loops are chosen by their operations; how
many instructions an operation becomes, up to 17, is known only when they are written.
"""
RICH: Final = 30_000
"""The instructions of a function after which accesses only have their short forms. A load from a window of the lanes'
rows, for one, is 250 instructions where a gather is five. Kernels of `shaders/` have up to 21,000.
"""
BLOCKS: Final = 4000
"""The blocks of a module that LLVM's passes for loops look at. Their time grows with the square of the number, and then
is two seconds or more, half of the time of compiling. Kernels of `shaders/` have up to 1,000 blocks.
"""
LOOP_VERSIONS: Final = 2000
"""A nest of loops that is written twice. The copy without tests is a fraction of the code of the other one."""
SHORT_LOOP_VERSIONS: Final = 160
"""The same for few accesses, or inside of the tested copy of other loops: each of those is one more loop."""
VERSIONS: Final = 480
"""A body without loops that gets a version without masks and range tests: a tenth of a second at most."""
PARTS: Final = 800
"""A body without loops of a gang whose parts are written one after another: values that are spilled from registers
take more time than overlapping parts save.
"""
PARTS_OF_LOOP: Final = 80
"""The loops of a body: 2.5 operations for each of the 32 registers of AVX-512. With 16 registers some values are
operands in memory, which x86-64 takes in place of registers.
"""
