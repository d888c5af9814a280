"""Inputs and outputs of entry points (WGSL, "Shader Interface", "Built-in Inputs and Outputs", "Interpolation")."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...base.records import dataclass
from ...ir.diagnostics import Note, with_article
from ...ir.language import DEPTH_MODES, SAMPLINGS
from ...ir.source import Span
from ...ir.types import (
    BOOL,
    F32,
    U32,
    Array,
    IoAttributes,
    Scalar,
    Stage,
    Struct,
    Type,
    Vector,
    scalar_of,
    vector,
)
from ...ir.wgsl import ast
from . import attributes
from .attributes import AttributeSet
from .context import Abandon, Context


@dataclass(frozen=True, slots=True)
class BuiltinValue:
    """A built-in value: its type (None: `array<f32, N>`), and the `(stage, direction)` pairs that have it."""

    type: Type | None
    uses: frozenset[tuple[Stage, str]]
    extension: str | None = None


def _value(type: Type | None, *uses: tuple[Stage, str], extension: str | None = None) -> BuiltinValue:
    return BuiltinValue(type, frozenset(uses), extension)


_VERTEX_IN = (Stage.VERTEX, "input")
_VERTEX_OUT = (Stage.VERTEX, "output")
_FRAGMENT_IN = (Stage.FRAGMENT, "input")
_FRAGMENT_OUT = (Stage.FRAGMENT, "output")
_COMPUTE_IN = (Stage.COMPUTE, "input")
_VEC3U = vector(3, U32)

BUILTIN_VALUES = {
    "vertex_index": _value(U32, _VERTEX_IN),
    "instance_index": _value(U32, _VERTEX_IN),
    "clip_distances": _value(None, _VERTEX_OUT, extension="clip_distances"),
    "position": _value(vector(4, F32), _VERTEX_OUT, _FRAGMENT_IN),
    "front_facing": _value(BOOL, _FRAGMENT_IN),
    "frag_depth": _value(F32, _FRAGMENT_OUT),
    "primitive_index": _value(U32, _FRAGMENT_IN, extension="primitive_index"),
    "sample_index": _value(U32, _FRAGMENT_IN),
    "sample_mask": _value(U32, _FRAGMENT_IN, _FRAGMENT_OUT),
    "local_invocation_id": _value(_VEC3U, _COMPUTE_IN),
    "local_invocation_index": _value(U32, _COMPUTE_IN),
    "global_invocation_id": _value(_VEC3U, _COMPUTE_IN),
    "global_invocation_index": _value(U32, _COMPUTE_IN),
    "workgroup_id": _value(_VEC3U, _COMPUTE_IN),
    "workgroup_index": _value(U32, _COMPUTE_IN),
    "num_workgroups": _value(_VEC3U, _COMPUTE_IN),
    "subgroup_invocation_id": _value(U32, _COMPUTE_IN, _FRAGMENT_IN, extension="subgroups"),
    "subgroup_size": _value(U32, _COMPUTE_IN, _FRAGMENT_IN, extension="subgroups"),
    "subgroup_id": _value(U32, _COMPUTE_IN, extension="subgroups"),
    "num_subgroups": _value(U32, _COMPUTE_IN, extension="subgroups"),
}

MOST_CLIP_DISTANCES = 8


# The attributes of one parameter, return type or member


def io_attributes(context: Context, found: AttributeSet, type: Type, span: Span) -> IoAttributes:
    """The IO attributes among those collected; what can be checked without knowing the stage is checked here."""
    if not found.by_name:
        return IoAttributes()
    io = IoAttributes(
        builtin=_builtin_value(context, found, type, span),
        location=_location(context, found, type, span),
        blend_src=_blend_src(context, found),
        interpolate=_interpolation(context, found),
        invariant="invariant" in found,
        depth_mode=_depth_mode(context, found),
    )
    if io.builtin is not None and "location" in found:
        context.error(
            "invalid-io", "a value is either built in or has a location, not both", found.by_name["location"].span
        )
    if "interpolate" in found and "location" not in found:
        context.error("invalid-io", "'interpolate' needs a 'location'", found.by_name["interpolate"].span)
    if io.invariant and io.builtin != "position":
        context.error("invalid-io", "'invariant' can only be on 'builtin(position)'", found.by_name["invariant"].span)
    return io


def _builtin_value(context: Context, found: AttributeSet, type: Type, span: Span) -> str | None:
    attribute = found.get("builtin")
    if attribute is None:
        return None
    name = attributes.word(context, attribute.arguments[0], "built-in value")
    if name is None:
        raise Abandon
    value = BUILTIN_VALUES.get(name)
    if value is None:
        notes = context.hints.did_you_mean(name, BUILTIN_VALUES)
        context.fail("unknown-builtin-value", f"unknown built-in value '{name}'", attribute.arguments[0].span, notes)
    if value.extension is not None and value.extension not in context.enables:
        notes = (Note(f"add 'enable {value.extension};' at the start of the module"),)
        message = f"built-in value '{name}' is used without 'enable {value.extension};'"
        context.error("extension-required", message, attribute.span, notes)
    if value.type is None:
        _check_clip_distances(context, type, span)
    elif type is not value.type:
        context.error("type-mismatch", f"built-in value '{name}' is of type '{value.type}', not '{type}'", span)
    return name


def _depth_mode(context: Context, found: AttributeSet) -> str | None:
    """What `builtin(frag_depth, …)` promises (WGSL, "frag_depth")."""
    attribute = found.get("builtin")
    if attribute is None or len(attribute.arguments) == 1:
        return None
    value, argument = attribute.arguments
    mode = attributes.word(context, argument, "depth mode")
    if mode is None:
        return None
    if not isinstance(value, ast.Identifier) or value.name != "frag_depth":
        context.error("invalid-attribute", "only 'builtin(frag_depth)' takes a depth mode", argument.span)
    elif mode not in DEPTH_MODES:
        notes = context.hints.did_you_mean(mode, DEPTH_MODES)
        context.error(
            "invalid-attribute", f"'{mode}' is not a depth mode: use 'less' or 'greater'", argument.span, notes
        )
    return mode


def _check_clip_distances(context: Context, type: Type, span: Span) -> None:
    fits = isinstance(type, Array) and type.element is F32 and isinstance(type.count, int)
    if not fits or not isinstance(type, Array) or not isinstance(type.count, int) or type.count > MOST_CLIP_DISTANCES:
        message = f"'clip_distances' is an array of up to {MOST_CLIP_DISTANCES} f32, not '{type}'"
        context.error("type-mismatch", message, span)


def _location(context: Context, found: AttributeSet, type: Type, span: Span) -> int | None:
    location = attributes.optional_integer(context, found, "location")
    if "location" in found and location is None:
        raise Abandon
    if "location" in found and not _is_user_io_type(type):
        message = f"a value with a location is a numeric scalar or vector, not '{type}'"
        context.error("type-mismatch", message, span)
    return location


def _is_user_io_type(type: Type) -> bool:
    scalar = scalar_of(type) if isinstance(type, (Scalar, Vector)) else None
    return scalar is not None and scalar.is_numeric


def _blend_src(context: Context, found: AttributeSet) -> int | None:
    source = attributes.optional_integer(context, found, "blend_src")
    if "blend_src" not in found:
        return None
    span = found.by_name["blend_src"].span
    if "dual_source_blending" not in context.enables:
        message = "'blend_src' is used without 'enable dual_source_blending;'"
        context.error("extension-required", message, span)
    if source is not None and source > 1:
        context.error("invalid-attribute", "'blend_src' must be 0 or 1", span)
    if "location" not in found:
        context.error("invalid-io", "'blend_src' needs a 'location'", span)
    return source


def _interpolation(context: Context, found: AttributeSet) -> tuple[str, ...]:
    attribute = found.get("interpolate")
    if attribute is None:
        return ()
    words = [attributes.word(context, argument, "interpolation") for argument in attribute.arguments]
    kind, sampling = words[0], words[1] if len(words) > 1 else None
    if kind is None or (len(words) > 1 and sampling is None):
        return ()
    if kind not in SAMPLINGS:
        notes = context.hints.did_you_mean(kind, SAMPLINGS)
        context.error("invalid-attribute", f"'{kind}' is not an interpolation type", attribute.span, notes)
    elif sampling is not None and sampling not in SAMPLINGS[kind]:
        allowed = " or ".join(SAMPLINGS[kind])
        context.error("invalid-attribute", f"interpolation '{kind}' is sampled {allowed}", attribute.span)
    return (kind,) if sampling is None else (kind, sampling)


# The interface of an entry point


@dataclass(frozen=True, slots=True)
class IoValue:
    """One input or output of an entry point: a parameter or result, or a member of a structure that is one."""

    type: Type
    io: IoAttributes
    span: Span


def check_interface(context: Context, stage: Stage, direction: str, values: list[IoValue]) -> None:
    """The rules on all inputs, or all outputs, of an entry point."""
    flat = [part for value in values for part in _parts(context, value)]
    for value in flat:
        _check_value(context, stage, direction, value)
    _check_distinct(context, flat)
    is_marked = all(value.io.builtin is not None or value.io.location is not None for value in flat)
    if (stage, direction) == _VERTEX_OUT and is_marked and not any(value.io.builtin == "position" for value in flat):
        span = values[0].span if values else None
        context.error("invalid-io", "a vertex shader must output 'builtin(position)'", span)


def _parts(context: Context, value: IoValue) -> Iterator[IoValue]:
    if not isinstance(value.type, Struct):
        yield value
        return
    if value.io.builtin is not None or value.io.location is not None:
        return  # reported: no builtin value and no location is of structure type
    for member in value.type.members:
        if isinstance(member.type, Struct):
            context.error("invalid-io", "a structure of inputs or outputs cannot hold structures", value.span)
        else:
            yield IoValue(member.type, member.io, value.span)


def _check_value(context: Context, stage: Stage, direction: str, value: IoValue) -> None:
    io = value.io
    if io.builtin is not None:
        if (stage, direction) not in BUILTIN_VALUES[io.builtin].uses:
            message = f"built-in value '{io.builtin}' is no {direction} of {with_article(stage.value)} shader"
            context.error("invalid-io", message, value.span)
        return
    if io.location is None:
        what = "an entry point's " + direction
        context.error("invalid-io", f"{what} needs a 'builtin' or 'location' attribute", value.span)
        return
    if stage is Stage.COMPUTE:
        context.error("invalid-io", f"a compute shader has no {direction} with a location", value.span)
    if io.blend_src is not None and (stage, direction) != _FRAGMENT_OUT:
        context.error("invalid-io", "'blend_src' is for outputs of fragment shaders", value.span)
    scalar = scalar_of(value.type)
    interpolated = (stage, direction) in (_VERTEX_OUT, _FRAGMENT_IN)
    if interpolated and scalar is not None and scalar.is_integer and io.interpolate[:1] != ("flat",):
        context.error("invalid-io", "an integer between stages needs '@interpolate(flat)'", value.span)


def _check_distinct(context: Context, values: list[IoValue]) -> None:
    builtins: set[str] = set()
    locations: set[tuple[int, int | None]] = set()
    for value in values:
        io = value.io
        if io.builtin is not None:
            if io.builtin in builtins:
                context.error("invalid-io", f"built-in value '{io.builtin}' appears twice", value.span)
            builtins.add(io.builtin)
        elif io.location is not None:
            key = (io.location, io.blend_src)
            if key in locations:
                context.error("invalid-io", f"location {io.location} appears twice", value.span)
            locations.add(key)


def check_blending(context: Context, values: Sequence[IoValue]) -> None:
    """Among the members of a structure, blending takes both sources, of one type, at location 0, and no other location.

    WGSL, "Input-output Locations".
    """
    sources = [value for value in values if value.io.blend_src is not None]
    if not sources:
        return
    located = [value for value in values if value.io.location is not None]
    if len(located) != 2 or {value.io.blend_src for value in located} != {0, 1}:
        context.error("invalid-io", "'blend_src' 0 and 1 must be the only outputs with a location", sources[0].span)
    elif located[0].type is not located[1].type:
        context.error("invalid-io", "both blend sources must be of the same type", sources[0].span)
    if any(value.io.location != 0 for value in located):
        context.error("invalid-io", "blend sources must be at location 0", sources[0].span)
