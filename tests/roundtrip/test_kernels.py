"""The kernels of `shaders/`, written back: stable text, and the same answers to the bit in the interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest

from tinct.backend.wgsl import print_unit
from tinct.frontend import load_program
from tinct.ir import layout
from tinct.ir.core import Module, run, verify
from tinct.ir.core.nodes import Function, Var
from tinct.ir.samplers import Sampler, pack_sampler
from tinct.ir.source import Source
from tinct.ir.textures import TextureExtent, format_of, pack_header
from tinct.ir.types import BindingPoint, Pointer, Stage, Texture
from tinct.ir.types import Sampler as SamplerType
from tinct.transforms.from_wgsl import build
from tinct.transforms.passes import apply_passes
from tinct.transforms.pipelines import GPU
from tinct.transforms.specialising import specialise
from tinct.transforms.to_wgsl.unit import to_unit

SHADERS = sorted((Path(__file__).parents[2] / "shaders").glob("*/*.wgsl"))


def module_of(text: str) -> Module:
    module = build(load_program(Source.from_text(text)))
    verify(module)
    return module


def written(module: Module) -> str:
    return print_unit(to_unit(module))


def entry_points(module: Module) -> list[Function]:
    return [function for function in module.functions if function.stage is Stage.COMPUTE]


@pytest.mark.parametrize("path", SHADERS, ids=lambda path: path.stem)
def test_second_trip_is_the_identity(path: Path) -> None:
    text = written(module_of(path.read_text(encoding="utf-8")))
    assert written(module_of(text)) == text


@pytest.mark.parametrize("path", SHADERS, ids=lambda path: path.stem)
def test_same_answers(path: Path) -> None:
    """The text written back, and the text for the GPU, compute what the kernel computes."""
    source = path.read_text(encoding="utf-8")
    for entry in entry_points(module_of(source)):
        expected = answers(specialise(module_of(source), entry.name, {}), entry.name)
        again = specialise(module_of(written(module_of(source))), entry.name, {})
        assert answers(again, entry.name) == expected
        prepared = apply_passes(specialise(module_of(source), entry.name, {}), GPU.passes)
        verify(prepared)
        text = written(prepared)
        assert written(module_of(text)) == text
        assert answers(module_of(text), entry.name) == expected


def answers(module: Module, entry: str, steps: int = 3_000_000) -> dict[BindingPoint, bytes]:
    """What one workgroup leaves in buffers that start with small numbers."""
    function = next(function for function in module.functions if function.name == entry)
    buffers = {it.binding: _buffer(it) for it in function.resources if isinstance(it, Var) and it.binding is not None}
    run(module, entry, buffers, (1, 1, 1), step_limit=steps)
    return {point: bytes(buffer) for point, buffer in buffers.items()}


def _buffer(variable: Var) -> bytearray:
    """Words 1, 2, 3 …: small as integers, denormal as floats; a few elements of a runtime-sized array; no light."""
    assert isinstance(variable.type, Pointer)
    if isinstance(variable.type.store, Texture):
        layers = {"3d": 3, "2d_array": 3, "cube": 6, "cube_array": 6}.get(variable.type.store.dimension, 1)
        form = format_of(variable.type.store)
        texels = bytes(4 * 4 * layers * form.words * 4)
        return bytearray(pack_header(variable.type.store, TextureExtent(4, 4, layers, 1), form) + texels)
    if isinstance(variable.type.store, SamplerType):
        compare = "less" if variable.type.store.comparison else None
        return bytearray(pack_sampler(Sampler(mag_filter="linear", compare=compare)))
    words = max(16, layout.minimum_size(variable.type.store) // 4 + 12)
    return bytearray(b"".join((1 + index % 5).to_bytes(4, "little") for index in range(words)))
