"""Valid modules of the conformance suite, written back: accepted again, and stable."""

from __future__ import annotations

import json
import lzma
import os
from pathlib import Path

import pytest

from tinct.backend.wgsl import print_unit
from tinct.frontend import load_program
from tinct.ir.diagnostics import ShaderError
from tinct.ir.source import Source
from tinct.transforms.from_wgsl import build
from tinct.transforms.to_wgsl.unit import to_unit

FOLDER = Path(os.environ.get("TINCT_CONFORMANCE", Path(__file__).parents[3] / "shared" / "conformance"))
VECTORS = FOLDER / "validation-smoke.jsonl.xz"
EVERY = 12


def trip(text: str) -> str:
    return print_unit(to_unit(build(load_program(Source.from_text(text)))))


@pytest.mark.skipif(not VECTORS.exists(), reason="no conformance vectors on this machine")
def test_sample() -> None:
    with lzma.open(VECTORS, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    valid = [it for it in records if it["expected"] and it.get("code")][::EVERY]
    assert len(valid) > 100
    wrong: list[str] = []
    for record in valid:
        try:
            once = trip(record["code"])
        except ShaderError:  # the front end's matter, and counted by its own tests
            continue
        if trip(once) != once:
            wrong.append(record["q"])
    assert wrong == []
