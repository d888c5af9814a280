"""`tinct reflect`: what a program that runs a shader must know."""

from __future__ import annotations

import dataclasses
import json

import click
from rich.console import Console
from rich.table import Table

from ..reflection import BindingInfo, StructInfo
from ..shader import Shader
from .check import read


@click.command(
    name="reflect",
    epilog="""\b
Examples:
  tinct reflect particles.wgsl
  tinct reflect particles.wgsl --format json
""",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="For people or for programs."
)
def command(file: str, form: str) -> None:
    """Show entry points, bindings, overrides, and the size, alignment and numpy dtype of every type in a buffer."""
    shader = Shader(read(file))
    if form == "json":
        click.echo(json.dumps(as_json(shader), indent=2))
    else:
        _print(shader)


def as_json(shader: Shader) -> dict[str, object]:
    """All of it, for programs."""
    return {
        "entryPoints": [dataclasses.asdict(info) for info in shader.entry_points.values()],
        "bindings": [_binding_json(info) for info in shader.bindings.values()],
        "overrides": [dataclasses.asdict(info) for info in shader.overrides.values()],
        "structs": [dataclasses.asdict(info) for info in shader.structs.values()],
    }


def _binding_json(info: BindingInfo) -> dict[str, object]:
    return {
        "name": info.name,
        "group": info.group,
        "binding": info.binding,
        "space": info.space,
        "access": info.access,
        "type": str(info.type),
        "minimumSize": info.minimum_size,
        "dtype": None if info.dtype is None else str(info.dtype),
    }


def _print(shader: Shader) -> None:
    console = Console()
    entries = Table("entry point", "stage", "workgroup size", "bindings", "overrides", title="Entry points")
    for entry in shader.entry_points.values():
        size = " × ".join(map(str, entry.workgroup_size))
        entries.add_row(entry.name, entry.stage, size, ", ".join(entry.bindings), ", ".join(entry.overrides))
    console.print(entries)
    if shader.bindings:
        console.print(_bindings_table(shader))
    if shader.overrides:
        overrides = Table("override", "id", "type", "must be set", title="Overrides")
        for override in shader.overrides.values():
            number = "" if override.id is None else str(override.id)
            overrides.add_row(override.name, number, override.type, "yes" if override.required else "")
        console.print(overrides)
    for struct in shader.structs.values():
        console.print(_struct_table(struct))


def _bindings_table(shader: Shader) -> Table:
    columns = ("name", "group", "binding", "space", "access", "type", "least bytes", "numpy dtype")
    table = Table(*columns, title="Bindings")
    for info in shader.bindings.values():
        table.add_row(
            info.name,
            str(info.group),
            str(info.binding),
            info.space,
            info.access,
            str(info.type),
            str(info.minimum_size),
            "" if info.dtype is None else str(info.dtype),
        )
    return table


def _struct_table(struct: StructInfo) -> Table:
    title = f"struct {struct.name}: {struct.size} bytes, alignment {struct.align}"
    table = Table("offset", "size", "align", "member", "type", title=title)
    for member in struct.members:
        size = "…" if member.size is None else str(member.size)
        table.add_row(str(member.offset), size, str(member.align), member.name, member.type)
    return table
