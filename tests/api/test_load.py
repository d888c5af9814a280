"""Loading shaders, and choosing entry points and constants."""

from __future__ import annotations

from pathlib import Path

import pytest

import tinct

from .shaders import SAXPY, TWO_ENTRIES


def test_from_text_and_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "saxpy.wgsl"
    path.write_text(SAXPY)
    for shader in (tinct.load(SAXPY), tinct.load(path), tinct.load(str(path))):
        assert list(shader) == ["main"]
    assert repr(tinct.load(path)) == f"<Shader {path}: main>"


def test_a_missing_file_is_an_os_error() -> None:
    with pytest.raises(FileNotFoundError):
        tinct.load("nowhere.wgsl")


def test_everything_wrong_is_listed_with_its_place() -> None:
    with pytest.raises(tinct.ShaderError) as caught:
        tinct.load("fn f() { let a: u32 = 1.5; }\nfn g() { h(); }")
    assert len(caught.value.diagnostics) == 2
    assert "--> <text>:1:" in str(caught.value)
    assert "--> <text>:2:10" in str(caught.value)


def test_recursion_is_the_shaders_fault() -> None:
    with pytest.raises(tinct.ShaderError, match=r"recurs|cycl"):
        tinct.load("fn f() { g(); }\nfn g() { f(); }")


def test_one_of_two_entry_points_must_be_named() -> None:
    shader = tinct.load(TWO_ENTRIES)
    with pytest.raises(tinct.InputError, match="first, second: name one"):
        shader.kernel()
    with pytest.raises(tinct.InputError, match="did you mean 'second'"):
        shader["secnd"]
    assert shader["second"].run({"y": [0]}, workgroups=1)["y"].tolist() == [2]


def test_no_entry_point() -> None:
    with pytest.raises(tinct.InputError, match="has none"):
        tinct.load("fn f() {}").kernel()


def test_constants() -> None:
    kernel = tinct.load(SAXPY)["main"]
    assert kernel.workgroup_size() == (64, 1, 1)
    assert kernel.workgroup_size({"width": 7}) == (7, 1, 1)
    with pytest.raises(tinct.InputError, match="did you mean 'width'"):
        kernel.workgroup_size({"widht": 7})
    with pytest.raises(tinct.InputError, match="override 'width': -1 is out of range for u32"):
        kernel.workgroup_size({"width": -1})
    with pytest.raises(tinct.InputError, match="override 'width': u32 takes a number, not '7'"):
        kernel.workgroup_size({"width": "7"})  # type: ignore[dict-item]
    with pytest.raises(tinct.ShaderError, match="1 to 1024"):
        kernel.workgroup_size({"width": 2000})


def test_a_constant_by_id_or_by_name() -> None:
    kernel = tinct.load("@id(3) override size: u32; @compute @workgroup_size(size) fn main() {}")["main"]
    assert kernel.workgroup_size({"3": 5}) == kernel.workgroup_size({"size": 5}) == (5, 1, 1)
    with pytest.raises(tinct.InputError, match="given twice"):
        kernel.workgroup_size({"3": 5, "size": 5})
    with pytest.raises(tinct.InputError, match="needs a value"):
        kernel.workgroup_size()


def test_an_unknown_public_name() -> None:
    with pytest.raises(AttributeError, match="lod"):
        tinct.lod  # noqa: B018
