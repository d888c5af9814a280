"""`tinct reflect`: the interface of a shader, for programs that run it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator

import click

from ..functions import HerculesFile, is_hercules_path
from ..ir.types import Array, Struct, Texture, Type
from ..reflection import BindingInfo, EntryPointInfo, MemberInfo, OverrideInfo, StructInfo
from ..shader import Shader
from ..textures import shape_text
from . import dtypes
from .functions import reflect_functions
from .options import file_argument, format_option, read_source
from .tables import Column, Row, print_table


@click.command(
    name="reflect",
    epilog="""\b
Examples:
  tinct reflect particles.wgsl
  tinct reflect particles.wgsl --format json
  tinct reflect matmul.hir

\b
JSON: an object of entryPoints, bindings, overrides and structs, with sizes, offsets and alignments in bytes. A dtype
is a string for a number ("<f4"), {base, shape} for an array of numbers or structures, and {names, formats, offsets,
itemsize} for a structure. What is or ends in a runtime-sized array has the size null; its dtype is that of one
element, or has one element at its end. It is null from 2 GiB on, for which numpy has no type. A texture has the dtype
and, in words, the shape of an array for it.

\b
For Hercules IR (.hir), an object of functions, each with dynamicConstants, parameters, results and structures. Extents,
sizes and offsets are numbers, or strings where they depend on dynamic constants.
""",
)
@file_argument
@format_option
def command(file: str, form: str) -> None:
    """Show entry points, bindings, overrides, and the size, alignment and numpy dtype of every type in a buffer."""
    if is_hercules_path(file):
        reflect_functions(HerculesFile(read_source(file)), form)
        return
    shader = Shader(read_source(file))
    if form == "json":
        click.echo(json.dumps(as_json(shader), indent=2))
    else:
        _print(shader)


def as_json(shader: Shader) -> dict[str, object]:
    """All of it, for programs."""
    return {
        "entryPoints": [
            {
                "name": info.name,
                "stage": info.stage,
                "workgroupSize": list(info.workgroup_size),
                "bindings": list(info.bindings),
                "overrides": list(info.overrides),
            }
            for info in shader.entry_points.values()
        ],
        "bindings": [_binding_json(info) for info in shader.bindings.values()],
        "overrides": [dataclasses.asdict(info) for info in shader.overrides.values()],
        "structs": [_struct_json(info) for info in shader.structs.values()],
    }


def _binding_json(info: BindingInfo) -> dict[str, object]:
    return {
        "name": info.name,
        "group": info.group,
        "binding": info.binding,
        "space": info.space,
        "access": info.access,
        "type": str(info.type),
        "size": info.size,
        "minimumSize": info.minimum_size,
        "align": info.align,
        "stride": info.stride,
        "dtype": dtypes.as_json(info.dtype),
        "shape": shape_text(info.type) if isinstance(info.type, Texture) else None,
    }


def _struct_json(info: StructInfo) -> dict[str, object]:
    return {
        "name": info.name,
        "size": None if info.ends_open else info.size,
        "align": info.align,
        "members": [
            {
                "name": member.name,
                "type": member.type,
                "offset": member.offset,
                "size": member.size,
                "align": member.align,
                "dtype": dtypes.as_json(member.dtype),
            }
            for member in info.members
        ],
        "dtype": dtypes.as_json(info.dtype),
    }


# Text


def _print(shader: Shader) -> None:
    print_table(_ENTRY_POINTS, [_entry_row(entry) for entry in shader.entry_points.values()])
    if shader.bindings:
        print_table(_BINDINGS, [_binding_row(info) for info in shader.bindings.values()])
    if shader.overrides:
        print_table(_OVERRIDES, [_override_row(info) for info in shader.overrides.values()])
    for struct in shader.structs.values():
        least = "at least " if struct.ends_open else ""
        click.echo(f"struct {struct.name}: {least}{struct.size} bytes, alignment {struct.align}")
        print_table(_MEMBERS, [Row(cells) for cells in _rows(struct)])
        dtype = f"np.dtype({dtypes.as_python(struct.dtype)})" if struct.dtype is not None else _NO_DTYPE
        click.echo(f"  {struct.name} = {dtype}\n")


_ENTRY_POINTS = (
    Column("entry point"),
    Column("stage", 2),
    Column("workgroup size"),
    Column("bindings"),
    Column("overrides", 1),
)
_BINDINGS = (
    Column("binding"),
    Column("group"),
    Column("number"),
    Column("space", 3),
    Column("access", 4),
    Column("type"),
    Column("bytes", 1),
    Column("align", 5),
    Column("numpy dtype", 2),
)
_OVERRIDES = (Column("override"), Column("id"), Column("type"), Column("default"))
_MEMBERS = (Column("offset"), Column("size"), Column("align", 1), Column("member"), Column("type"))
_NO_DTYPE = "none: numpy's types have less than 2 GiB"


def _entry_row(info: EntryPointInfo) -> Row:
    size = " x ".join(map(str, info.workgroup_size))
    return Row((info.name, info.stage, size, ", ".join(info.bindings), ", ".join(info.overrides)))


def _override_row(info: OverrideInfo) -> Row:
    number = "" if info.id is None else str(info.id)
    return Row((info.name, number, info.type, "none: must be set" if info.required else "yes"))


def _binding_row(info: BindingInfo) -> Row:
    least = f"at least {info.minimum_size}" if info.size is None else str(info.size)
    return Row(
        (
            info.name,
            str(info.group),
            str(info.binding),
            info.space,
            info.access,
            str(info.type),
            "" if info.align is None else least,
            "" if info.align is None else str(info.align),
            _short_dtype(info),
        )
    )


def _short_dtype(info: BindingInfo) -> str:
    """The dtype; for structures, whose dtypes follow, their name; for textures with the shape."""
    if info.dtype is None:
        return "" if info.align is None else _NO_DTYPE
    if isinstance(info.type, Texture):
        return f"{dtypes.as_python(info.dtype)} {shape_text(info.type)}"
    innermost: Type = info.type
    while isinstance(innermost, Array):
        innermost = innermost.element
    return innermost.name if isinstance(innermost, Struct) else dtypes.as_python(info.dtype)


def _rows(struct: StructInfo) -> Iterator[tuple[str, ...]]:
    """Members, and the bytes between them that hold nothing."""
    end = 0
    for member in struct.members:
        if member.offset > end:
            yield str(end), str(member.offset - end), "", "(padding)", ""
        yield _row(member)
        end = member.offset + (member.size or 0)
    if not struct.ends_open and struct.size > end:
        yield str(end), str(struct.size - end), "", "(padding)", ""


def _row(member: MemberInfo) -> tuple[str, ...]:
    size = "open" if member.size is None else str(member.size)
    return str(member.offset), size, str(member.align), member.name, member.type
