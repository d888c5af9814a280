"""What the tests of core passes share: modules from text, pipelines, and answers on seeded inputs."""

from __future__ import annotations

import random
from functools import cache
from math import prod
from pathlib import Path

import numpy as np

from tinct.backend.wgsl import print_unit
from tinct.frontend import load_program
from tinct.ir import layout
from tinct.ir.core import Module, run, verify
from tinct.ir.core.nodes import Function, Var
from tinct.ir.core.sanitizer import sanitize
from tinct.ir.samplers import Sampler, pack_sampler
from tinct.ir.source import Source
from tinct.ir.textures import format_of, is_layered, rank
from tinct.ir.types import Access, BindingPoint, Pointer, Stage, Texture
from tinct.ir.types import Sampler as SamplerType
from tinct.ir.wgsl.program import Program
from tinct.textures import pack_texture, texel_dtype
from tinct.transforms.from_wgsl import build
from tinct.transforms.passes import parse_pipeline, run_passes
from tinct.transforms.pipelines import CORE
from tinct.transforms.to_wgsl.unit import to_unit

ROOT = Path(__file__).parents[3]
GOLDENS = ROOT / "tests" / "goldens" / "transforms"
SHADERS = sorted((ROOT / "shaders").glob("*/*.wgsl"))


@cache
def program_of(text: str) -> Program:
    return load_program(Source.from_text(text))


def module_of(text: str) -> Module:
    module = build(program_of(text))
    verify(module)
    return module


def written(module: Module) -> str:
    return print_unit(to_unit(module))


def transformed(module: Module, pipeline: str) -> bool:
    """Run a pipeline, verifying around each pass; whether it changed the module."""
    return run_passes(module, parse_pipeline(pipeline, CORE), CORE, verify_each=True)


def entry_points(module: Module) -> list[Function]:
    return [function for function in module.functions if function.stage is Stage.COMPUTE]


STEPS = 10_000_000
"""More instructions than any kernel takes on small inputs, after any pass."""


def _bound(module: Module, entry: str) -> list[Var]:
    function = next(function for function in module.functions if function.name == entry)
    return [it for it in function.resources if isinstance(it, Var) and it.binding is not None]


def stays_in_range(module: Module, entry: str, seed: int = 1) -> bool:
    """Whether the dispatch of `answers` uses no index out of range."""
    buffers = {it.binding: seeded_buffer(it, seed) for it in _bound(module, entry) if it.binding is not None}
    found = sanitize(module, entry, buffers, (1, 1, 1), step_limit=STEPS)
    return all(it.code != "out-of-bounds-access" for it in found)


def answers(module: Module, entry: str, seed: int = 1) -> dict[BindingPoint, bytes]:
    """What a dispatch leaves in buffers that start with seeded small words."""
    bound = _bound(module, entry)
    buffers = {it.binding: seeded_buffer(it, seed) for it in bound if it.binding is not None}
    run(module, entry, buffers, (1, 1, 1), step_limit=STEPS)
    written_ = {it.binding for it in bound if isinstance(it.type, Pointer) and it.type.access is not Access.READ}
    return {point: bytes(buffer) for point, buffer in buffers.items() if point in written_}


def seeded_buffer(variable: Var, seed: int) -> bytearray:
    """Words 0 to 6: small as integers, denormal as floats; a few elements of a runtime-sized array. A texture
    has a few texels.
    """
    assert isinstance(variable.type, Pointer)
    point, store = variable.binding, variable.type.store
    assert point is not None
    numbers = random.Random(100 * seed + point.binding)
    if isinstance(store, Texture):
        return _seeded_texture(store, numbers)
    if isinstance(store, SamplerType):
        return bytearray(pack_sampler(Sampler(mag_filter="linear", compare="less" if store.comparison else None)))
    words = max(16, layout.minimum_size(store) // 4 + 12)
    return bytearray(b"".join(numbers.randrange(7).to_bytes(4, "little") for _ in range(words)))


def _seeded_texture(texture: Texture, numbers: random.Random) -> bytearray:
    """3 x 2 x 2 texels, or as many of these as there are dimensions, in two layers if it has any; cubes have 3 x 3."""
    form = format_of(texture)
    channels = () if form.is_packed or len(form.channels) == 1 else (len(form.channels),)
    is_cube = texture.dimension in ("cube", "cube_array")
    extent = (6, 3, 3) if is_cube else (*((2,) if is_layered(texture) else ()), *(2, 2, 3)[3 - rank(texture) :])
    shape = (*extent, *channels)
    values = [numbers.randrange(7) for _ in range(prod(shape))]
    return pack_texture(texture, np.array(values, texel_dtype(texture)).reshape(shape))
