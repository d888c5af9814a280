"""No `match` over kinds of nodes lets a kind fall through that it does not know.

Type checkers name every place where a new kind is missing, as long as a match ends in `assert_never`. Where a default
is right for many kinds, a group stands for them: `case PureNode():`. Matches over several subjects at once ask for
combinations, and may have a default for all others.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from tinct.ir.schema.runtime import SchemaNode

ROOT = Path(__file__).parents[2]
FOLDERS = ("ir", "frontend", "transforms", "backend", "src")
FEWEST = 3
"""Matches over fewer kinds are like an `if`."""

FILES = sorted(path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def module_name(file: str) -> str:
    """The import name: the folders at the top are subpackages of `tinct` through links."""
    parts = file.removeprefix("src/tinct/").removesuffix(".py").removesuffix("/__init__").split("/")
    return ".".join(["tinct", *parts])


def imported(tree: ast.Module, package: str) -> Iterator[tuple[str, object]]:
    """What the import statements bind, wherever in the module they stand."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            source = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            module = importlib.import_module(source)
            for alias in node.names:
                if not hasattr(module, alias.name):
                    importlib.import_module(f"{source}.{alias.name}")
                yield alias.asname or alias.name, getattr(module, alias.name)


class Names:
    """What names stand for in a module."""

    def __init__(self, tree: ast.Module, file: str) -> None:
        name = module_name(file)
        package = name if file.endswith("__init__.py") else name.rpartition(".")[0]
        self._imported = dict(imported(tree, package))
        self._module = importlib.import_module(name) if importlib.util.find_spec(name) else None

    def is_kind(self, expression: ast.expr) -> bool:
        found = self._value(expression)
        return isinstance(found, type) and issubclass(found, SchemaNode)

    def _value(self, expression: ast.expr) -> object:
        if isinstance(expression, ast.Attribute):
            return getattr(self._value(expression.value), expression.attr, None)
        if not isinstance(expression, ast.Name):
            return None
        return self._imported.get(expression.id, getattr(self._module, expression.id, None))


def classes(pattern: ast.pattern) -> Iterator[ast.expr]:
    """The classes that a pattern tells apart."""
    match pattern:
        case ast.MatchClass():
            yield pattern.cls
        case ast.MatchOr(patterns=patterns):
            for it in patterns:
                yield from classes(it)
        case ast.MatchAs(pattern=ast.pattern() as inner):
            yield from classes(inner)
        case _:
            pass


def ends(match: ast.Match) -> bool:
    """Whether the last case is `case _: assert_never(…)`."""
    last = match.cases[-1]
    is_wild = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
    return is_wild and ast.unparse(last.body[0]).startswith("assert_never(")


def open_matches(text: str, file: str) -> list[int]:
    """The lines of matches over three or more kinds that end in any other way."""
    tree = ast.parse(text)
    matches = [node for node in ast.walk(tree) if isinstance(node, ast.Match)]
    names = Names(tree, file) if matches else None
    return [
        match.lineno
        for match in matches
        if names is not None
        and len({ast.unparse(it) for case in match.cases for it in classes(case.pattern) if names.is_kind(it)})
        >= FEWEST
        and not ends(match)
    ]


@pytest.mark.parametrize("file", FILES)
def test_matches_end_in_assert_never(file: str) -> None:
    assert [f"{file}:{line}" for line in open_matches((ROOT / file).read_text(encoding="utf-8"), file)] == []


EXAMPLE = """
from . import nodes as h
from .nodes import Binary

def f(node):
    match node:
        case h.Unary() | Binary(lhs=h.Select()):
            pass
        case h.Cast() as cast:
            pass
        {}
"""


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ("case _: assert_never(node)", []),
        ("case _: return None", [6]),
        ("case h.PureNode(): pass", [6]),
        ("case _ if node: assert_never(node)", [6]),
    ],
)
def test_the_scan_sees_what_falls_through(end: str, expected: list[int]) -> None:
    assert open_matches(EXAMPLE.format(end), "ir/hercules/example.py") == expected
