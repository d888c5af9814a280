"""Modules with comments that say what the resolver finds on their lines.

`// error: CODE` and `// warning: CODE` stand on the line of a diagnostic, `// type: T` on the line of a declaration.
What is not announced must not be found.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tinct.frontend import check, load_program
from tinct.ir.source import Source

MODULES = Path(__file__).parent / "modules"
_COMMENT = re.compile(r"// (error|warning|type): (\S.*)")


def announced(source: Source, *kinds: str) -> list[tuple[int, str, str]]:
    lines = source.data.decode().splitlines()
    found = [(number, *match.groups()) for number, line in enumerate(lines, 1) for match in _COMMENT.finditer(line)]
    return [(number, kind, text) for number, kind, text in found if kind in kinds]


@pytest.mark.parametrize("path", sorted(MODULES.glob("*.wgsl")), ids=lambda path: path.stem)
def test_finds_what_is_announced(path: Path) -> None:
    source = Source.from_file(path)
    expected = Counter(announced(source, "error", "warning"))
    assert path.stem.endswith("_valid") == (not expected)
    found = Counter(
        (source.position(item.span.start).line, item.severity.value, item.code)
        for item in check(source)
        if item.span is not None
    )
    assert (found - expected, expected - found) == (Counter(), Counter())


@pytest.mark.parametrize("path", sorted(MODULES.glob("*_valid.wgsl")), ids=lambda path: path.stem)
def test_types_of_declarations(path: Path) -> None:
    program = load_program(Source.from_file(path))
    types: dict[int, Counter[str]] = {}
    for variable in program.facts.declared.values():
        types.setdefault(program.source.position(variable.span.start).line, Counter())[str(variable.type)] += 1
    for line, _, type_ in announced(program.source, "type"):
        assert types[line][type_], (line, type_, types[line])
