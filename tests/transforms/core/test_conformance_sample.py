"""Recorded results of the conformance suite are right after each pass, and after all.

`python -m tests.conformance transforms` asks this of every record; here are some that are soon done.
"""

from __future__ import annotations

import pytest
from tests.conformance.pipelines import PIPELINES
from tests.conformance.records import Record, folder, read
from tests.conformance.round_trips import transforms

EVERY = 200
STEPS = 100_000
VECTORS = folder()


def is_asked(record: Record) -> bool:
    return record["kind"] in ("bufeq", "flow") or record.get("src") == "storage_r"


@pytest.mark.skipif(VECTORS is None, reason="no conformance vectors on this machine")
def test_right_after_each() -> None:
    assert VECTORS is not None
    asked = [record for record in read(VECTORS / "execution.jsonl.xz") if is_asked(record)][::EVERY]
    is_soon_done = transforms([""], STEPS)
    quick = [record for record in asked if is_soon_done(record) is None]
    assert len(quick) > 20
    judge = transforms(PIPELINES)
    problems = {record["q"]: judge(record) for record in quick}
    assert {name: problem for name, problem in problems.items() if problem is not None} == {}
