"""Files that `docs/adding-*.md` name exist, listed ones hold their example, and no list lacks a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted((ROOT / "docs").glob("adding-*.md"))
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([\w./-]+)\)")
PATH = re.compile(r"(?:backend|benchmarks|docs|frontend|ir|src|shaders|programs|tests|tools|transforms)/[\w./-]*")
ROW = re.compile(r"^\| `(?P<path>[^`]+)` \| `(?P<example>[^`]+)` \| [^|]+ \|$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
PLACEHOLDERS = re.compile(r"NAME|PASS")
"""Stand for any name in a path."""
EXAMPLES = (
    ("adding-a-builtin.md", r"\bcountOneBits\b", ("ir", "transforms", "backend")),
    ("adding-an-operation.md", r"\bBitcast\b", ("ir/hercules", "ir/schema", "transforms", "backend/cpu/nodes.py")),
    ("adding-an-operation.md", r"\b(nodes|c)\.Swizzle\b|@Swizzle\(", ("ir", "transforms", "backend")),
    ("adding-a-pass.md", r'"dce"|\bDeadCodeElimination\b', ("transforms/hercules", "transforms/pipelines.py")),
    ("adding-a-pass.md", r'"cse"|\bCommonSubexpressionElimination\b', ("transforms/core", "transforms/pipelines.py")),
)
"""A document, what marks a file that knows its example, and where to look for such files."""


def text(document: Path) -> str:
    return FENCED.sub("", document.read_text(encoding="utf-8"))


def paths(document: Path) -> Iterator[str]:
    for match in CODE.finditer(text(document)):
        if PATH.fullmatch(match[1]):
            yield match[1]


def rows(document: Path) -> list[tuple[str, str]]:
    return [(match["path"], match["example"]) for match in ROW.finditer(text(document))]


def exists(path: str) -> bool:
    """Whether there is such a file, or, for a pattern, at least one."""
    return any(ROOT.glob(PLACEHOLDERS.sub("*", path.rstrip("/"))))


def files(place: str) -> Iterator[Path]:
    """The sources at a place: a file, or a folder with its subfolders."""
    path = ROOT / place
    yield from [path] if path.is_file() else (it for it in path.rglob("*") if it.suffix in (".py", ".asdl"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda it: it.stem)
def test_every_path_exists(document: Path) -> None:
    found = list(paths(document))
    assert len(found) >= 4
    assert [it for it in found if not exists(it)] == []
    assert [it for it in LINK.findall(text(document)) if not (document.parent / it).exists()] == []


@pytest.mark.parametrize("document", [it for it in DOCUMENTS if it.stem != "adding-a-golden"], ids=lambda it: it.stem)
def test_listed_files_hold_their_example(document: Path) -> None:
    listed = rows(document)
    assert len(listed) == text(document).count("\n| `")
    assert len(listed) >= 5
    assert [row for row in listed if row[1] not in (ROOT / row[0]).read_text(encoding="utf-8")] == []


@pytest.mark.parametrize(("document", "mark", "places"), EXAMPLES)
def test_lists_are_complete(document: str, mark: str, places: tuple[str, ...]) -> None:
    """A file that knows the example, and that the document does not name, is one more to think of."""
    sources = {path for place in places for path in files(place)}
    knowing = {it.relative_to(ROOT).as_posix() for it in sources if re.search(mark, it.read_text(encoding="utf-8"))}
    assert len(knowing) >= 2
    assert knowing - set(paths(ROOT / "docs" / document)) == set()


@pytest.mark.parametrize("path", ["ir/core/nowhere.py", "tests/goldens/PASS/nowhere.wgsl", "ir/hercules/copying/"])
def test_a_path_that_is_gone_is_noticed(path: str) -> None:
    assert PATH.fullmatch(path)
    assert not exists(path)
