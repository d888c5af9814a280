"""Results on disk: damaged files count as missing, and processes do not disturb each other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tinct.tuning.kept import all_records, forget_records, keep_record, read_record, record_name


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("TINCT_CACHE", "on")
    monkeypatch.setenv("TINCT_CACHE_DIR", str(tmp_path))
    return tmp_path / "tuned"


def test_a_record_is_replaced_by_a_better_one_only() -> None:
    name = record_name("nest", "a")
    assert read_record(name) is None
    for milliseconds in (3, 2, 5):
        keep_record(name, {"ms": milliseconds}, lambda there, it=milliseconds: it < there["ms"])
    assert read_record(name) == {"ms": 2}
    assert all_records() == {name: {"ms": 2}}
    assert forget_records([name, "other"]) == 1
    assert all_records() == {}


@pytest.mark.parametrize("data", [b"", b"tinct cache 1\n", b"\0" * 100], ids=["empty", "short", "zeros"])
def test_a_damaged_file_counts_as_missing(folder: Path, data: bytes) -> None:
    name = record_name("nest", "a")
    keep_record(name, {"ms": 1}, lambda _: False)
    (folder / f"{name}.tinct").write_bytes(data)
    assert read_record(name) is None
    assert all_records() == {}
    keep_record(name, {"ms": 7}, lambda _: False)
    assert read_record(name) == {"ms": 7}


def test_a_file_with_other_contents_counts_as_missing(folder: Path) -> None:
    from tinct.backend.cpu.disk_cache import DiskCache

    name = record_name("nest", "a")
    for text in ("[1, 2]", "{", json.dumps("words")):
        DiskCache(folder).put(name, text.encode())
        assert read_record(name) is None


def test_nothing_is_kept_where_the_cache_is_off(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("TINCT_CACHE", "off")
    name = record_name("nest", "a")
    keep_record(name, {"ms": 1}, lambda _: True)
    assert read_record(name) is None
    assert not folder.exists()


_PROCESS = """
import sys
from tinct.tuning.kept import keep_record
for number in range(50):
    mine = (number * 7 + int(sys.argv[2])) % 101
    keep_record(sys.argv[1], {"ms": mine}, lambda there: mine < there["ms"])
"""


def test_two_processes_keep_the_best() -> None:
    name = record_name("nest", "a")
    processes = [subprocess.Popen([sys.executable, "-c", _PROCESS, name, str(it)]) for it in (3, 50)]
    assert [it.wait(60) for it in processes] == [0, 0]
    least = min((number * 7 + start) % 101 for start in (3, 50) for number in range(50))
    assert read_record(name) == {"ms": least}
