"""The cache on disk: what is found again and what is not, its bound, and processes that use it at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import tinct
from tinct.backend.cpu import compiler_files, kernel_cache
from tinct.backend.cpu.disk_cache import DiskCache, cache_directory, default_cache, digest
from tinct.backend.cpu.machine.known import known_costs
from tinct.backend.cpu.target import current_target
from tinct.base.errors import InputError
from tinct.cli import tinct as command_line
from tinct.interface.python import python_module
from tinct.ir.diagnostics import ShaderError
from tinct.ir.types import Array

COUNT = """
override step: u32 = 2;
@group(0) @binding(0) var<storage> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>, 4>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  atomicAdd(&counts[values[id.x] % 4u], step);
  out[id.x] = values[id.x] * step;
}
"""


USE = """
@group(1) @binding(0) var<storage> pairs: array<Pair>;
/// The first member.
fn first_of(pair: Pair) -> u32 { return pair.a; }
"""


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and it is on."""
    monkeypatch.setenv("TINCT_CACHE", "on")
    monkeypatch.setenv("TINCT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compiler_files, "_LOADED", 1 << 62)
    return tmp_path / "cache"


def is_restored(text: str = COUNT, **constants: float) -> bool:
    """Whether the cache has the kernel, which gives the right answer either way."""
    shader = tinct.load(text)
    values = np.arange(128, dtype=np.uint32)
    step = int(constants.get("step", 2))
    given = {"values": values, "counts": np.zeros(4, np.uint32), "out": np.zeros(128, np.uint32)}
    found = shader["main"].run(given, threads=128, constants=constants)
    assert found["counts"].tolist() == [32 * step] * 4
    assert found["out"].tolist() == (values * step).tolist()
    compilation = shader.compilation("main", constants)
    assert compilation.cpu.tier == "gang"
    assert "define void @kernel" in compilation.cpu.llvm(optimised=False)
    return "LLVM passes" not in compilation.seconds


def test_a_kernel_is_compiled_again_where_operations_cost_something_else(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not is_restored()
    known = known_costs(current_target())
    other = replace(known, access=replace(known.access, gather=0.5))
    monkeypatch.setattr(kernel_cache, "costs_so_far", lambda: other)
    assert not is_restored()
    assert is_restored()


def test_a_kernel_is_compiled_once(directory: Path) -> None:
    assert not is_restored()
    assert is_restored()
    assert not is_restored(step=3)
    assert is_restored(step=3)
    assert not is_restored(COUNT.replace("% 4u", "& 3u"))
    # What LLVM says of the machine, two reflections of texts, and three kernels, each with its code and a note of it.
    assert DiskCache(directory).size[0] == 12


def test_equal_machine_code_is_kept_once(directory: Path) -> None:
    assert not is_restored()
    shader = tinct.load(COUNT + "// a comment")
    assert shader.compilation("main", {}).cpu.function.code.is_cached
    assert DiskCache(directory).size[0] == 8  # what LLVM says, code; a reflection, a kernel and a note for each text


def test_what_is_restored_is_what_was_kept(directory: Path) -> None:
    text = "struct Pair { a: u32, b: vec2f }" + COUNT + USE
    _, first, second = tinct.load(text), tinct.load(text), tinct.load(text)  # the first one is only noted
    assert first.seconds
    assert not second.seconds
    restored = second.bindings
    assert str(restored) == str(first.bindings)
    assert (second.entry_points, second.overrides) == (first.entry_points, first.overrides)
    assert str(second.structs) == str(first.structs)
    assert list(second.functions) == ["first_of"]
    assert second.functions["first_of"].__doc__ == first.functions["first_of"].__doc__
    assert python_module(second) == python_module(first)
    assert second.seconds
    assert str(second.bindings) == str(restored)
    (struct,) = second.program.structs
    pairs = second.bindings["pairs"].type
    assert isinstance(pairs, Array)
    assert pairs.element is struct
    with pytest.raises(ShaderError):
        tinct.load("fn wrong() -> u32 { }")
    with pytest.raises(ShaderError):
        tinct.load("fn wrong() -> u32 { }")


def test_a_text_is_kept_when_it_is_compiled_or_seen_again(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_kept(text: str) -> bool:
        return not tinct.load(text).seconds

    other = COUNT + "// a comment"
    assert not is_restored()
    assert is_kept(COUNT)
    with monkeypatch.context() as patch:
        patch.setattr(tinct.kept, "compiler_files", lambda: pytest.fail("files are hashed"))
        assert not is_kept(other)
    assert not is_kept(other)
    assert is_kept(other)
    monkeypatch.setattr(tinct.kept, "compiler_files", lambda: "another compiler")
    assert not is_kept(COUNT)


def test_tiers_are_apart(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_restored()
    monkeypatch.setenv("TINCT_CPU_TIER", "lane")
    assert tinct.load(COUNT).compilation("main", {}).cpu.tier == "lane"
    assert tinct.load(COUNT).compilation("main", {}).cpu.tier == "lane"


def test_it_can_be_off(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CACHE", "off")
    assert not is_restored()
    assert not is_restored()
    assert not directory.exists()
    monkeypatch.setenv("TINCT_CACHE", "maybe")
    with pytest.raises(InputError, match="TINCT_CACHE must be 'on' or 'off', not 'maybe'"):
        default_cache()


def test_a_compiler_that_changed_meanwhile_is_not_relied_on(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler_files, "_LOADED", 0)
    compiler_files.compiler_files.cache_clear()
    try:
        assert not is_restored()
        assert not is_restored()
    finally:
        compiler_files.compiler_files.cache_clear()


@pytest.mark.parametrize("damage", ["truncated", "empty", "changed", "other"])
def test_damaged_files_are_replaced(directory: Path, damage: str) -> None:
    assert not is_restored()
    for path in directory.iterdir():
        data = bytearray(path.read_bytes())
        match damage:
            case "truncated":
                path.write_bytes(data[: len(data) // 2])
            case "empty":
                path.write_bytes(b"")
            case "changed":
                data[-20] ^= 1
                path.write_bytes(data)
            case _:
                path.write_bytes(b"\x7fELF" + data)
    assert not is_restored()
    assert is_restored()


def test_a_kernel_without_its_machine_code_is_compiled_again(directory: Path) -> None:
    assert not is_restored()
    max(directory.iterdir(), key=lambda path: path.stat().st_size).unlink()
    assert not is_restored()
    assert is_restored()


def test_a_directory_that_cannot_be_written(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory.write_text("a file is in its place")
    assert not is_restored()
    assert not is_restored()
    monkeypatch.setenv("TINCT_CACHE_DIR", "/proc/no/such/place")
    assert not is_restored()


def test_files_of_others_are_not_run(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_restored()
    monkeypatch.setattr(os, "getuid", lambda: -5)
    assert not is_restored()


def test_what_was_not_used_for_long_goes_first(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, largest=10_000)
    for number in range(5):
        cache.put(f"file{number}", bytes(1500))
        os.utime(tmp_path / f"file{number}.tinct", (number, number))
    assert cache.get("file1") == bytes(1500)  # used now
    (tmp_path / "new-abandoned").write_bytes(bytes(100))
    os.utime(tmp_path / "new-abandoned", (0, 0))
    cache.put("large", bytes(3000))
    assert [name for name in map("file{}".format, range(5)) if cache.get(name)] == ["file1", "file3", "file4"]
    assert cache.get("large") == bytes(3000)
    count, size = cache.size
    assert (count, size <= 10_000) == (4, True)
    assert not (tmp_path / "new-abandoned").exists()


def test_what_is_too_much_is_seen_after_a_while_without_a_look_at_all_files_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[None] = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: looks.append(None) or scan(path))
    cache = DiskCache(tmp_path, largest=100_000)
    for number in range(2000):
        cache.put(digest(str(number)), number.to_bytes(4, "little") * 25)
    assert 5 < len(looks) < 100
    assert cache.size[1] < 150_000


def test_threads_write_the_same_names(tmp_path: Path) -> None:
    cache, wrong = DiskCache(tmp_path, largest=40_000), list[object]()

    def work(seed: int) -> None:
        for number in range(60):
            name = f"{(number * seed) % 7}"
            cache.put(name, name.encode() * 2000)
            found = cache.get(name)
            if found is not None and found != name.encode() * 2000:
                wrong.append(name)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2, 3, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert not list(tmp_path.glob("new-*"))


def test_processes_at_the_same_time(directory: Path) -> None:
    program = (
        "import numpy as np, sys, tinct\n"
        "s = tinct.load(sys.argv[1])\n"
        "g = {'values': np.arange(128, dtype=np.uint32), 'counts': np.zeros(4, np.uint32),"
        " 'out': np.zeros(128, np.uint32)}\n"
        "print(s['main'].run(g, threads=128)['counts'].tolist())\n"
    )
    command = [sys.executable, "-c", program, COUNT]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate(timeout=120)[0].strip() for process in running] == ["[64, 64, 64, 64]"] * 3
    assert is_restored()


def test_names_tell_parts_apart() -> None:
    assert len({digest("ab", "c"), digest("a", "bc"), digest("abc"), digest("ab", "c", "")}) == 4


def test_where_it_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TINCT_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_directory() == Path("/somewhere/tinct")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/me")
    assert cache_directory() == Path("/home/me/.cache/tinct")


def test_the_command_shows_and_clears(directory: Path) -> None:
    assert not is_restored()
    shown = CliRunner().invoke(command_line, ["cache"])
    assert shown.output.startswith(f"{directory}: 5 files, ")
    assert CliRunner().invoke(command_line, ["cache", "--clear"]).output == f"{directory}: 0 files, 0.0 MiB\n"
    assert not is_restored()


@pytest.mark.parametrize("entry", ["lengths", "loaded"])
def test_a_kernel_has_one_text(entry: str) -> None:
    """Machine code is kept by the text that it is made from: no order may come from where objects are in memory."""
    path = Path(__file__).parents[1] / "goldens" / "hercules" / "kernels" / "guards.wgsl"
    kept: list[object] = []
    texts = set[str]()
    for number in range(12):
        kept.append([object() for _ in range(1000 * number + 7)])  # so that objects are elsewhere
        texts.add(tinct.load(path).compilation(entry, {}).cpu.llvm(optimised=False))
    assert len(texts) == 1
