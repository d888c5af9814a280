"""`tinct tune`: nests, kernels, lists of what is kept, and whatever is wrong with the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Tinct

NEST = """nest doubled(n) {
  dim i: n
  in x: f32[n]
  out y: f32[n]

  x0: f32 = inst x[i] on [i]
  twice: f32 = inst x0 * 2.0f on [i]
  y[i] = twice on [i]
}
"""
WGSL = """override width: u32 = 4;
@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(width)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&y) { y[id.x] = id.x; }
}
"""
TOML = """threads = "n"
[buffers]
y = { shape = "n", output = "exact" }

[[case]]
name = "all"
sizes = { n = 100 }
"""


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TINCT_CACHE", "on")
    monkeypatch.setenv("TINCT_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def nest(tmp_path: Path) -> Path:
    path = tmp_path / "doubled.nest"
    path.write_text(NEST)
    return path


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    (tmp_path / "k.toml").write_text(TOML)
    path = tmp_path / "k.wgsl"
    path.write_text(WGSL)
    return path


def test_a_nest(run_tinct: Tinct, nest: Path, tmp_path: Path) -> None:
    assert "nothing is kept" in run_tinct("tune").output
    out = tmp_path / "best.wgsl"
    result = run_tinct("tune", nest, "--sizes", "n=500", "--seconds", "0.6", "-o", out)
    assert result.exit_code == 0, result.output
    assert result.output.startswith("doubled on cpu: ")
    assert "only for n = 500" in out.read_text()
    assert "sizes = { n = 500 }" in out.with_suffix(".toml").read_text()
    for arguments in ((), (nest,)):
        assert "n = 500" in run_tinct("tune", *arguments).output
        records = json.loads(run_tinct("tune", *arguments, "--json").output)
        assert [it["sizes"] for it in records] == [{"n": 500}]
    again = json.loads(run_tinct("tune", nest, "--sizes", "n=500", "--seconds", "0.5", "--json").output)
    assert again["kept"]
    assert again["decisions"] == records[0]["decisions"]
    assert again["wgsl"] == out.read_text()


def test_a_kernel(run_tinct: Tinct, kernel: Path) -> None:
    arguments = ("tune", kernel, "--override", "width=8..64:*2", "--where", "width < 64", "--seconds", "30")
    result = run_tinct(*arguments)
    assert result.exit_code == 0, result.output
    assert "4 measured; all combinations" in result.output
    found = json.loads(run_tinct(*arguments, "--json").stdout)
    assert [it["constants"] for it in found["attempts"]] == [{}, {"width": 8}, {"width": 16}, {"width": 32}]
    assert found["case"] == "all"
    assert {it["status"] for it in found["attempts"]} == {"measured"}
    assert all(it["milliseconds"] > 0 and "compiling_milliseconds" in it for it in found["attempts"])
    written = run_tinct(*arguments, "--write")
    toml = kernel.with_suffix(".toml").read_text()
    assert ("constants = { width = " in toml) == ("wrote" in written.output)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["NEST", "--sizes", "n"], "--sizes takes NAME=NUMBER"),
        (["NEST", "--sizes", "n=-3"], "--sizes takes NAME=NUMBER"),
        (["NEST", "--sizes", "n=3,n=4"], "given twice"),
        (["NEST", "--sizes", "m=3"], "has no size 'm'"),
        (["NEST", "--sizes", "n=0"], "nothing to tune"),
        (["NEST", "--sizes", "n=99999999999"], "2^32"),
        (["NEST", "--sizes", "n=8", "-o", "x.txt"], "--output is a file of WGSL"),
        (["NEST", "--sizes", "n=8", "--device", "interp"], "tuning is for 'cpu' and 'gpu'"),
        (["NEST", "--sizes", "n=8", "--device", "gpu", "--contract"], "contract is for the device 'cpu', not 'gpu'"),
        (["NEST", "--sizes", "n=8", "--device", "gpu:nowhere"], "nowhere"),
        (["NEST", "--sizes", "n=8", "--override", "a=1"], "--override is for kernels"),
        (["NEST", "--where", "true"], "--where is for kernels"),
        (["NEST", "--sizes", "n=8", "--seconds", "0"], "--seconds"),
        (["NEST", "--sizes", "n=8", "--seconds", "inf"], "seconds is a number above 0"),
        (["NEST", "--sizes", "n=8", "--seconds", "1e10"], "below 1728000 (20 days), not 10000000000.0"),
        (["KERNEL", "--override", "width=8", "--seconds", "1e300"], "below 1728000 (20 days), not 1e+300"),
        (["NEST", "--sizes", "n=8", "--seed", "-1"], "--seed"),
        (["KERNEL"], "give --override"),
        (["KERNEL", "--override", "width"], "--override takes NAME=VALUES"),
        (["KERNEL", "--override", "width=1", "--override", "width=2"], "given twice"),
        (["KERNEL", "--override", "depth=1"], "no override 'depth'"),
        (["KERNEL", "--override", "width=1", "--where", "width >"], "expected an expression"),
        (["KERNEL", "--override", "width=1", "--where", "1"], "neither true nor false"),
        (["KERNEL", "--override", "width=1", "--case", "al"], "did you mean 'all'"),
        (["KERNEL", "--override", "width=1", "--sizes", "n=3"], "--sizes is for nests"),
        (["KERNEL", "--override", "width=1", "--renew"], "--renew is for nests"),
        (["KERNEL", "--override", "width=1", "--seconds", "inf"], "seconds"),
        (["BROKEN"], "expected"),
        (["BINARY"], "no text in UTF-8"),
        (["OTHER"], "neither a nest"),
        (["ALONE", "--override", "width=1"], "no case file"),
        (["--sizes", "n=3"], "--sizes is for a FILE"),
        (["nowhere.nest"], "nowhere.nest"),
    ],
)
def test_bad_input(
    run_tinct: Tinct, nest: Path, kernel: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    files = {"NEST": nest, "KERNEL": kernel}
    for name, file, data in (
        ("BROKEN", "broken.nest", b"nest ("),
        ("BINARY", "binary.nest", bytes(range(256))),
        ("OTHER", "other.txt", b""),
        ("ALONE", "alone.wgsl", WGSL.encode()),
    ):
        files[name] = tmp_path / file
        files[name].write_bytes(data)
    result = run_tinct("tune", *(files.get(it, it) for it in arguments))
    assert result.exit_code in (1, 2, 3), result.output
    assert message in result.output
    assert "Traceback" not in result.output
    assert "internal error" not in result.output


def test_help_teaches(run_tinct: Tinct) -> None:
    text = run_tinct("tune", "--help").output
    for word in ("--override TILE=8,16,32", "--where", "Examples:", "row_sums.nest"):
        assert word in text
