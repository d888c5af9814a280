"""Options and arguments that several commands share, and the functions that parse them."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import click

from ..arguments import is_hercules_path
from ..base.errors import InputError
from ..ir.source import Source
from .streams import read_input

file_argument = click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))

constants_option = click.option(
    "--set", "constants", multiple=True, metavar="NAME=VALUE", help="A value for an override; may be repeated."
)

via_option = click.option(
    "--via", type=click.Choice(["hercules"]), help="Write the WGSL for a GPU from Hercules IR, after its passes."
)

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people or for programs.",
)


def read_source(name: str) -> Source:
    """A source from a file, or from standard input for `-`."""
    if name == "-":
        return read_input()
    return Source.from_file(Path(name))


def read_shader(name: str) -> Source:
    """The same for WGSL or core IR. Raises InputError for a file of Hercules IR."""
    if is_hercules_path(name):
        raise InputError(f"{name} holds Hercules IR: 'tinct hercules {name}' checks, prints and runs its functions")
    return read_source(name)


def is_core(source: Source, start: str | None) -> bool:
    """Whether a source holds core IR: as `--from` says, or else its name."""
    return start == "core" or (start is None and source.name.endswith(".core"))


def parse_constants(given: tuple[str, ...]) -> dict[str, float]:
    """`NAME=VALUE` pairs. Raises InputError."""
    values: dict[str, float] = {}
    for item in given:
        name, separator, text = item.partition("=")
        if not separator or not name.strip():
            raise InputError(f"--set takes NAME=VALUE, not {item!r}")
        if name.strip() in values:
            raise InputError(f"--set {name.strip()} is given twice")
        values[name.strip()] = _number(text.strip(), item)
    return values


def _number(text: str, item: str) -> float:
    words = {"true": 1, "false": 0}
    if text in words:
        return words[text]
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--set {item}: {text!r} is no number") from None


def parse_shape(text: str, what: str) -> tuple[int, ...]:
    """`64` or `64x64x4` or `64,64,4`, all above 0. Raises InputError."""
    numbers = _whole_numbers(text, what)
    if min(numbers) < 1:
        raise InputError(f"{what}: {text} is empty: every number must be 1 or more")
    return numbers


def parse_extent(text: str | None, option: str) -> tuple[int, ...] | None:
    """The size of a dispatch. With a 0 in it nothing runs, as in WebGPU, which is said. Raises InputError."""
    if text is None:
        return None
    numbers = _whole_numbers(text, option)
    if min(numbers) < 0:
        raise InputError(f"{option}: {text} is negative")
    if 0 in numbers:
        click.echo(f"{option} {text} runs nothing", err=True)
    return numbers


def _whole_numbers(text: str, what: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.replace(",", "x").split("x"))
    except ValueError:
        raise InputError(f"{what} takes numbers such as 64 or 16x16, not {text!r}") from None


def parse_invocation(text: str, option: str) -> tuple[int, int, int]:
    """The global id of an invocation, `37` or `37,0,0`. Raises InputError."""
    numbers = _whole_numbers(text, option)
    if len(numbers) > 3 or min(numbers) < 0:
        raise InputError(f"{option} takes an invocation's global id, such as 37 or 5,0,2, not {text!r}")
    x, y, z = (*numbers, 0, 0)[:3]
    return x, y, z


def print_text(text: str) -> None:
    """Print the text of a program as it is, in UTF-8, with a line break at its end."""
    click.echo((text if text.endswith("\n") else text + "\n").encode("utf-8", "surrogatepass"), nl=False)


def for_json(value: Any) -> Any:
    """The value with floats that JSON lacks replaced by the strings "NaN", "Infinity" and "-Infinity"."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return map_parts(for_json, value)


def map_parts(change: Callable[[Any], Any], value: Any) -> Any:
    """A JSON value with its parts changed."""
    if isinstance(value, list):
        return [change(part) for part in cast("list[object]", value)]
    if isinstance(value, dict):
        return {key: change(part) for key, part in cast("dict[str, Any]", value).items()}
    return value
