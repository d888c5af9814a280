"""Entry points are found by name in the same way, and missed in the same words, in every representation."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tinct.base.errors import InputError
from tinct.frontend import check_pipeline, load_program
from tinct.ir.core.interp import run
from tinct.ir.core.nodes import Module
from tinct.ir.entry_points import compute_entry_point, entry_point
from tinct.ir.source import Source
from tinct.transforms.core.condition_depth import deepest_nesting
from tinct.transforms.core.single_entry_point import SingleEntryPoint
from tinct.transforms.core.substitute_overrides import SubstituteOverrides
from tinct.transforms.core.trip_counts import max_trip_count
from tinct.transforms.from_wgsl.build import build
from tinct.transforms.to_hercules import translate

PROGRAM = load_program(
    Source.from_text("""
        fn helper() {}
        @compute @workgroup_size(1) fn main() { helper(); }
        @vertex fn draw() -> @builtin(position) vec4f { return vec4f(); }
    """)
)

LOOK_UPS: dict[str, Callable[[Module, str], object]] = {
    "interpreter": lambda module, name: run(module, name, {}, (1, 1, 1)),
    "single_entry_point": lambda module, name: SingleEntryPoint(name).run(module),
    "substitute_overrides": lambda module, name: SubstituteOverrides({}, name).run(module),
    "translation": translate,
    "loop turns": max_trip_count,
    "nesting": deepest_nesting,
}


@pytest.mark.parametrize("look_up", LOOK_UPS.values(), ids=LOOK_UPS.keys())
@pytest.mark.parametrize("name", ["mian", "helper"])
def test_missing(look_up: Callable[[Module, str], object], name: str) -> None:
    with pytest.raises(InputError, match=f"^no entry point is named '{name}'; "):
        look_up(build(PROGRAM), name)
    assert check_pipeline(PROGRAM, name)[0].message == f"no entry point is named '{name}'"


def test_found_in_every_representation() -> None:
    assert entry_point(PROGRAM.functions, "draw").name == "draw"
    assert entry_point(build(PROGRAM).functions, "draw").name == "draw"


def test_another_stage() -> None:
    with pytest.raises(InputError, match="the entry point 'draw' is not a compute shader"):
        compute_entry_point(PROGRAM.functions, "draw")
