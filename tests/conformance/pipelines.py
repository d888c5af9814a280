"""The pipelines that every recorded answer must survive."""

from __future__ import annotations

from typing import Final

PIPELINES: Final = (
    "",
    "algebraic",
    "cse",
    "dce",
    "direct_variable_access",
    "drop_filters",
    "flatten_loops",
    "fold_constants",
    "hide_uniforms",
    "inline",
    "inline,flatten_loops,replicate_loops{n=2}",
    "licm",
    "mem2reg",
    "mem2reg,licm",
    "mem2reg,reg2mem",
    "mem2reg,remove_continue_in_switch",
    "mem2reg,unroll",
    "polyfill",
    "portable",
    "preserve_padding",
    "prevent_infinite_loops",
    "remove_continue_in_switch",
    "rename",
    "replicate_loops",
    "mem2reg,replicate_loops{n=3}",
    "robustness",
    "robustness{mode=predicate}",
    "scalarize,algebraic,vectorize",
    "std140",
    "simplify_control_flow",
    "strength_reduction",
    "widen_bools",
    "zero_init_workgroup_memory",
    "O1",
    "O2",
    "gpu",
    "minify",
    "naga",
    "naga_dialect",
    "O2,minify,gpu,naga",
)
"""Nothing, every pass that changes no interface, after those that make it work, every named pipeline, and all."""
