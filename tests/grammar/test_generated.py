"""The committed parser is the one that grammar.js describes."""

from __future__ import annotations

import hashlib
from pathlib import Path

GRAMMAR = Path(__file__).resolve().parents[2] / "frontend" / "grammar"


def test_parser_was_generated_from_this_grammar() -> None:
    recorded = (GRAMMAR / "src" / "grammar.js.sha256").read_text().split()[0]
    found = hashlib.sha256((GRAMMAR / "grammar.js").read_bytes()).hexdigest()
    assert found == recorded, "run `make grammar`"
