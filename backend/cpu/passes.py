"""The LLVM passes that a module goes through.

LLVM's own pipelines do most things several times, for code of any kind. What gangs are written as is vectors already,
and gains nothing from most of that: the passes of `quick` make code as fast in half the time (see docs/speed.md).

No code goes through LLVM's loop vectoriser. Where its two cost models disagree, an assertion ends the process (LLVM
issues 99701 to 149651): with LLVM 22.1, one in some thousand random kernels does that. Without it, the lane tier takes
1.25 times as long over the kernels of `shaders/`, up to 5 times where short loops over a workgroup are all there is;
gangs, which all of these run as, do not need it.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Literal

Passes = Literal["scalar", "thorough", "quick", "large", "baseline"]
"""LLVM's pipeline with a search for vectors in straight code, for code that has none; the same without that search; our
own pipeline; our own without passes for loops; or four fast passes.
"""

LEVEL = 2
"""The optimisation level of LLVM's own pipelines."""
_CLEAN = ("sroa", "simplify_cfg", "jump_threading", "simplify_cfg", "instruction_combine")
"""Promote slots to values, remove repeated tests, and give each loop one test."""
_AFTER_UNROLLING = ("sroa", "sccp", "simplify_cfg")
"""Fold what unrolling made constant, and what depends on it."""
_VALUES = ("new_gvn", "jump_threading", "dead_store_elimination", "reassociate", "simplify_cfg")
"""Compute each value once, and only what is wanted."""
_QUICK = (
    "always_inliner",
    *_CLEAN,
    "loop_rotate",
    "loop_unroll",
    *_AFTER_UNROLLING,
    "instruction_combine",
    "loop_unroll",  # the loops around those that were unrolled before
    *_AFTER_UNROLLING,
    *_VALUES,
)
_LARGE = ("always_inliner", *_CLEAN, *_VALUES)
_BASELINE = ("always_inliner", "sroa", "simplify_cfg", "instruction_combine")
_OURS: dict[Passes, tuple[str, ...]] = {"quick": _QUICK, "large": _LARGE, "baseline": _BASELINE}


def optimise(llvm: Any, machine: Any, module: Any, passes: Passes, *, has_unrolled_loops: bool) -> None:
    """Change the module in place. `has_unrolled_loops`: whether any loop is asked to be unrolled."""
    options = llvm.create_pipeline_tuning_options(speed_level=LEVEL)
    options.loop_vectorization = False
    options.slp_vectorization = passes == "scalar"
    options.loop_interleaving = options.loop_unrolling = True
    with llvm.create_pass_builder(machine, options) as builder:
        if passes in ("scalar", "thorough"):
            from .quiet import without_unroll_warnings

            with without_unroll_warnings() if has_unrolled_loops else nullcontext():
                builder.getModulePassManager().run(module, builder)
            return
        with llvm.create_new_module_pass_manager() as manager:
            for name in _OURS[passes]:
                getattr(manager, f"add_{name}_pass")()
            manager.run(module, builder)
