"""Whatever is wrong, there is a message and an exit code, and never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tinct.base.errors import DeviceError
from tinct.cli import check

from .conftest import SAXPY, Tinct

Write = Callable[[str | bytes], Path]

BUFFERS = ("-b", "x=arange:8", "-b", "y=zeros:8", "-b", 'params={"a": 2, "n": 8}')
TWO_ENTRIES = "@compute @workgroup_size(1) fn a() {} @compute @workgroup_size(1) fn b() {}"
INVALID = {
    "garbage": bytes(range(256)),
    "null": b"fn f() {}\0",
    "unfinished": "fn main( {",
    "wrong type": "const a: u32 = 1.5;",
    "recursion": "fn f() { g(); } fn g() { f(); }",
    "unknown name": "fn f() { let a = positon; }",
    "deep": "const a = " + "(" * 100_000 + "1" + ")" * 100_000 + ";",
}


def assert_message(output: str) -> None:
    assert output.strip()
    assert "Traceback" not in output
    assert "internal error" not in output


@pytest.mark.parametrize("name", INVALID)
@pytest.mark.parametrize("command", [["check"], ["reflect"], ["compile"], ["run", "--threads", "1"]])
def test_an_invalid_shader_exits_with_1(run_tinct: Tinct, wgsl: Write, name: str, command: list[str]) -> None:
    result = run_tinct(command[0], wgsl(INVALID[name]), *command[1:])
    assert result.exit_code == 1, result.output
    assert_message(result.stderr)
    assert "error[" in result.stderr


def test_an_empty_file_is_a_valid_module_without_entry_points(run_tinct: Tinct, wgsl: Write) -> None:
    assert run_tinct("check", wgsl("")).exit_code == 0
    result = run_tinct("run", wgsl(""), "--threads", "1")
    assert result.exit_code == 2
    assert "has none" in result.stderr


@pytest.mark.parametrize("command", ["check", "reflect", "compile", "run", "compare"])
def test_a_missing_file(run_tinct: Tinct, command: str) -> None:
    result = run_tinct(command, "nowhere.wgsl")
    assert result.exit_code == 2
    assert_message(result.output)
    assert "nowhere.wgsl" in result.output


@pytest.mark.parametrize("command", ["check", "reflect", "compile", "run"])
def test_a_directory(run_tinct: Tinct, command: str, tmp_path: Path) -> None:
    result = run_tinct(command, tmp_path)
    assert result.exit_code == 2
    assert "is a directory" in result.output


def test_a_directory_without_cases(run_tinct: Tinct, tmp_path: Path) -> None:
    result = run_tinct("compare", tmp_path)
    assert result.exit_code == 2
    assert "no case file" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [["--bad"], ["chek", "x"], ["check", "--format", "xml", "x"], ["compile", "x", "--emit", "wasm"], ["run"]],
)
def test_a_bad_flag(run_tinct: Tinct, arguments: list[str]) -> None:
    result = run_tinct(*arguments)
    assert result.exit_code == 2
    assert_message(result.output)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "either as workgroups or as threads"),
        (["--threads", "8", "--workgroups", "1"], "either as workgroups or as threads"),
        (["--threads", "-3"], "--threads: -3 is negative"),
        (["--threads", "many"], "takes numbers such as"),
        (["--threads", "1x1x1x1"], "one to three"),
        (["--workgroups", "65536"], "over the limit: 65535"),
        (["--threads", "99999999999999999999"], "over the limit: 65535"),
        (["--threads", "8", "--set", "width"], "NAME=VALUE"),
        (["--threads", "8", "--set", "width=wide"], "no number"),
        (["--threads", "8", "--set", "widht=8"], "did you mean 'width'"),
        (["--threads", "8", "--set", "width=-1"], "override 'width': -1 is out of range for u32"),
        (["--threads", "8", "--set", "width=nan"], "nan is not a whole number"),
        (["--threads", "8", "--entry", "man"], "did you mean 'main'"),
        (["--threads", "8", "-b", "z=zeros:8"], "no buffer named 'z'"),
        (["--threads", "8", "-b", "x=zeros:8"], "given twice"),
    ],
)
def test_arguments_that_do_not_fit_the_shader(run_tinct: Tinct, arguments: list[str], message: str) -> None:
    result = run_tinct("run", SAXPY, *BUFFERS, *arguments)
    assert result.exit_code == 2, result.output
    assert_message(result.stderr)
    assert message in result.stderr


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("x", "NAME=SPEC"),
        ("x=", "neither a file"),
        ("x=[", "neither a file"),
        ('x=["one"]', "'one' is no number"),
        ("x=[]", "at least 4 bytes, but 0"),
        ("x=[[1, 2], [3, 4, 5]]", "x[0]: f32 takes a number, not [1, 2]"),
        ("x=zeros", "a shape is needed"),
        ("x=zeros:0", "must be 1 or more"),
        ("x=zeros:8:1", "takes a shape"),
        ("x=uniform:8:a:b", "a"),
        ("x=integers:8:5:5", "no integer lies"),
        ("x=zeros:99999999999999", "memory"),
        ("params=zeros:3", "leave the shape out"),
        ('params={"a": 1}', "no value for the member 'n'"),
        ('params={"a": 1, "m": 1}', "has no member 'm'"),
        ("params=7", "params"),
        ("x=nowhere.npy", "nowhere.npy"),
        ("x=nowhere.bin", "nowhere.bin"),
    ],
)
def test_buffers_that_do_not_fit_the_shader(run_tinct: Tinct, spec: str, message: str) -> None:
    name = spec.partition("=")[0]
    others = [spec for spec in BUFFERS[1::2] if not spec.startswith(f"{name}=")]
    flags = [part for other in (*others, spec) for part in ("-b", other)]
    result = run_tinct("run", SAXPY, *flags, "--threads", "8")
    assert result.exit_code == 2, result.output
    assert_message(result.stderr)
    assert message in result.stderr


def test_a_missing_buffer(run_tinct: Tinct) -> None:
    result = run_tinct("run", SAXPY, "--threads", "8")
    assert result.exit_code == 2
    assert "no array is given for params: Params, x: array<f32>, y: array<f32>" in result.stderr


def test_files_that_hold_no_array(run_tinct: Tinct, tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    for content in (b"", b"nonsense"):
        path.write_bytes(content)
        result = run_tinct("run", SAXPY, "-b", f"x={path}", "--threads", "1")
        assert result.exit_code == 2
        assert "no array that numpy can read" in result.stderr
    np.save(path, np.array([1.5]))
    result = run_tinct("run", SAXPY, "-b", f"x={path}", "-b", "y=zeros:8", "-b", f"params={path}", "--threads", "1")
    assert result.exit_code == 2
    assert_message(result.stderr)


@pytest.mark.parametrize("emit", ["wgsl", "hercules", "llvm", "asm"])
def test_two_entry_points_and_none_named(run_tinct: Tinct, wgsl: Write, emit: str) -> None:
    result = run_tinct("compile", wgsl(TWO_ENTRIES), "--emit", emit)
    assert result.exit_code == 2
    assert "a, b: name one" in result.stderr
    assert run_tinct("compile", wgsl(TWO_ENTRIES), "--emit", emit, "--entry", "b").exit_code == 0


def test_limits_of_a_workgroup_are_the_shaders_fault(run_tinct: Tinct) -> None:
    result = run_tinct("run", SAXPY, *BUFFERS, "--threads", "8", "--set", "width=5000")
    assert result.exit_code == 1
    assert "error[invalid-workgroup-size]" in result.stderr


def test_an_output_that_cannot_be_written(run_tinct: Tinct, tmp_path: Path) -> None:
    result = run_tinct("compile", SAXPY, "-o", tmp_path / "missing" / "x")
    assert result.exit_code == 2
    assert "No such file or directory" in result.stderr


def test_text_that_is_no_core_ir(run_tinct: Tinct) -> None:
    for text in ("", "nonsense", "fn @main() -> void {\n  b0: { store %a, %b }\n}"):
        result = run_tinct("compile", "-", "--from", "core", "--emit", "wgsl", stdin=text)
        assert result.exit_code in (1, 2), result.output
        assert_message(result.stderr)


def test_a_device_that_fails_exits_with_3(run_tinct: Tinct, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise DeviceError("the device is lost")

    monkeypatch.setattr(check, "check", fail)
    result = run_tinct("check", SAXPY)
    assert (result.exit_code, result.stderr) == (3, "error: the device is lost\n")


def test_a_bug_of_ours_asks_for_a_report(run_tinct: Tinct, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("the moon is full")

    monkeypatch.setattr(check, "check", fail)
    result = run_tinct("check", SAXPY)
    assert result.exit_code == 70
    assert result.stderr.startswith("internal error: RuntimeError: the moon is full\n")
    assert "report it" in result.stderr
    assert "Traceback" not in result.stderr
    assert "in fail" in run_tinct("--traceback", "check", SAXPY).stderr


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (b"\xef\xbb\xbffn f() {}", "note: save the file as UTF-8 without a BOM"),
        ("fn f() {}".encode("utf-16"), "note: this looks like UTF-16: save the file as UTF-8"),
        ("const a = 3.4028235e38f;", "as 'f32'; the largest is 0x1.fffffep+127f\n"),
        ("const a: f32 = 3.4028235e38;", "as 'f32'; the largest is 0x1.fffffep+127f\n"),
        ("enable f16; const a = 65519.0h;", "as 'f16'; the largest is 65504.0h\n"),
        ("const a = 1e39f;", "value cannot be represented as 'f32'\n"),
    ],
)
def test_what_to_write_instead_is_said(run_tinct: Tinct, wgsl: Write, text: str | bytes, advice: str) -> None:
    result = run_tinct("check", wgsl(text))
    assert result.exit_code == 1
    assert advice in result.stderr


@pytest.mark.parametrize("text", ["const a = 0x1.fffffep+127f;", "enable f16; const a = 65504.0h;"])
def test_the_largest_numbers_are_taken(run_tinct: Tinct, wgsl: Write, text: str) -> None:
    assert run_tinct("check", wgsl(text)).exit_code == 0
