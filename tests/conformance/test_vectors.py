"""The suite's vectors: all of the small validation file, and a sample of the executions on each tier without a GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tinct.backend.gpu import GpuDevice

from .records import ROOT, folder, read

KNOWN: dict[str, dict[str, str]] = tomllib.loads((Path(__file__).parent / "known.toml").read_text(encoding="utf-8"))
EVERY = 60


def vectors(name: str) -> Path:
    where = folder()
    if where is None or not (where / name).exists():
        pytest.skip("the conformance vectors are not on this machine: set TINCT_CONFORMANCE to their folder")
    return where / name


def assert_as_known(question: str, file: Path, known: dict[str, str], tmp_path: Path, *options: str) -> None:
    """Runs the runner, and compares what it finds wrong with what is known."""
    report = tmp_path / "wrong.txt"
    done = subprocess.run(
        [sys.executable, "-m", "tests.conformance", question, str(file), "--wrong-to", str(report), *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    score = json.loads(done.stdout.splitlines()[-1])
    problems = dict(line.split("\t", 1) for line in report.read_text(encoding="utf-8").splitlines())
    assert score["of"] - score["right"] == len(problems)
    fresh = [f"{name}\n    {problem}" for name, problem in problems.items() if name not in known]
    assert not fresh, f"{len(fresh)} of {score['of']} records are wrong:\n" + "\n".join(fresh[:20])
    mended = sorted({record["q"] for record in read(file)} & known.keys() - problems.keys()) if not options else []
    assert not mended, f"right by now, so take them out of known.toml: {mended}"


def test_every_verdict_of_the_small_validation_file(tmp_path: Path) -> None:
    assert_as_known("validation", vectors("validation-smoke.jsonl.xz"), KNOWN["validation"], tmp_path)


@pytest.mark.parametrize(("device", "name"), [("cpu", "cpu"), ("interp", "interp"), ("hercules-interp", "hercules")])
def test_a_sample_of_the_executions(device: str, name: str, tmp_path: Path) -> None:
    options = ("--device", device, "--every", str(EVERY))
    assert_as_known("execution", vectors("execution.jsonl.xz"), KNOWN[name], tmp_path, *options)


def test_a_sample_of_the_executions_by_way_of_hercules_on_a_gpu(tmp_path: Path) -> None:
    reason = GpuDevice.unavailable_reason()
    if reason is not None:
        pytest.skip(f"no GPU: {reason}")
    options = ("--device", "gpu-hercules", "--at-run-time", "--every", str(EVERY))
    assert_as_known("execution", vectors("execution.jsonl.xz"), {}, tmp_path, *options)


def test_every_known_failure_has_a_reason() -> None:
    assert KNOWN.keys() == {"validation", "cpu", "interp", "hercules"}
    assert all(reason.strip() for table in KNOWN.values() for reason in table.values())


def test_records_are_plain_or_compressed_lines(tmp_path: Path) -> None:
    lines = '{"q": "a:b,c:d:"}\n\n{"q": "e:f,g:h:"}\n'
    (tmp_path / "plain.jsonl").write_text(lines, encoding="utf-8")
    assert [record["q"] for record in read(tmp_path / "plain.jsonl")] == ["a:b,c:d:", "e:f,g:h:"]


def test_the_score_of_a_file_of_our_own(tmp_path: Path) -> None:
    records = [
        {"q": "webgpu:shader,validation,ours:right:", "kind": "module", "expected": True, "code": "fn f() {}"},
        {"q": "webgpu:shader,validation,ours:wrong:", "kind": "module", "expected": False, "code": "fn f() {}"},
    ]
    file = tmp_path / "ours.jsonl"
    file.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    known = {"webgpu:shader,validation,ours:wrong:": "it is valid"}
    assert_as_known("validation", file, known, tmp_path)
    with pytest.raises(AssertionError, match="accepted"):
        assert_as_known("validation", file, {}, tmp_path)
