"""Each pass on small kernels: a text, its pipeline line, the text after it; and the same answers before and after."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tinct.ir.types import BindingPoint
from tinct.transforms.pipelines import CORE

from .support import GOLDENS, answers, entry_points, module_of, transformed, written

PATHS = sorted(path for path in GOLDENS.glob("*/*.wgsl") if not path.name.endswith(".out.wgsl"))
CHANGES_INTERFACE = (
    "expand_views",
    "bind_immediates",
    "array_length_from_uniform",
    "substitute_overrides",
    "watch_loops",
)
CHANGES_MEANING = ("limit",)


def case(path: Path) -> tuple[str, str]:
    """The pipeline and the whole text of a golden."""
    text = path.read_text(encoding="utf-8")
    first = text.splitlines()[0]
    assert first.startswith("// passes: "), f"{path.name} must start with its pipeline"
    return first.removeprefix("// passes: "), text


def name(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


@pytest.mark.parametrize("path", PATHS, ids=name)
def test_golden(path: Path, golden: Callable[[Path, str], None]) -> None:
    pipeline, text = case(path)
    module = module_of(text)
    assert transformed(module, pipeline)
    after = written(module)
    golden(path.with_suffix(".out.wgsl"), after)
    assert written(module_of(after)) == after


@pytest.mark.parametrize("path", PATHS, ids=name)
def test_same_answers(path: Path) -> None:
    pipeline, text = case(path)
    if path.parent.name in CHANGES_INTERFACE or path.stem in CHANGES_MEANING:
        return
    module = module_of(text)
    assert transformed(module, pipeline)
    for entry in entry_points(module):
        for seed in range(3):
            expected = answers(module_of(text), entry.name, seed)
            assert answers(module, entry.name, seed) == expected
            assert answers(module_of(written(module)), entry.name, seed) == expected


def test_every_pass_has_goldens() -> None:
    assert {path.parent.name for path in PATHS} == set(CORE.passes)


WITH_OVERRIDES = """
{declarations}
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
var<workgroup> tile: array<vec2f, doubled + 1>;
var<private> start: f32 = scale * 2.0;

fn shared_by(index: u32) -> f32 {{ return tile[(index + 1u) % size].x + select(scale, -start, flipped); }}

@compute @workgroup_size(size, doubled / 8)
fn main(@builtin(local_invocation_index) index: u32) {{
    tile[index % size] = vec2f(start, f32(doubled)) * data[index];
    workgroupBarrier();
    if size > 6 && !flipped {{
        data[index] = shared_by(index);
    }} else {{
        data[index] -= f32(doubled) * scale;
    }}
}}
"""


@pytest.mark.parametrize(
    ("values", "constants"),
    [
        ("", ("4u", "0.5f", "true")),
        ("3=8, scale=0.25, flipped=0", ("8u", "0.25f", "false")),
        ("3=5, scale=-1e9", ("5u", "-1e9f", "true")),
        ("3=4, flipped=2", ("4u", "0.5f", "true")),
    ],
)
def test_overrides_are_as_good_as_constants(values: str, constants: tuple[str, str, str]) -> None:
    size, scale, flipped = constants
    overrides = "@id(3) override size = 4u; override scale: f32 = 0.5; override flipped = true; "
    fixed = f"const size = {size}; const scale = {scale}; const flipped = {flipped}; "
    module = module_of(WITH_OVERRIDES.format(declarations=overrides + "override doubled = size * 2;"))
    expected = module_of(WITH_OVERRIDES.format(declarations=fixed + "const doubled = size * 2;"))
    assert transformed(module, f"substitute_overrides{{{values}}}" if values else "substitute_overrides")
    for seed in range(3):
        assert answers(module, "main", seed) == answers(expected, "main", seed)
        assert answers(module_of(written(module)), "main", seed) == answers(expected, "main", seed)


def test_lengths_from_the_uniform() -> None:
    """The uniform holds the sizes in bytes: what `arrayLength` would have said follows from them."""
    pipeline, text = case(GOLDENS / "array_length_from_uniform" / "bindings.wgsl")
    module = module_of(text)
    transformed(module, pipeline)
    expected = answers(module_of(text), "main")
    assert answers(module, "main") != expected
    from tinct.ir.core import run

    sizes = b"".join(len(data).to_bytes(4, "little") for data in expected.values()) + bytes(8)
    buffers = {point: bytearray(len(data)) for point, data in expected.items()}
    run(module, "main", {**buffers, BindingPoint(1, 3): bytearray(sizes)}, (1, 1, 1))
    point = BindingPoint(0, 0)
    assert buffers[point][:16] == expected[point][:16]
