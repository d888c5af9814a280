"""`tinct reflect`: the interface of a shader, for programs that run it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

from ..arguments import is_hercules_path
from ..base.errors import InputError
from ..functions import HerculesFile
from ..interface import document, dtypes, python_module, rust_module, schema
from ..ir.types import Array, Struct, Texture, Type
from ..reflection import BindingInfo, EntryPointInfo, MemberInfo, OverrideInfo, StructInfo
from ..shader import Shader
from ..textures import shape_text
from .functions import reflect_functions
from .options import file_argument, print_text, read_source
from .tables import Column, Row, print_table


@click.command(
    name="reflect",
    epilog="""\b
Examples:
  tinct reflect particles.wgsl
  tinct reflect particles.wgsl --format json
  tinct reflect particles.wgsl --format python > particles_layout.py
  tinct reflect particles.wgsl --format rust --derive bytemuck::Pod --derive bytemuck::Zeroable > particles.rs
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
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "schema", "python", "rust"]),
    default="text",
    show_default=True,
    help="For people, or for programs.",
)
@click.option("--derive", multiple=True, metavar="PATH", help="A derive macro for Rust; may be repeated.")
def command(file: str, form: str, derive: tuple[str, ...]) -> None:
    """Show entry points, bindings, overrides, and the size, alignment and numpy dtype of every type in a buffer."""
    if derive and form != "rust":
        raise InputError("--derive is for --format rust")
    if is_hercules_path(file):
        _reflect_hercules(file, form)
        return
    shader = Shader(read_source(file))
    match form:
        case "text":
            _print(shader)
        case "json":
            click.echo(json.dumps(document(shader), indent=2))
        case "schema":
            click.echo(json.dumps(schema(), indent=2))
        case "python":
            print_text(python_module(shader))
        case _:
            print_text(rust_module(shader, derive=derive))


def _reflect_hercules(file: str, form: str) -> None:
    if form not in ("text", "json"):
        raise InputError(f"--format {form} is for WGSL")
    reflect_functions(HerculesFile(read_source(file)), form)


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
