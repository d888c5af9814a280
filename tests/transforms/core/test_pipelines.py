"""Named pipelines: by name, on naga, and through Hercules IR."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conformance.pipelines import PIPELINES
from tests.differential.generate import Generator

from tinct.backend.gpu import GpuDevice
from tinct.base.errors import InputError
from tinct.ir.core.nodes import Module, Var
from tinct.ir.hercules.dispatch import run_entry_point
from tinct.ir.hercules.nodes import Module as HerculesModule
from tinct.ir.types import BindingPoint
from tinct.transforms.core.dce import DeadCodeElimination
from tinct.transforms.core.hide_uniforms import HideUniforms
from tinct.transforms.core.shuffle_first import ShuffleFirst
from tinct.transforms.core.unpack_low_halves import UnpackLowHalves
from tinct.transforms.core.unroll import Unroll
from tinct.transforms.core.watch_loops import WatchLoops
from tinct.transforms.expanding import TO_HERCULES
from tinct.transforms.hercules import CPU, HERCULES
from tinct.transforms.passes import Pipeline, apply_passes, parse_pipeline
from tinct.transforms.pipelines import CORE, GPU, LOOP_EFFORTS, MINIFY, NAGA, O1
from tinct.transforms.specialising import specialise, specialising
from tinct.transforms.to_hercules import translate

from .support import SHADERS, answers, entry_points, module_of, seeded_buffer, transformed, written


def test_every_pass_is_tried() -> None:
    needs_options = {"array_length_from_uniform", "single_entry_point", "substitute_overrides", "watch_loops"}
    tried_on_devices = {"bind_immediates", "derive_indices", "expand_views", "flatten_external"}  # tests/compute
    tried = {name for line in PIPELINES for name in line.split(",")}
    assert tried >= ({*CORE.passes, *CORE.pipelines} - needs_options - tried_on_devices - {"O0"})


RUN_BY_DEVICES = {
    it.name
    for it in (
        *specialising("main", {}),
        *GPU.passes,
        *NAGA.passes,
        *(it for effort in LOOP_EFFORTS for it in effort),
        WatchLoops(0, 0),
        HideUniforms(),
        ShuffleFirst(),
        UnpackLowHalves(),
        *TO_HERCULES,
        *MINIFY.passes,
    )
}


def test_groups_say_which_passes_nothing_runs() -> None:
    grouped = [name for names in CORE.groups.values() for name in names]
    assert sorted(grouped) == sorted(CORE.passes)
    *for_devices, for_people, for_others = CORE.groups.values()
    assert {name for names in for_devices for name in names} == RUN_BY_DEVICES
    assert not {*for_people, *for_others} & RUN_BY_DEVICES
    assert not set(for_others) & {it.name for name in ("O1", "O2", "minify") for it in CORE.pipelines[name].passes}


def test_groups_of_passes_on_hercules() -> None:
    grouped = [name for names in HERCULES.groups.values() for name in names]
    assert sorted(grouped) == sorted(HERCULES.passes)
    assert next(iter(HERCULES.groups.values())) == tuple(it.name for it in CPU.passes)


def test_names() -> None:
    assert parse_pipeline("O1", CORE) == O1.passes
    assert parse_pipeline("dce, O1 ,unroll{n=4}", CORE) == (DeadCodeElimination(), *O1.passes, Unroll(4))
    assert parse_pipeline("O0", CORE) == ()


@pytest.mark.parametrize(
    "pipeline",
    [*CORE.pipelines.values(), *HERCULES.pipelines.values()],
    ids=[*CORE.pipelines, *(f"hercules {name}" for name in HERCULES.pipelines)],
)
def test_places_have_reasons(pipeline: Pipeline[Module] | Pipeline[HerculesModule]) -> None:
    assert pipeline.about
    assert all(it.why for it in pipeline.placed)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("O3", "no pass on core is named 'O3'; did you mean 'O[012]'"),
        ("O1{n=2}", "no pass on core is named 'O1'"),
        ("unroll{m=2}", "its options are: n"),
    ],
)
def test_wrong_names(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_pipeline(text, CORE)


POINTERS = """
    struct Row { count: u32, cells: array<u32, 4> }
    @group(0) @binding(0) var<storage, read_write> rows: array<Row>;
    fn bump(cell: ptr<storage, u32, read_write>, by: ptr<function, u32>) -> u32 {
        *cell += *by;
        *by += 1;
        return *cell;
    }
    @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {
        var a = array(1u, 2u);
        rows[i].count = bump(&rows[i].cells[i], &a[i & 1]) + a[1];
    }
"""


@pytest.fixture(scope="module")
def naga() -> Iterator[GpuDevice]:
    if GpuDevice.available() is None:
        pytest.skip(f"no GPU to ask naga: {GpuDevice.unavailable_reason()}")
    device = GpuDevice()
    yield device
    device.close()


def for_naga(text: str, entry: str) -> str:
    module = apply_passes(specialise(module_of(text), entry, {}), GPU.passes)
    transformed(module, "naga")
    return written(module)


@pytest.mark.parametrize("path", SHADERS, ids=lambda path: path.stem)
def test_naga_accepts_kernels(path: Path, naga: GpuDevice) -> None:
    text = path.read_text(encoding="utf-8")
    for entry in entry_points(module_of(text)):
        assert naga.validate(for_naga(text, entry.name)) is None
        module = specialise(module_of(text), entry.name, {})
        transformed(module, "O2,gpu,naga")
        assert naga.validate(written(module)) is None


def test_naga_accepts_what_was_passed_by_pointer(naga: GpuDevice) -> None:
    text = for_naga(POINTERS, "main")
    assert "ptr<storage" not in text
    assert naga.validate(text) is None


@pytest.mark.parametrize("pipeline", ["O0", "O1", "O2"])
def test_hercules_after(pipeline: str) -> None:
    """What the passes make is still what the translation to Hercules IR takes."""
    for seed in range(4):
        text = Generator(seed).kernel()
        module = specialise(module_of(text), "main", {})
        transformed(module, pipeline)
        expected = answers(module_of(text), "main")
        buffers = {BindingPoint(0, it): bytearray(data) for it, data in _inputs(text).items()}
        run_entry_point(translate(module, "main"), buffers, (1, 1, 1))
        assert {point: bytes(buffers[point]) for point in expected} == expected


def _inputs(text: str) -> dict[int, bytes]:
    function = entry_points(module_of(text))[0]
    bound = [it for it in function.resources if isinstance(it, Var) and it.binding is not None]
    return {it.binding.binding: bytes(seeded_buffer(it, 1)) for it in bound if it.binding is not None}
