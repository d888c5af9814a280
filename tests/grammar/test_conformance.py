"""The grammar takes every module that the WebGPU conformance suite holds valid."""

from __future__ import annotations

import json
import lzma
import os
from pathlib import Path

import pytest
from tree_sitter import Parser

from tinct.frontend.grammar import language

FOLDER = Path(os.environ.get("TINCT_CONFORMANCE", Path(__file__).resolve().parents[3] / "shared" / "conformance"))
RECORDS = FOLDER / "validation-smoke.jsonl.xz"


@pytest.mark.skipif(
    not RECORDS.exists(), reason="the conformance records are not here (TINCT_CONFORMANCE names their folder)"
)
def test_valid_modules_parse() -> None:
    with lzma.open(RECORDS, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    valid = [record for record in records if record["kind"] == "module" and record["expected"]]
    parser = Parser(language())
    refused = [record["q"] for record in valid if parser.parse(record["code"].encode()).root_node.has_error]
    assert len(valid) > 1000
    assert refused == []
