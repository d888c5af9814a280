"""The Python and Rust modules of `tinct reflect`: both are compiled, and have the layout of the shader."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tinct
from tinct.backend.gpu import GpuDevice
from tinct.interface import python_module, rust_module

from .shaders import EVERYTHING, all_shaders

OLDEST_RUST = (1, 77)
NAMES = {"lambda": "lambda_", "except": "except_", "bindings": "bindings_", "np": "np_"}


def imported(shader: tinct.Shader) -> Any:
    """The module as an object."""
    module: dict[str, Any] = {"__name__": "layouts"}
    exec(compile(python_module(shader), "layouts.py", "exec"), module)
    return SimpleNamespace(**module)


def same_layout(found: Any, expected: Any) -> bool:
    """Whether two dtypes are equal with all offsets and sizes, which `==` compares only for fields in order."""
    return repr(found) == repr(expected) and found == expected and found.itemsize == expected.itemsize


def test_python_modules_have_the_layouts_of_all_shaders() -> None:
    for shader in all_shaders():
        module = imported(shader)
        for name, info in shader.structs.items():
            found = getattr(module, NAMES.get(name, name))
            if info.ends_open:
                assert same_layout(found(1), info.dtype)
            else:
                assert same_layout(found, info.dtype)
        for name, info in shader.bindings.items():
            found = getattr(module.bindings, NAMES.get(name, name))
            assert (found.name, found.group, found.binding, found.size) == (name, info.group, info.binding, info.size)
            assert (found.space, found.access, found.type) == (info.space, info.access, str(info.type))
            assert (found.minimum_size, found.stride) == (info.minimum_size, info.stride)
            if callable(found.dtype):
                assert all(same_layout(found.dtype(count), info.dtype_with(count)) for count in (0, 1, 2, 7))
            elif info.space != "handle":
                assert same_layout(found.dtype, info.dtype)
        assert {it.name for it in vars(module.entry_points).values() if hasattr(it, "stage")} == set(shader)


def test_python_constants() -> None:
    module = imported(all_shaders()[0])
    assert module.entry_points.main.workgroup_size == (4, 2, 1)
    assert module.entry_points.main.overrides == ("size", "is_set", "twice")
    assert module.entry_points.other.workgroup_size is None
    assert module.overrides.is_set == ("7", "bool", True)
    assert module.overrides.twice.default is None
    assert module.bindings.picture.dtype is None


def test_names_that_the_languages_need() -> None:
    wgsl = """
    struct Final { x: u32 } struct int { x: Final } struct usize { x: int, e\u0301: u32 } struct Self_ { x: u32 }
    struct ﬁx { x: u32 } struct fix { x: u32 } struct NamedTuple { t: array<u32> } struct NamedTupleHead { x: u32 }
    @group(0) @binding(0) var<storage> Binding: usize; @group(0) @binding(1) var<storage> dict: Final;
    @group(0) @binding(2) var<storage> open: NamedTuple; @group(0) @binding(3) var<storage> is_: array<fix>;
    @compute @workgroup_size(1) fn def() { _ = &Binding; } @compute @workgroup_size(1) fn print() { _ = &dict; }
    """
    shader = tinct.load(wgsl)
    module = imported(shader)
    assert module.bindings.Binding_.dtype["x"]["x"]["x"] == np.uint32
    assert module.bindings.open.dtype(3).itemsize == 12
    assert module.entry_points.def_.name == "def"
    compiled(rust_module(shader))


def test_dtypes_too_large_for_numpy() -> None:
    wgsl = """
    struct Large { x: array<u32, 600000000> } struct Larger { y: Large }
    @group(0) @binding(0) var<storage> a: Larger; @group(0) @binding(1) var<storage> b: array<vec3f, 300000000>;
    @compute @workgroup_size(1) fn main() { _ = a.y.x[0]; _ = b[1]; }
    """
    shader = tinct.load(wgsl)
    module = imported(shader)
    assert (module.Larger, module.bindings.a.dtype, module.bindings.b.dtype) == (None, None, None)
    assert "[u32; 600000000]" in rust_module(shader)


@pytest.mark.skipif(GpuDevice.available() is None, reason="no GPU answers")
def test_dtypes_go_into_a_queue() -> None:
    import wgpu

    device = wgpu.gpu.request_adapter_sync().request_device_sync()  # type: ignore[no-untyped-call]
    points = np.zeros(3, imported(all_shaders()[0]).In)
    points["b"], points["c"] = [1, 2, 3], [7, 8, 9]
    buffer = device.create_buffer(size=points.nbytes, usage=wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.COPY_SRC)
    device.queue.write_buffer(buffer, 0, points)
    assert bytes(device.queue.read_buffer(buffer)) == points.tobytes()


def rustc() -> str:
    """The Rust compiler; skips the test without one."""
    found = shutil.which("rustc")
    if found is None:
        pytest.skip("rustc is not installed")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    match = re.match(r"rustc (\d+)\.(\d+)", version)
    if match is None or (int(match[1]), int(match[2])) < OLDEST_RUST:
        pytest.skip(f"rustc 1.77 is needed, which has offset_of!; found: {version.strip() or 'no version'}")
    return found


def compiled(*modules: str, more: str = "") -> None:
    """Compiles a crate with these modules, whose assertions are evaluated. Warnings are errors."""
    crate = "\n".join(f"pub mod m{number} {{\n{text}\n}}" for number, text in enumerate(modules)) + more
    command = [rustc(), "--edition=2021", "--crate-type=lib", "--emit=metadata", "-Dwarnings", "-"]
    with tempfile.TemporaryDirectory() as folder:  # for root, rustc puts a file in the place of /dev/null
        command += [f"--out-dir={folder}"]
        done = subprocess.run(command, input=crate, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def without_padding(text: str, module: str) -> str:
    """Assertions that the fields fill each structure, which deriving `bytemuck::Pod` demands."""
    lines = [f"mod filled {{ use super::{module}::*; use ::core::mem::size_of;"]
    for name, body in re.findall(r"pub struct (\w+) \{\n(.*?)\}", text, re.DOTALL):
        sizes = "".join(f" + size_of::<{it}>()" for it in re.findall(r": (.*),\n", body))
        lines.append(f"const _: () = assert!(size_of::<{name}>() == 0{sizes});")
    return "\n".join([*lines, "}"])


def test_rust_modules_of_all_shaders_compile() -> None:
    rustc()
    compiled(*(rust_module(shader) for shader in all_shaders()))


def test_rust_structures_have_wgsls_layout_and_no_implicit_padding() -> None:
    text = rust_module(tinct.load(EVERYTHING), derive=("PartialEq",))
    for line in ("pub m: [[u16; 4]; 3],", "pub class_: [[f32; 4]; 3],", "pub b: [f32; 3],", "pub at: u32,"):
        assert line in text
    uses = """
    pub const ONE: m0::In = m0::In { a: 1.0, b: [1.0, 2.0, 3.0], ..m0::In::ZERO };
    const _: () = assert!(m0::DeepHead::TAIL_OFFSET == 96 && m0::DeepHead::size_with(2) == 96 + 2 * 608);
    const _: () = assert!(m0::TailHead::size_with(4) == 16 && m0::TailHead::MINIMUM_SIZE == 8);
    const _: () = assert!(m0::entry_points::main::WORKGROUP_SIZE[0] == 4 && m0::overrides::is_set::DEFAULT == 1.0);
    pub type Points = [m0::bindings::several::Element; 2];
    pub fn same(a: m0::bindings::table::Value, b: [[m0::In; 3]; 4]) -> bool { a == b }
    """
    compiled(text, more=uses + without_padding(text, "m0"))


def test_derive_takes_paths() -> None:
    assert "#[derive(Clone, Copy, Debug, bytemuck::Pod)]" in rust_module(all_shaders()[0], derive=("bytemuck::Pod",))
    with pytest.raises(tinct.InputError, match="no path of a derive macro"):
        rust_module(all_shaders()[0], derive=("Eq)] #[evil(",))


def test_modules_say_where_they_are_from_on_one_line(tmp_path: Path) -> None:
    file = tmp_path / 'odd "name\n".wgsl'
    file.write_text("struct S { x: u32 } @group(0) @binding(0) var<storage> s: S;")
    shader = tinct.load(file)
    assert imported(shader).S.itemsize == 4
    compiled(rust_module(shader))
