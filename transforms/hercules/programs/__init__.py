"""Any function as a program of kernels over buffers (see `ir.hercules.program`).

`program_for` prepares the function: calls are inlined, sums become products, Collects are made in place. Forks whose
threads are independent (`grids`, by linear forms of positions, `positions`) become grids; `parts` finds the control
around them, and `split` makes kernels of what lies between (`outline`). A workgroup may run each thread of a kernel
(`workgroups`).
"""

from .program_for import program_for
from .workgroups import WorkgroupTrees

__all__ = ["WorkgroupTrees", "program_for"]
