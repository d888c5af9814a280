"""`tinct reflect` for files of Hercules IR: parameters, results and dynamic constants of functions."""

from __future__ import annotations

import json

import click

from ..functions import FieldInfo, HerculesFile, HerculesFunction, StructureInfo
from ..functions.function import PartInfo
from ..interface import dtypes
from .tables import Column, Row, print_table

_PARTS = (
    Column("part"),
    Column("role", 1),
    Column("type"),
    Column("shape"),
    Column("bytes", 2),
    Column("align", 3),
    Column("numpy dtype", 2),
)
_CONSTANTS = (Column("dynamic constant"), Column("extent"), Column("of"))
_FIELDS = (Column("offset"), Column("size"), Column("align", 1), Column("field"), Column("type"))


def reflect_functions(file: HerculesFile, form: str) -> None:
    """Print the interface of each function, as text or as JSON."""
    if form == "json":
        click.echo(json.dumps({"functions": [_as_json(it) for it in file.functions.values()]}, indent=2))
        return
    for function in file.functions.values():
        _print(function)


def _as_json(function: HerculesFunction) -> object:
    return {
        "name": function.name,
        "dynamicConstants": [
            {"name": it.name, "extents": [{"of": place, "extent": extent} for place, extent in it.extents]}
            for it in function.constants
        ],
        "parameters": [_part_json(it) for it in function.parameters.values()],
        "results": [_part_json(it) for it in function.results.values()],
        "structures": [_structure_json(it) for it in function.structures],
    }


def _part_json(part: PartInfo) -> object:
    return {
        "name": part.name,
        "type": part.type,
        "shape": [_number(it) for it in part.shape],
        "size": _number(part.size),
        "align": part.align,
        "dtype": dtypes.as_json(part.dtype),
    }


def _structure_json(structure: StructureInfo) -> object:
    return {
        "type": structure.type,
        "size": _number(structure.size),
        "align": structure.align,
        "fields": [_field_json(it) for it in structure.fields],
        "dtype": dtypes.as_json(structure.dtype),
    }


def _field_json(field: FieldInfo) -> object:
    return {
        "name": field.name,
        "type": field.type,
        "offset": _number(field.offset),
        "size": _number(field.size),
        "align": field.align,
    }


def _number(text: str) -> int | str:
    return int(text) if text.isdigit() else text


def _print(function: HerculesFunction) -> None:
    click.echo(f"fn {function.name}")
    rows = [_part_row(it, "parameter") for it in function.parameters.values()]
    rows += [_part_row(it, "result") for it in function.results.values()]
    print_table(_PARTS, rows)
    if function.constants:
        print_table(_CONSTANTS, [row for it in function.constants for row in _constant_rows(it.name, it.extents)])
    for structure in (it for it in function.structures if it.fields):
        click.echo(f"{structure.type}: {structure.size} bytes, alignment {structure.align}")
        rows = [Row((_bare(it.offset), _bare(it.size), str(it.align), it.name, it.type)) for it in structure.fields]
        print_table(_FIELDS, rows)
        if structure.dtype is not None:
            click.echo(f"  np.dtype({dtypes.as_python(structure.dtype)})\n")


def _part_row(part: PartInfo, role: str) -> Row:
    dtype = "by dynamic constants" if part.dtype is None else _short(part)
    shape = f"({', '.join(map(_bare, part.shape))}{',' if len(part.shape) == 1 else ''})"
    return Row((part.name, role, part.type, shape, _bare(part.size), str(part.align), dtype))


def _short(part: PartInfo) -> str:
    assert part.dtype is not None
    return "structure" if part.dtype.names is not None else dtypes.as_python(part.dtype)


def _constant_rows(name: str, extents: tuple[tuple[str, str], ...]) -> list[Row]:
    if not extents:
        return [Row((name, "", "nothing: it must be given"))]
    first = [name] + [""] * (len(extents) - 1)
    return [Row((it, _bare(extent), place)) for it, (place, extent) in zip(first, extents, strict=True)]


def _bare(text: str) -> str:
    """An expression without the parentheses around all of it."""
    depth = 0
    for position, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth == 0:
            return text[1:-1] if position == len(text) - 1 and text.startswith("(") else text
    return text
