"""One golden for each diagnostic code: a small shader, all that is said of it, and the page in the documentation.

The last line of a shader is a comment that says what the code means; `// entry: NAME` and `// constants: NAME=VALUE`
before it are for the pipeline. `docs/diagnostics.md` is made of the goldens, by `pytest --bless`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tinct.compilation import Compilation
from tinct.frontend import check, check_pipeline, load_program
from tinct.ir.diagnostics import Diagnostic, ShaderError, render_all
from tinct.ir.source import Source
from tinct.origins import ProgramOrigin
from tinct.pipeline import Job

ROOT = Path(__file__).resolve().parents[2]
GOLDENS = ROOT / "tests/goldens/diagnostics"
PAGE = ROOT / "docs/diagnostics.md"
SHADERS = sorted(GOLDENS.glob("*.wgsl"))
_REPORTERS = {"error": 0, "fail": 0, "warn": 0, "_error": 0, "Diagnostic": 1}
# Not written out where they are reported: the codes of `uniformity`, made of a diagnostic rule, and of `not_supported`.
_COMPUTED = {"barrier-uniformity", "derivative-uniformity", "subgroup-uniformity", "not-supported"}
_LONGEST_EXAMPLE = 60  # lines

_INTRODUCTION = """\
# Diagnostics

The diagnostics of `tinct check` and `ShaderError`. Each diagnostic has a code, which stays the same when its words
change. An error makes the shader invalid; a warning does not. Each code is listed with its meaning, a shader that
has it, and all diagnostics of that shader.

"""


def said_of(path: Path) -> tuple[Diagnostic, ...]:
    """All diagnostics of a shader, of its pipeline when it is valid, and of its compilation when that is, too."""
    source = Source(path.name, path.read_bytes())
    found = check(source)
    if any(diagnostic.is_error for diagnostic in found):
        return found
    entry = _option(source, "entry") or "main"
    constants = dict(pair.split("=") for pair in _option(source, "constants").split())
    program = load_program(source)
    piped = check_pipeline(program, entry, {name: float(value) for name, value in constants.items()})
    codes = {diagnostic.code for diagnostic in piped}
    found = (*(it for it in found if it.code not in codes), *piped)
    if found or not program.entry_points:
        return found
    try:
        _ = Compilation(Job(ProgramOrigin(program), entry, {})).hercules
    except ShaderError as error:
        return error.diagnostics
    return ()


def _option(source: Source, name: str) -> str:
    found = re.search(rf"// {name}: (.*)", source.data.decode("utf-8", "replace"))
    return found[1] if found else ""


@cache
def rendered(path: Path) -> str:
    return render_all(said_of(path), Source(path.name, path.read_bytes())) + "\n"


@pytest.mark.parametrize("path", SHADERS, ids=lambda path: path.stem)
def test_goldens(path: Path, golden: Callable[[Path, str], None]) -> None:
    assert path.stem in {diagnostic.code for diagnostic in said_of(path)}
    golden(path.with_suffix(".txt"), rendered(path))


def test_every_code_has_a_golden() -> None:
    assert {path.stem for path in SHADERS} == set(_codes()) | _COMPUTED


def _codes() -> Iterator[str]:
    """The codes that the front end's source hands to what reports diagnostics."""
    for path in (ROOT / "frontend").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield from _code_of(node)


def _code_of(node: ast.Call) -> Iterator[str]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    position = _REPORTERS.get(name)
    if position is None or len(node.args) <= position:
        return
    code = node.args[position]
    if isinstance(code, ast.Constant) and isinstance(code.value, str):
        yield code.value


def test_page_lists_all_codes(golden: Callable[[Path, str], None]) -> None:
    golden(PAGE, _INTRODUCTION + "\n".join(_section(path) for path in SHADERS))


def _section(path: Path) -> str:
    *lines, meaning = path.read_text(encoding="utf-8", errors="replace").rstrip().split("\n")
    example = "\n".join(line if len(line) <= 160 else line[:160] + "…" for line in lines)
    said = rendered(path).rstrip()
    if len(lines) > _LONGEST_EXAMPLE:
        example = "\n".join([*lines[:5], "    …"])
        paragraphs = said.split("\n\n")
        said = "\n\n".join([paragraphs[0], "…", paragraphs[-1]])
    sentence = meaning.removeprefix("// ")
    explained = f"{sentence[0].upper()}{sentence[1:]}."
    return f"## {path.stem}\n\n{explained}\n\n```wgsl\n{example}\n```\n\n```text\n{said}\n```\n"
