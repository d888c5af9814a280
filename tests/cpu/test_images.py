"""Images of machine code: what they give when they run, what they are not made of, and damaged ones."""

from __future__ import annotations

import ctypes
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

import tinct
from tinct.backend.cpu import _pool, compiler_files, host, jit
from tinct.backend.cpu.code_image import CodeImage, packed, unpacked
from tinct.backend.cpu.disk_cache import DiskCache, default_cache
from tinct.backend.cpu.images import image_of
from tinct.backend.cpu.target import compiling_for

CONSTANTS = """
@table = private unnamed_addr constant [4 x i32] [i32 7, i32 -3, i32 90000, i32 12], align 4
define void @kernel(ptr %out, i64 %i) nounwind {
  %at = getelementptr [4 x i32], ptr @table, i64 0, i64 %i
  %value = load i32, ptr %at
  %real = sitofp i32 %value to float
  %product = fmul float %real, 0x3FF3333340000000
  store float %product, ptr %out
  ret void
}
"""
CALLS = """
declare void @llvm.memset.p0.i64(ptr writeonly, i8, i64, i1 immarg)
declare float @llvm.sin.f32(float)
define void @kernel(ptr %out, i64 %i) nounwind {
  call void @llvm.memset.p0.i64(ptr %out, i8 5, i64 %i, i1 false)
  %x = sitofp i64 %i to float
  %sine = call float @llvm.sin.f32(float %x)
  %end = getelementptr float, ptr %out, i64 8
  store float %sine, ptr %end
  ret void
}
"""
JUMPS = """
define void @kernel(ptr %out, i64 %i) nounwind {
  switch i64 %i, label %other [ i64 0, label %a i64 1, label %b i64 2, label %c i64 3, label %d i64 4, label %e ]
a:
  store i32 11, ptr %out
  ret void
b:
  call void @helper(ptr %out)
  ret void
c:
  store volatile i32 13, ptr %out
  ret void
d:
  %old = atomicrmw add ptr %out, i32 14 seq_cst
  ret void
e:
  store i64 %i, ptr %out
  ret void
other:
  store i8 17, ptr %out
  ret void
}
define private void @helper(ptr %out) noinline nounwind {
  store i16 18, ptr %out
  ret void
}
"""
VARIABLE = """
@count = internal global i64 40
define void @kernel(ptr %out, i64 %i) nounwind {
  %count = load i64, ptr @count
  %sum = add i64 %count, %i
  store i64 %sum, ptr @count
  store i64 %sum, ptr %out
  ret void
}
"""
FOREIGN_DATA = """
@environ = external global ptr
define void @kernel(ptr %out, i64 %i) nounwind {
  %value = load ptr, ptr @environ
  store ptr %value, ptr %out
  ret void
}
"""
UNWOUND = VARIABLE.replace("internal global i64 40", "internal thread_local global i64 40")
KERNEL = """
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  var sum = 0.0;
  for (var k = 0u; k < id.x % 5u; k++) { sum += sin(out[id.x] + f32(k)); }
  out[id.x] = sum;
}
"""
CALL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64)
needs_elf = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="object files are of another kind here")


def answers(address: int) -> list[bytes]:
    """What a module's kernel writes for some numbers."""
    call, found = CALL(address), list[bytes]()
    for number in range(4):
        out = np.full(64, 0xA5, np.uint8)
        call(out.ctypes.data, number)
        found.append(out.tobytes())
    return found


def image(text: str) -> CodeImage:
    made = image_of(jit.make_object(text, "baseline")[0])
    assert made is not None
    return made


