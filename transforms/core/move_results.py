"""Moves the results of float functions by what WGSL lets them be off, to see how far a kernel's own depend on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ...ir.core import nodes
from ...ir.core.builder import Builder, empty_block
from ...ir.core.structure import blocks_of
from ...ir.types import BindingPoint, Type, Vector
from .accuracy_bounds import BOUNDED, PRECISIONS, bound, steps
from .hidden_buffer import hidden_point
from .moves import OWN, AddedFunctions, common_text

BOUNDS, UNITS = OWN, OWN + 1
"""The words of the buffer for results, as f32: a result is moved by so many times its bound, and so many units in its
last place. A finite one stays finite, and an infinite one as it is.
"""
OWN_WORDS: Final = 2

_COMMON: Final = f"""
fn next_move() -> vec2f {{
    return select(vec2f(), vec2f(move_word({BOUNDS}), move_word({UNITS})), moves_next());
}}

fn moved_result(r: f32, by: vec2f, off: f32, ulp: f32, most: f32) -> f32 {{
    return select(r, clamp(r + (by.x * off + by.y * ulp), -most, most), abs(r) <= most);
}}
"""


def move_results(module: nodes.Module, build: Callable[[str], nodes.Module]) -> BindingPoint | None:
    """Let a buffer at the returned binding move the results of a module that was just built; `build` makes core IR of
    WGSL.

    None if no call is of a function whose results WGSL lets be off by more than the rounding of basic operations.
    Raises InputError if no binding is left for the buffer.
    """
    sites = list(_sites(module))
    if not sites:
        return None
    point = hidden_point(module)
    library = AddedFunctions(module, build(_text(point, [call for _, call in sites])))
    for block, call in reversed(sites):
        _move(library, block, call)
    library.share_variables()
    return point


def _sites(module: nodes.Module) -> Iterator[tuple[nodes.Block, nodes.BuiltinCall]]:
    for function in module.functions:
        for block in blocks_of(function):
            for call in block.instructions:
                if isinstance(call, nodes.BuiltinCall) and call.function in BOUNDED:
                    yield block, call


def _text(point: BindingPoint, calls: list[nodes.BuiltinCall]) -> str:
    kinds = {(it.function, _scalar(it.type), len(it.arguments)) for it in calls}
    types = sorted({type for _, type, _ in kinds})
    parts = ["enable f16;\n"] if "f16" in types else []
    parts += [common_text(point, OWN_WORDS), _COMMON, *map(steps, types)]
    parts += [bound(*it) for it in sorted(kinds)]
    parts += sorted({_mover(it) for it in calls})
    return "".join(parts)


def _scalar(type: Type) -> str:
    return str(type.element if isinstance(type, Vector) else type)


def _name(call: nodes.BuiltinCall) -> str:
    width = call.type.width if isinstance(call.type, Vector) else 1
    return f"moved_{call.function}_{_scalar(call.type)}_{width}"


def _mover(call: nodes.BuiltinCall) -> str:
    """The function that moves results of the calls of one type, of one or more components together."""
    scalar, arguments = _scalar(call.type), "xy"[: len(call.arguments)]
    components = [f".{it}" for it in "xyzw"[: call.type.width]] if isinstance(call.type, Vector) else [""]
    parameters = ", ".join(f"{it}: {call.type}" for it in (*arguments, "r"))
    moved = [_component(call.function, scalar, arguments, it) for it in components]
    body = f"let by = next_move(); return {call.type}({', '.join(moved)});"
    return f"fn {_name(call)}({parameters}) -> {call.type} {{ {body} }}\n"


def _component(function: str, scalar: str, arguments: str, component: str) -> str:
    values = ", ".join(f"f32({it}{component})" for it in (*arguments, "r"))
    r = f"f32(r{component})"
    most = PRECISIONS[scalar].most
    return f"{scalar}(moved_result({r}, by, off_{function}_{scalar}({values}), ulp_{scalar}({r}), {most}))"


def _move(library: AddedFunctions, block: nodes.Block, call: nodes.BuiltinCall) -> None:
    """Put what moves a result behind its call."""
    builder = Builder(library.module, empty_block())
    builder.span = call.span
    moved = library.call(builder, _name(call), [*call.arguments, call])
    for use in list(call.uses):
        if use.user is not moved:
            use.user.set_operand(use.index, moved)
    block.instructions.insert(block.instructions.index(call) + 1, moved)
