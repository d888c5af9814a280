"""What the passes that prepare a module for a device promise besides their golden texts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tinct.backend.wgsl import print_unit
from tinct.base.errors import InputError
from tinct.frontend import load_program
from tinct.ir.core import Module, run, verify
from tinct.ir.core.nodes import Constant, Override
from tinct.ir.diagnostics import ShaderError
from tinct.ir.source import Source
from tinct.ir.types import BindingPoint
from tinct.transforms.core.robustness import Robustness
from tinct.transforms.core.single_entry_point import SingleEntryPoint
from tinct.transforms.core.substitute_overrides import SubstituteOverrides
from tinct.transforms.core.zero_init_workgroup_memory import ZeroInitWorkgroupMemory
from tinct.transforms.from_wgsl import build
from tinct.transforms.passes import Pass, apply_passes, parse_pipeline, run_passes
from tinct.transforms.pipelines import CORE, GPU
from tinct.transforms.specialising import specialise
from tinct.transforms.to_wgsl.unit import to_unit

GOLDENS = Path(__file__).parents[2] / "goldens" / "transforms"
PASSES: list[Pass[Module]] = [
    Robustness(),
    SingleEntryPoint("main"),
    SubstituteOverrides({"3": 8}),
    ZeroInitWorkgroupMemory(),
]


def module_of(text: str) -> Module:
    module = build(load_program(Source.from_text(text)))
    verify(module)
    return module


@pytest.mark.parametrize("step", PASSES, ids=lambda step: step.name)
def test_nothing_to_do(step: Pass[Module]) -> None:
    module = module_of(f"{OUT} @compute @workgroup_size(1) fn main() {{ out[0] = 1; }}")
    values = SubstituteOverrides() if isinstance(step, SubstituteOverrides) else step
    assert not values.run(module)


def test_second_run_changes_nothing() -> None:
    module = module_of(OVERRIDES)
    for step in (SubstituteOverrides({}, "other"), SingleEntryPoint("other")):
        assert step.run(module)
        assert not step.run(module)


def test_pipeline_by_name() -> None:
    passes = parse_pipeline("robustness,single_entry_point{entry_point=main}", CORE)
    assert passes == (Robustness(), SingleEntryPoint("main"))


@pytest.mark.parametrize(("returns", "loops"), [(32, 0), (33, 1), (400, 1)])
def test_ifs_of_inlined_returns_nest_so_deep_and_no_deeper(returns: int, loops: int) -> None:
    """Tint refuses 128 levels."""
    ways = "\n".join(f"if x == {3 * it} {{ return {it}; }}" for it in range(returns))
    module = module_of(f"""{OUT} fn f(x: i32) -> i32 {{ {ways} return -1; }}
        @compute @workgroup_size(1)
        fn main() {{ out[2] = f(out[0]); out[3] = f(out[1]); out[4] = f(3 * {returns - 1}); }}""")
    expected = answers(module)
    assert run_passes(module, parse_pipeline("inline", CORE), CORE, verify_each=True)
    assert answers(module) == expected
    text = print_unit(to_unit(module))
    assert answers(module_of(text)) == expected
    assert text.count("loop {") == 3 * loops


OUT = "@group(0) @binding(0) var<storage, read_write> out: array<i32>;"


def answers(module: Module, words: int = 16) -> list[int]:
    buffer = bytearray(4 * words)
    buffer[:8] = (3).to_bytes(4, "little") + (0x90000000).to_bytes(4, "little")
    run(module, "main", {BindingPoint(0, 0): buffer}, (2, 1, 1))
    return list(memoryview(buffer).cast("I"))


EQUIVALENT = {
    "out of range": "let i = out[1]; out[i] = 4; var a = array(1, 2, 3); a[i] += 5; out[2] = a[2] + vec3(6, 7, 8)[i];",
    "workgroup memory": "t[l] = i32(l); workgroupBarrier(); out[l] = t[3 - l] + t[4 + l] + atomicAdd(&n, 0);",
    "overrides": "out[l] = size * i32(l); if size > 3 && size / 2 == 2 { out[5] = size; }",
}


@pytest.mark.parametrize("body", EQUIVALENT.values(), ids=EQUIVALENT)
def test_same_answers(body: str) -> None:
    """The interpreter clamps, zeroes and evaluates overrides itself: the code made explicit must change nothing."""
    text = f"""
        {OUT}
        override size: i32 = 5;
        var<workgroup> t: array<i32, 16>;
        var<workgroup> n: atomic<i32>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) l: u32) {{ {body} }}
    """
    expected = answers(module_of(text))
    assert any(expected[2:])
    module = apply_passes(specialise(module_of(text), "main", {}), GPU.passes)
    verify(module)
    assert answers(module) == expected
    assert answers(module_of(print_unit(to_unit(module)))) == expected


def test_all_workgroup_memory_is_zeroed() -> None:
    path = GOLDENS / "zero_init_workgroup_memory" / "shapes.wgsl"
    module = module_of(path.read_text(encoding="utf-8"))
    ZeroInitWorkgroupMemory().run(module)
    text = print_unit(to_unit(module))
    for name in ("total", "flag", "exact", "few", "many", "grid", "cells"):
        assert name in text.split("workgroupBarrier")[0].split("fn main")[1]


BUFFERS = """
    enable f16;
    requires buffer_view;
    override bytes = 62u;
    var<workgroup> words: buffer<64>;
    var<workgroup> halves: buffer<6>;
    var<workgroup> some: buffer<bytes>;
    @compute @workgroup_size(4) fn main() {
        *bufferView<u32>(&words, 0) = u32(*bufferView<f16>(&halves, 4)) + u32(*bufferView<f16>(&some, bytes - 2));
    }
