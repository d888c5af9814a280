"""What each command prints when all is well."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tinct.backend.gpu import GpuDevice
from tinct.cli import _COMMANDS  # pyright: ignore[reportPrivateUsage]
from tinct.cli.compile import STAGES
from tinct.pipeline import ORDER_OF_STEPS

from .conftest import SAXPY, Tinct

Write = Callable[[str | bytes], Path]

SHADERS = SAXPY.parents[1]
BUFFERS = ("-b", "x=arange:8", "-b", "y=zeros:8", "-b", 'params={"a": 2, "n": 8}')
NESTED = """
struct Point { at: vec3f, mass: f32 }
struct Cloud { count: u32, points: array<Point> }
@group(0) @binding(0) var<storage, read_write> cloud: Cloud;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {
    cloud.points[id.x].mass = 1.0 / f32(id.x);
    cloud.count = arrayLength(&cloud.points);
}
"""


@pytest.mark.parametrize("command", _COMMANDS)
def test_help_teaches_with_examples(run_tinct: Tinct, command: str) -> None:
    result = run_tinct(command, "--help")
    assert result.exit_code == 0
    assert f"Examples:\n    tinct {command}" in result.output


def test_the_overview_names_commands_and_exit_codes(run_tinct: Tinct) -> None:
    result = run_tinct("--help")
    assert all(command in result.output for command in _COMMANDS)
    assert "3  a device failed" in result.output


def test_check(run_tinct: Tinct, wgsl: Write) -> None:
    assert run_tinct("check", SAXPY).output == f"{SAXPY}: ok\n"
    bad = wgsl("fn f() {\n  let a = positon;\n}")
    result = run_tinct("check", bad, SAXPY)
    assert result.exit_code == 1
    assert result.stdout == f"{bad}: 1 error\n{SAXPY}: ok\n"
    assert f"{bad}:2:11" in result.stderr


@pytest.mark.parametrize("command", ["check", "fmt", "minify", "opt", "compile", "run", "bisect", "debug"])
def test_files_of_hercules_ir_are_no_shaders(run_tinct: Tinct, command: str, tmp_path: Path) -> None:
    path = tmp_path / "twice.hir"
    path.write_text("fn twice(x: f32) -> f32", encoding="utf-8")
    result = run_tinct(command, str(path))
    assert result.exit_code == 2
    assert f"{path} holds Hercules IR" in result.stderr


def test_check_from_standard_input(run_tinct: Tinct) -> None:
    assert run_tinct("check", "-", stdin="fn f() {}").stdout == "<stdin>: ok\n"


def test_check_as_json(run_tinct: Tinct, wgsl: Write) -> None:
    assert json.loads(run_tinct("check", SAXPY, "--format", "json").stdout) == []
    (found,) = json.loads(run_tinct("check", wgsl("const é = x;"), "--format", "json").stdout)
    assert (found["severity"], found["code"]) == ("error", "unresolved-identifier")
    assert found["range"]["start"] == {"offset": 11, "line": 1, "column": 11}


def test_reflect(run_tinct: Tinct) -> None:
    result = run_tinct("reflect", SAXPY)
    assert result.exit_code == 0
    assert "struct Params: 8 bytes, alignment 4" in result.stdout
    assert "Params = np.dtype({'names': ['a', 'n']" in result.stdout


def test_reflect_shows_padding_and_dtypes_that_python_takes(run_tinct: Tinct, wgsl: Write) -> None:
    result = run_tinct("reflect", wgsl(NESTED))
    assert "struct Cloud: at least 32 bytes, alignment 16" in result.stdout
    assert "(padding)" in result.stdout
    for line in result.stdout.splitlines():
        name, separator, expression = line.strip().partition(" = np.dtype(")
        if separator:
            dtype = np.dtype(eval(expression.removesuffix(")")))
            assert dtype.itemsize == {"Point": 16, "Cloud": 32}[name]


def test_reflect_as_json(run_tinct: Tinct, wgsl: Write) -> None:
    found = json.loads(run_tinct("reflect", wgsl(NESTED), "--format", "json").stdout)
    (main,) = found["entryPoints"]
    expected = {"name": "main", "stage": "compute", "workgroupSize": [1], "bindings": ["cloud"], "overrides": []}
    assert expected.items() <= main.items()
    (cloud,) = found["bindings"]
    assert (cloud["size"], cloud["minimumSize"], cloud["align"], cloud["stride"]) == (None, 32, 16, 16)
    point = next(struct for struct in found["structs"] if struct["name"] == "Point")
    assert [member["offset"] for member in point["members"]] == [0, 12]
    assert np.dtype(point["members"][1]["dtype"]) == np.float32
    assert point["dtype"]["itemsize"] == 16


def test_reflect_as_modules(run_tinct: Tinct, wgsl: Write) -> None:
    file = wgsl(NESTED)
    assert "Point: Final = np.dtype" in run_tinct("reflect", file, "--format", "python").stdout
    assert (
        "#[derive(Clone, Copy, Debug, PartialEq)]"
        in run_tinct("reflect", file, "--format", "rust", "--derive", "PartialEq").stdout
    )
    schema = json.loads(run_tinct("reflect", file, "--format", "schema").stdout)
    assert schema["properties"]["version"] == {**schema["properties"]["version"], "const": 1}
    for arguments in (("--derive", "Eq"), ("--format", "rust", "--derive", "a b")):
        result = run_tinct("reflect", file, *arguments)
        assert (result.exit_code, "derive" in result.stderr) == (2, True)


@pytest.mark.parametrize("stage", STAGES)
def test_compile_prints_every_stage(run_tinct: Tinct, stage: str, tmp_path: Path) -> None:
    marks = {
        "ast": "override width: u32 = 64;",
        "core": "%width: u32 = override 64u",
        "wgsl": "@workgroup_size(64u)",
        "hercules": "fork(start, wg_z)",
        "llvm": "define",
        "asm": ".text",
    }
    result = run_tinct("compile", SAXPY, "--emit", stage)
    assert result.exit_code == 0, result.output
    assert marks[stage] in result.stdout
    assert run_tinct("compile", SAXPY, "--emit", stage, "-o", tmp_path / "out").stdout == ""
    assert marks[stage] in (tmp_path / "out").read_text()
    assert marks[stage] in json.loads(run_tinct("compile", SAXPY, "--emit", stage, "--format", "json").stdout)["text"]


@pytest.mark.parametrize("stage", STAGES)
def test_compile_enters_at_core_ir(run_tinct: Tinct, stage: str) -> None:
    core = run_tinct("compile", SAXPY, "--emit", "core").stdout
    result = run_tinct("compile", "-", "--from", "core", "--emit", stage, stdin=core)
    assert result.exit_code == 0, result.output
    if stage not in ("ast", "llvm", "asm"):  # written back, it may read a little different; addresses differ
        direct = run_tinct("compile", SAXPY, "--emit", stage).stdout
        assert direct.endswith(result.stdout)  # the comments at a module's top are no part of its IR


def test_compile_timings(run_tinct: Tinct) -> None:
    result = run_tinct("compile", SAXPY, "--emit", "asm", "--timings")
    assert result.stdout.split()[0] == "parse"
    assert result.stdout.splitlines()[-1].startswith("all ")
    seconds = json.loads(run_tinct("compile", SAXPY, "--emit", "asm", "--timings", "--format", "json").stdout)
    assert list(seconds)[:4] == ["parse", "resolve", "check", "core"]
    assert {"specialise", "translate", "optimise", "machine code"} <= seconds.keys()
    assert list(seconds) == [stage for stage in ORDER_OF_STEPS if stage in seconds]


def test_what_is_cached_is_loaded(run_tinct: Tinct, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CACHE", "on")
    monkeypatch.setenv("TINCT_CACHE_DIR", str(tmp_path / "cache"))
    shader = tmp_path / "saxpy.wgsl"  # a text of its own, of which this process has no machine code
    shader.write_text(SAXPY.read_text() + f"// {tmp_path}\n")
    run = ("run", shader, *BUFFERS, "--threads", "8")
    assert run_tinct(*run).stderr.startswith("cpu: compiled in ")
    assert run_tinct(*run).stderr.startswith("cpu: loaded from the cache in ")
    timings = ("compile", shader, "--emit", "asm", "--timings", "--format", "json")
    assert list(json.loads(run_tinct(*timings).stdout)) == ["load from the cache"]  # nothing is parsed


def test_run(run_tinct: Tinct, tmp_path: Path) -> None:
    result = run_tinct("run", SAXPY, *BUFFERS, "--threads", "8")
    assert result.exit_code == 0, result.output
    assert result.stdout == "y: float32 (8,)\n[ 0.  2.  4.  6.  8. 10. 12. 14.]\n"
    out = tmp_path / "out.npz"
    assert run_tinct("run", SAXPY, *BUFFERS, "--threads", "8", "-o", out).exit_code == 0
    np.testing.assert_array_equal(np.load(out)["y"], 2 * np.arange(8))


def test_run_takes_files(run_tinct: Tinct, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(8, dtype=np.float32))
    (tmp_path / "y.bin").write_bytes(bytes(32))
    files = ("-b", f"x={tmp_path}/x.npy", "-b", f"y={tmp_path}/y.bin", "-b", 'params={"a": 2, "n": 8}')
    result = run_tinct("run", SAXPY, *files, "--threads", "8", "--format", "json")
    assert json.loads(result.stdout) == {"y": [0, 2, 4, 6, 8, 10, 12, 14]}


@pytest.mark.parametrize("device", ["cpu", "interp", "hercules"])
def test_run_on_structures_with_a_runtime_sized_tail(run_tinct: Tinct, wgsl: Write, device: str) -> None:
    result = run_tinct(
        "run", wgsl(NESTED), "-b", "cloud=zeros:2", "--threads", "2", "--format", "json", "--device", device
    )
    expected = {"count": 2, "points": [{"at": [0, 0, 0], "mass": "Infinity"}, {"at": [0, 0, 0], "mass": 1}]}
    cloud = json.loads(result.stdout)["cloud"]
    assert cloud == expected
    again = run_tinct("run", wgsl(NESTED), "-b", f"cloud={json.dumps(cloud)}", "--threads", "1", "--format", "json")
    assert json.loads(again.stdout)["cloud"] == expected


def test_random_buffers_are_seeded(run_tinct: Tinct) -> None:
    def outputs(*seed: str) -> str:
        buffers = ("-b", "x=uniform:8:-1:1", "-b", "y=integers:8:0:100", "-b", 'params={"a": 1, "n": 8}')
        return run_tinct("run", SAXPY, *buffers, "--threads", "8", *seed).stdout

    assert outputs() == outputs("--seed", "0") != outputs("--seed", "1")


def test_compare(run_tinct: Tinct, tmp_path: Path) -> None:
    devices = ("--device", "cpu", "--device", "interp")
    result = run_tinct("compare", SHADERS / "saxpy", SHADERS / "mandelbrot", *devices, "--picture-dir", tmp_path)
    assert result.exit_code == 0, result.output
    assert "all agree" in result.stdout
    assert "too large for an interpreter" in result.stdout
    (picture,) = tmp_path.glob("mandelbrot-*.png")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_compare_as_json(run_tinct: Tinct) -> None:
    found = json.loads(run_tinct("compare", SHADERS / "saxpy", "--device", "cpu", "--format", "json").stdout)
    assert {answer["status"] for answer in found} == {"agrees"}
    assert all(answer["against"] == "numpy" for answer in found)
    assert {"worstUlp", "worstAbsolute", "mismatches", "compared", "first"} == found[0]["outputs"]["y"].keys()


WRONG = """
reference = "wrong"
threads = 4
[buffers]
y = { shape = 4, output = "exact" }
[[case]]
name = "four"
interp = true
"""
INDEX = """
@group(0) @binding(0) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) { y[id.x] = f32(id.x) + 0.5; }
"""


def test_compare_shows_the_first_bad_element(run_tinct: Tinct, tmp_path: Path) -> None:
    (tmp_path / "index.wgsl").write_text(INDEX)
    (tmp_path / "index.toml").write_text(WRONG)
    (tmp_path / "reference.py").write_text(
        "import numpy as np\ndef wrong(y):\n    return {'y': np.array([0.5, 1.5, 2.25, 3.5], np.float32)}\n"
    )
    result = run_tinct("compare", tmp_path, "--device", "cpu", "--device", "interp")
    assert result.exit_code == 1
    assert "index, four on cpu (against numpy): 1 of 4 differ, first y[2]: expected 2.25, got 2.5" in result.stdout
    assert "2 runs of 1 kernels: 2 WRONG" in result.stdout


def test_compare_says_why_there_is_no_gpu(run_tinct: Tinct, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GpuDevice, "available", staticmethod(lambda adapter: None))
    monkeypatch.setattr(GpuDevice, "unavailable_reason", staticmethod(lambda adapter: "no adapter answers"))
    result = run_tinct("compare", SHADERS / "saxpy")
    assert result.exit_code == 0, result.output
    assert "skipped on gpu" in result.stdout
    assert "no adapter answers" in result.stdout


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("compare", SHADERS / "saxpy", "--device", "gpux"), "no device is named 'gpux'; did you mean 'gpu'?"),
        (("bisect", SHADERS / "saxpy" / "saxpy.toml", "--against", "referenc"), "did you mean 'reference'?"),
    ],
)
def test_devices_that_do_not_exist(run_tinct: Tinct, command: tuple[str | Path, ...], words: str) -> None:
    result = run_tinct(*command)
    assert result.exit_code == 2
    assert words in result.stderr
