"""The search for values of overrides."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tinct import InputError, ShaderError
from tinct.tuning.case_files import with_constants
from tinct.tuning.kernel_tuning import KernelTask, tune_kernel
from tinct.tuning.overrides import OverrideSpace, parse_override
from tinct.tuning.search import Search

WGSL = """
override width: u32 = 4;
override mode: u32 = 0;
@group(0) @binding(0) var<storage, read_write> y: array<u32>;

@compute @workgroup_size(width)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var n = 0u;
    while mode == 3u {
        n += y[0] + 1u;
        y[1] = n;
    }
    if id.x < arrayLength(&y) {
        y[id.x] += id.x + select(0u, 1u, mode == 2u);
    }
}
"""
TOML = """threads = "n"

[buffers]
y = { shape = "n", arange = [1, 1], output = "exact" }

[[case]]
name = "small"
sizes = { n = 10 }

[[case]]
name = "large"
sizes = { n = 1000 }
constants = { width = 2 }   # to be tuned
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    (tmp_path / "k.toml").write_text(TOML)
    path = tmp_path / "k.wgsl"
    path.write_text(WGSL)
    return path


def test_wrong_and_hanging_values_are_never_chosen(kernel: Path) -> None:
    task = KernelTask(kernel, {"width": [1, 64, 2048], "mode": [0, 2, 3]}, ["width > 1u"], patience=3.0)
    found = tune_kernel(task, seconds=60)
    status = {it.point: (it.status, it.why) for it in found.attempts}
    assert status[()][0] == "measured"
    assert status[("width", 64), ("mode", 0)][0] == "measured"
    assert status[("width", 64), ("mode", 2)][0] == "wrong"
    assert "y differs" in status[("width", 64), ("mode", 2)][1]
    assert status[("width", 64), ("mode", 3)][0] == "failed"
    assert status[("width", 2048), ("mode", 0)][0] == "failed"
    assert (("width", 1), ("mode", 0)) not in status
    assert found.best in ((), (("width", 64), ("mode", 0)))
    assert () in found.compared


def test_the_case(kernel: Path) -> None:
    assert KernelTask(kernel, {}).case().name == "large"
    assert KernelTask(kernel, {}, case_name="small").case().name == "small"
    assert KernelTask(kernel, {}).case({"width": 8}).constants == {"width": 8}
    with pytest.raises(InputError, match="did you mean 'small'"):
        KernelTask(kernel, {}, case_name="smal").case()


def test_sizes_change_with_overrides_of_their_name(tmp_path: Path) -> None:
    (tmp_path / "k.wgsl").write_text(WGSL)
    (tmp_path / "k.toml").write_text(
        'workgroups = "ceil_div(n, width)"\n[[case]]\nname = "a"\nsizes = { n = 64, width = 8 }\n'
        'constants = { width = "width" }\n'
    )
    task = KernelTask(tmp_path / "k.wgsl", {})
    assert task.case().workgroups == (8, 1, 1)
    assert task.case({"width": 32}).workgroups == (2, 1, 1)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("T=8,16,32", [8, 16, 32]),
        ("T=32..256:*2", [32, 64, 128, 256]),
        ("T = 1..9:+2", [1, 3, 5, 7, 9]),
        ("T=1..3,8", [1, 2, 3, 8]),
        ("T=0x10,-1,2.5,true", [16, -1, 2.5, True]),
        ("T=5..4,7", [7]),
    ],
)
def test_values_of_overrides(text: str, values: list[object]) -> None:
    assert parse_override(text) == ("T", values)


@pytest.mark.parametrize(
    "text",
    ["T", "T=", "=3", "T=a", "T=1..", "T=1..5:-1", "T=0..5:*2", "T=1..5:*1", "T=1..5:+0", "T=nan", "T=1..9999999"],
)
def test_values_that_are_wrong(text: str) -> None:
    with pytest.raises(InputError, match="--override"):
        parse_override(text)


def space(kernel: Path, *constraints: str, **values: list[int]) -> OverrideSpace:
    return KernelTask(kernel, values, constraints).space()


def test_constraints_are_constant_expressions(kernel: Path) -> None:
    allowed = space(kernel, "width * width <= 256", "mode < width", width=[4, 8, 32], mode=[0, 7]).whole(100)
    assert allowed == [(("width", 4), ("mode", 0)), (("width", 8), ("mode", 0)), (("width", 8), ("mode", 7))]
    with pytest.raises(ShaderError, match="width2"):
        space(kernel, "width2 > 1", width=[4])
    with pytest.raises(InputError, match="neither true nor false"):
        space(kernel, "width + 1", width=[4])
    with pytest.raises(InputError, match="did you mean 'width'"):
        space(kernel, widht=[4])
    with pytest.raises((ShaderError, InputError)):
        space(kernel, "true); const a = (1", width=[4])


def test_a_large_space_of_overrides(kernel: Path) -> None:
    its = space(kernel, width=list(range(1, 101)), mode=list(range(100)))
    assert its.whole(512) is None
    clock = [0.0]

    def measure(point: tuple[tuple[str, object], ...], _: float) -> float:
        clock[0] += 1
        values = {"width": 1, "mode": 1, **dict(point)}
        return 1 + abs(int(str(values["width"])) - 70) + abs(int(str(values["mode"])) - 30)

    found = Search(
        its, measure, lambda points: [measure(it, 0) for it in points], seconds=400, clock=lambda: clock[0]
    ).run()
    assert found.seconds <= 4
    assert its.child((), (("width", 1),), Random(0)) is None


def test_constants_are_written(kernel: Path) -> None:
    made = with_constants(TOML, "large", {"width": 64, "flag": True})
    lines_of_windows = with_constants(TOML.replace("\n", "\r\n"), "large", {"width": 64, "flag": True})
    assert lines_of_windows == made.replace("\n", "\r\n")
    assert made == TOML.replace("constants = { width = 2 }   # to be tuned", "constants = { width = 64, flag = true }")
    assert with_constants(TOML, "small", {"width": 8}) == TOML.replace(
        "sizes = { n = 10 }\n", "sizes = { n = 10 }\nconstants = { width = 8 }\n"
    )
    both = '[[case]]\nname = "a"\nsizes = { n = 64, width = 8 }\nconstants = { width = "width" }\n'
    assert with_constants(both, "a", {"width": 16}) == (
        '[[case]]\nname = "a"\nsizes = { n = 64, width = 16 }\nconstants = { width = 16 }\n'
    )


@pytest.mark.parametrize(
    "text",
    [
        '[[case]]\nname = "a"\n[case.constants]\nwidth = 2\n',
        '[[case]]\nname = "a"\nconstants.width = 2\n',
        '[[case]]\nname = "a"\nconstants = { width = 2,\n "other" = 3 }\n'.replace(",\n", ', b = """\n""",'),
        'case = [{ name = "a" }]\n',
        '[[case]]\nname = "b"\n',
    ],
)
def test_a_file_that_cannot_be_changed(text: str) -> None:
    with pytest.raises(InputError):
        with_constants(text, "a", {"width": 3})