"""


@pytest.mark.parametrize(
    ("name", "type", "count"),
    [("words", "u32", "< 16u"), ("halves", "f16", "< 3u"), ("some", "f16", "= bytes / 2u")],
)
def test_buffers_are_zeroed_through_a_view(name: str, type: str, count: str) -> None:
    """A buffer has no value that could be stored (WGSL, "Buffer Type"): each invocation zeroes words of it."""
    module = module_of(BUFFERS)
    ZeroInitWorkgroupMemory().run(module)
    verify(module)
    text = print_unit(to_unit(module))
    zeroing = text.split("workgroupBarrier")[0]
    assert f"bufferView<array<{type}>>(&{name}, 0u)" in zeroing
    assert count in zeroing
    assert print_unit(to_unit(module_of(text))) == text


def test_a_count_that_is_computed_from_overrides() -> None:
    """Code that a pass adds may mention an override that the function did not."""
    module = module_of("""
        override width: u32 = 8;
        override height = width * 2;
        var<workgroup> tile: array<vec2i, width * height>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) { tile[i] = vec2i(2); }
    """)
    Robustness().run(module)
    text = print_unit(to_unit(module))
    assert "tile[min(i, width * height - 1u)]" in text
    assert print_unit(to_unit(module_of(text))) == text


OVERRIDES = """
    @id(3) override size: u32;
    override scale: f32 = 1.5;
    override flag: bool = false;
    override part: i32 = 8 / i32(scale);
    var<workgroup> tile: array<u32, size>;
    @group(0) @binding(0) var<storage, read_write> out: array<u32>;
    @compute @workgroup_size(size) fn main() { out[0] = tile[0] + select(0u, u32(part), flag); }
    @compute @workgroup_size(1) fn other() { out[0] = 1; }
"""


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "override 'size' needs a value"),
        ({"3": 1, "scal": 2}, "no override is named 'scal'; did you mean 'scale'?"),
        ({"3": 1, "size": 2}, "override 'size' is given twice, by name and by id"),
        ({"size": 1.5}, "override 'size' cannot be 1.5: it is not a whole number"),
        ({"size": -1}, "override 'size' cannot be -1: it does not fit 'u32'"),
        ({"size": 1, "scale": 1e39}, "override 'scale' cannot be 1e+39: it does not fit 'f32'"),
        ({"size": float("nan")}, "override 'size' cannot be nan: it is not finite"),
    ],
)
def test_wrong_values(values: Mapping[str, float], message: str) -> None:
    with pytest.raises(InputError) as error:
        SubstituteOverrides(values).run(module_of(OVERRIDES))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("values", "code"),
    [({"size": 0}, "workgroup-size"), ({"size": 1, "scale": 0.5}, "override-expression")],
)
def test_values_that_make_the_shader_wrong(values: Mapping[str, float], code: str) -> None:
    with pytest.raises(ShaderError) as error:
        SubstituteOverrides(values).run(module_of(OVERRIDES))
    assert error.value.diagnostics[0].code == code


def test_what_the_entry_point_does_not_need_may_be_missing() -> None:
    module = module_of(OVERRIDES)
    SubstituteOverrides({}, "other").run(module)
    assert [it.name for it in module.root.instructions if isinstance(it, Override)] == ["size"]
    SingleEntryPoint("other").run(module)
    verify(module)
    assert [it.name for it in module.root.instructions] == ["out"]


def test_sizes_are_constants() -> None:
    module = module_of(OVERRIDES)
    SubstituteOverrides({"size": 6, "flag": True}).run(module)
    main = next(function for function in module.functions if function.name == "main")
    assert [it.value.value for it in main.workgroup_size if isinstance(it, Constant)] == [6]
    assert module.counts == []


def test_unknown_entry_point() -> None:
    with pytest.raises(InputError, match=r"no entry point is named 'nain'; did you mean 'main'\?"):
        SingleEntryPoint("nain").run(module_of(OVERRIDES))
