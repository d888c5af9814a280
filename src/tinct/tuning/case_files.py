"""The values of overrides in the text of a case file, which stays as it is but for the line of the constants."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

from ..base.errors import InputError
from ..cases.model import Constant

_HEADER = re.compile(r"^\s*\[\[\s*case\s*\]\]\s*(#.*)?$")
_TABLE = re.compile(r"^\s*\[")


def with_constants(text: str, case: str, constants: Mapping[str, Constant]) -> str:
    """The text of a case file with other constants in a case; sizes of the same names change, too.

    Raises InputError where the text has them in another form than `constants = { … }` on one line.
    """
    lines = text.splitlines()
    wanted = tomllib.loads(text)
    number = next((at for at, it in enumerate(wanted["case"]) if it.get("name") == case), None)
    if number is None:
        raise InputError(f"there is no case {case!r}")
    found = wanted["case"][number]
    found["constants"] = {**found.get("constants", {}), **constants}
    for name, value in constants.items():
        if name in found.get("sizes", {}):
            found["sizes"][name] = value
    first, end = _lines_of(lines, number)
    for key in ("sizes", "constants"):
        if key in found and found[key] != tomllib.loads(text)["case"][number].get(key):
            end = _set(lines, first, end, f"{key} = {_inline(found[key])}")
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    made = "".join(line + end_of_line for line in lines)
    try:
        is_right = tomllib.loads(made) == wanted
    except tomllib.TOMLDecodeError:
        is_right = False
    if not is_right:
        raise InputError(
            f"case {case!r} has constants in a form that cannot be changed: use constants = {{ … }} in a line"
        )
    return made


def _lines_of(lines: list[str], number: int) -> tuple[int, int]:
    """The first line after the header of a case, and the one after its last key."""
    headers = [at for at, line in enumerate(lines) if _HEADER.match(line)]
    if number >= len(headers):
        raise InputError("the cases are in a form that cannot be changed: use [[case]] for each")
    first = headers[number] + 1
    end = next((at for at in range(first, len(lines)) if _TABLE.match(lines[at])), len(lines))
    while end > first and not lines[end - 1].strip():
        end -= 1
    return first, end


def _set(lines: list[str], first: int, end: int, line: str) -> int:
    """Replace the line of a key, or add one. Returns where the case ends now."""
    key = line.partition(" ")[0]
    for at in range(first, end):
        if re.match(rf"\s*{key}\s*=", lines[at]):
            lines[at] = line
            return end
    lines.insert(end, line)
    return end + 1


def _inline(table: Mapping[str, object]) -> str:
    return f"{{ {', '.join(f'{_key(name)} = {_value(it)}' for name, it in table.items())} }}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)