def load(made: CodeImage) -> _pool.Code:
    return _pool.Code(made.content, made.executable, made.slots)


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and it is on."""
    monkeypatch.setenv("TINCT_CACHE", "on")
    monkeypatch.setenv("TINCT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compiler_files, "_LOADED", 1 << 62)
    return tmp_path / "cache"


@needs_elf
@pytest.mark.parametrize("text", [CONSTANTS, CALLS, JUMPS], ids=["constants", "calls", "jumps"])
def test_an_image_gives_what_linked_code_gives(text: str) -> None:
    linked, owner = jit._linked(jit.make_object(text, "baseline")[0])
    made = image(text)
    code = load(made)
    assert answers(code.address + made.entry) == answers(linked)
    del owner


@needs_elf
def test_functions_of_the_c_library_have_slots() -> None:
    assert {name for _, name in image(CALLS).slots} == {"memset", "sinf"}
    assert not image(CONSTANTS).slots


@needs_elf
@pytest.mark.parametrize("tier", ["gang", "lane", "baseline"])
def test_kernels_have_images(tier: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", tier)
    values = np.linspace(-4, 4, 128, dtype=np.float32)
    first = tinct.load(KERNEL)["main"].run({"out": values}, threads=128)["out"]
    again = tinct.load(KERNEL)["main"]
    assert again.run({"out": values}, threads=128)["out"].tobytes() == first.tobytes()
    code = again.compilation().cpu.function.code
    assert code.is_cached
    assert isinstance(kept_code(code.name), CodeImage)


def kept_code(name: str) -> CodeImage | bytes:
    files = default_cache()
    assert files is not None
    data = files.get(name)
    assert data is not None
    return unpacked(data)


@pytest.mark.parametrize("text", [VARIABLE, UNWOUND, FOREIGN_DATA], ids=["variable", "thread", "data"])
def test_other_object_files_have_none(text: str) -> None:
    assert image_of(jit.make_object(text, "baseline")[0]) is None


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"MZ" + bytes(200), b"\xcf\xfa\xed\xfe" + bytes(200), bytes(64)])
def test_other_files_have_none(data: bytes) -> None:
    assert image_of(data) is None


def test_what_has_no_image_is_linked_and_kept(directory: Path) -> None:
    code = jit.compile_module(VARIABLE, "baseline")
    assert [np.frombuffer(it, np.uint64)[0] for it in answers(code.address)] == [40, 41, 43, 46]
    again = jit.compile_module(VARIABLE, "baseline")
    assert again.is_cached
    assert [np.frombuffer(it, np.uint64)[0] for it in answers(again.address)] == [40, 41, 43, 46]


@needs_elf
@pytest.mark.parametrize("target", ["native", "aarch64"])
def test_damaged_object_files(target: str) -> None:
    """No damage raises anything: it gives an image or none, and a loader that looks at each offset."""
    with compiling_for(target):
        whole = [jit.object_file(text, "baseline") for text in (CONSTANTS, CALLS, JUMPS)]
    assert all(image_of(it) for it in whole)
    chance = random.Random(7)
    for code in whole:
        for _ in range(400):
            data = bytearray(code)
            for _ in range(chance.randint(1, 3)):
                data[chance.randrange(len(data))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
            made = image_of(bytes(data[: chance.choice((len(data), chance.randrange(len(data))))]))
            if made is not None and target == "native":
                load_if_fit(made)


def load_if_fit(made: CodeImage) -> None:
    try:
        load(made)
    except ValueError:
        return


@needs_elf
@pytest.mark.parametrize(
    "damage",
    [
        lambda it: replace(it, executable=it.executable + 1),
        lambda it: replace(it, executable=-1),
        lambda it: replace(it, executable=1 << 40),
        lambda it: replace(it, executable=0),
        lambda it: replace(it, content=b""),
        lambda it: replace(it, content=it.content[:-1]),
        lambda it: replace(it, slots=((len(it.content) - 7, "memset"),)),
        lambda it: replace(it, slots=((-8, "memset"),)),
        lambda it: replace(it, slots=((0, "memset"),)),
        lambda it: replace(it, slots=((it.executable, "no_such_function_anywhere"),)),
    ],
)
def test_images_that_do_not_fit(damage: Callable[[CodeImage], CodeImage], directory: Path) -> None:
    """An error when they are loaded; if the cache has one, it is compiled again."""
    code = jit.compile_module(CALLS, "baseline")
    expected, files = answers(code.address), default_cache()
    assert files is not None
    damaged = damage(cast("CodeImage", kept_code(code.name)))
    with pytest.raises(ValueError, match=r"image cannot be loaded|no library of this process"):
        load(damaged)
    files.put(code.name, packed(damaged))
    again = jit.compile_module(CALLS, "baseline")
    assert not again.is_cached
    assert answers(again.address) == expected
    assert jit.compile_module(CALLS, "baseline").is_cached


def test_arguments_of_other_types() -> None:
    with pytest.raises(TypeError):
        _pool.Code(b"", 0, ((1, 2),))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@needs_elf
def test_memory_is_never_writable_and_executable_and_is_given_back() -> None:
    made = image(CALLS)
    code = load(made)
    address = code.address
    assert modes(address) == "r-xp"
    assert modes(address + made.executable) == "r--p"
    del code
    assert modes(address) != "r-xp"


def modes(address: int) -> str:
    """What may be done with the memory at an address."""
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        start, _, end = line.split()[0].partition("-")
        if int(start, 16) <= address < int(end, 16):
            return line.split()[1]
    return ""


def test_what_llvm_says_of_the_machine_is_kept(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = host._asked()
    asked: list[None] = []
    monkeypatch.setattr(host, "_asked", lambda: asked.append(None) or known)
    for expected in (1, 1):
        host._host.cache_clear()
        assert host.llvm_host() == known
        assert len(asked) == expected
    host._host.cache_clear()
    host._name.cache_clear()
    monkeypatch.setattr(host, "_processor", lambda: b"another one")
    assert host.llvm_host() == known
    assert len(asked) == 2
    assert DiskCache(directory).size[0] == 2
    host._host.cache_clear()
    host._name.cache_clear()


def test_processes_of_a_machine_agree_on_what_it_is() -> None:
    program = "from tinct.backend.cpu import _pool; print(_pool.processor_identity().hex())"
    found = {subprocess.check_output([sys.executable, "-c", program]) for _ in range(8)}
    assert len(found) == 1
