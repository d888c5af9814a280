"""The grammar's tree of each construct, as texts under `corpus/`.

A case is a line `=== title`, the source, a line `---` and the tree: named nodes with their fields, leaves with their
text, and the tokens that are operators.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tree_sitter import Node, Parser

from tinct.frontend.grammar import language

CORPUS = Path(__file__).parent / "corpus"


@dataclass(frozen=True)
class Case:
    title: str
    source: str
    tree: str

    def text(self) -> str:
        return f"=== {self.title}\n{self.source}\n---\n{self.tree}\n"


def read_cases(path: Path) -> list[Case]:
    cases: list[Case] = []
    for part in path.read_bytes().decode().split("=== ")[1:]:
        title, body = part.split("\n", 1)
        source, tree = body.split("\n---\n")
        cases.append(Case(title, source, tree.strip()))
    return cases


def show(root: Node) -> str:
    """The tree, a line a node."""
    return "\n".join(lines(root, "", 0))


def lines(node: Node, label: str, depth: int) -> Iterator[str]:
    name = f"MISSING {node.type}" if node.is_missing else node.type
    text = f" {node.text.decode()!r}" if node.text is not None and node.is_named and not node.child_count else ""
    yield f"{'  ' * depth}{label}{name}{text}"
    for index, child in enumerate(node.children):
        field = node.field_name_for_child(index)
        if child.is_named or field or child.is_missing:
            yield from lines(child, f"{field}: " if field else "", depth + 1)


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.txt")), ids=lambda path: path.stem)
def test_corpus(path: Path, bless: bool) -> None:
    parser = Parser(language())
    cases = read_cases(path)
    found = [Case(case.title, case.source, show(parser.parse(case.source.encode()).root_node)) for case in cases]
    if bless:
        path.write_bytes("\n".join(case.text() for case in found).encode())
        return
    for case, now in zip(cases, found, strict=True):
        assert now.tree == case.tree, f"{path.name}: {case.title} (pytest --bless rewrites the corpus)"
