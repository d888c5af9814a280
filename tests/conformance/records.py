"""Reading the vectors: one JSON object a line, plain or xz-compressed."""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

Record = dict[str, Any]


def folder() -> Path | None:
    """Where the vectors are; None when they are not on this machine."""
    named = os.environ.get("TINCT_CONFORMANCE")
    path = Path(named) if named else ROOT.parent / "shared" / "conformance"
    return path if path.is_dir() else None


def read(path: Path) -> Iterator[Record]:
    """All records of a file, in order."""
    open_text = lzma.open if path.suffix == ".xz" else open
    with open_text(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def suite_folder(record: Record) -> str:
    """The part of the suite a record is from, three levels deep: `execution/expression/binary`."""
    parts = record["q"].split(":")[1].split(",")[1:]
    return "/".join(parts[:3])
