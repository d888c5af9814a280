"""`tinct reflect`: what a program that runs a shader must know."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator

import click
from rich import box
from rich.table import Table

from ..ir.types import Array, Struct, Texture, Type
from ..reflection import BindingInfo, MemberInfo, StructInfo
from ..shader import Shader
from ..textures import shape_text
from . import dtypes
from .options import console, file_argument, format_option, read_source


@click.command(
    name="reflect",
    epilog="""\b
Examples:
  tinct reflect particles.wgsl
  tinct reflect particles.wgsl --format json

\b
JSON: an object of entryPoints, bindings, overrides and structs, with sizes, offsets and alignments in bytes. A dtype
is a string for a number ("<f4"), {base, shape} for an array of numbers or structures, and {names, formats, offsets,
itemsize} for a structure. What is or ends in a runtime-sized array has the size null; its dtype is that of one
element, or has one element at its end. It is null from 2 GiB on, for which numpy has no type. A texture has the dtype
and, in words, the shape of an array for it.
""",
)
@file_argument
@format_option
def command(file: str, form: str) -> None:
    """Show entry points, bindings, overrides, and the size, alignment and numpy dtype of every type in a buffer."""
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
    out = console()
    entries = _table("entry point", "stage", "workgroup size", "bindings", "overrides")
    for entry in shader.entry_points.values():
        size = " x ".join(map(str, entry.workgroup_size))
        entries.add_row(entry.name, entry.stage, size, ", ".join(entry.bindings), ", ".join(entry.overrides))
    out.print(entries)
    if shader.bindings:
        out.print(_bindings_table(shader))
    if shader.overrides:
        overrides = _table("override", "id", "type", "default")
        for override in shader.overrides.values():
            number = "" if override.id is None else str(override.id)
            overrides.add_row(override.name, number, override.type, "none: must be set" if override.required else "yes")
        out.print(overrides)
    for struct in shader.structs.values():
        least = "at least " if struct.ends_open else ""
        out.print(f"struct {struct.name}: {least}{struct.size} bytes, alignment {struct.align}", highlight=False)
        out.print(_struct_table(struct))
        dtype = f"np.dtype({dtypes.as_python(struct.dtype)})" if struct.dtype is not None else _NO_DTYPE
        click.echo(f"  {struct.name} = {dtype}\n")


def _table(*columns: str) -> Table:
    return Table(*columns, box=box.SIMPLE_HEAD, pad_edge=True)


def _bindings_table(shader: Shader) -> Table:
    table = _table("binding", "group", "number", "space", "access", "type", "bytes", "align", "numpy dtype")
    for info in shader.bindings.values():
        least = f"at least {info.minimum_size}" if info.size is None else str(info.size)
        table.add_row(
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
    return table


_NO_DTYPE = "none: numpy's types have less than 2 GiB"


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


def _struct_table(struct: StructInfo) -> Table:
    """Members, and the bytes between them that hold nothing."""
    table = _table("offset", "size", "align", "member", "type")
    for row in _rows(struct):
        table.add_row(*row)
    return table


def _rows(struct: StructInfo) -> Iterator[tuple[str, ...]]:
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
