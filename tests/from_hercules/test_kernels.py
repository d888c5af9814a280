"""Kernels written back from Hercules IR: goldens, and the same answers to the bit in the interpreter of core IR."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.roundtrip.test_kernels import answers, entry_points, module_of, written

from tinct.backend.gpu import GpuDevice, shared_device
from tinct.ir.core import Module, verify
from tinct.ir.core.nodes import Var
from tinct.ir.types import Pointer, Texture
from tinct.pipeline import GpuOptions
from tinct.shader import load
from tinct.transforms.from_hercules import entry_module
from tinct.transforms.hercules import TO_CORE
from tinct.transforms.passes import apply_passes
from tinct.transforms.pipelines import O1
from tinct.transforms.specialising import specialise
from tinct.transforms.to_hercules import translate

ROOT = Path(__file__).parents[2]
GOLDENS = sorted(
    it for it in (ROOT / "tests/goldens/from_hercules").glob("*.wgsl") if not it.name.endswith(".out.wgsl")
)
STEPS = 20_000_000
"""More instructions than a kernel takes whose vectors have come apart."""
SHADERS = sorted((ROOT / "shaders").glob("*/*.wgsl"))


def through_hercules(module: Module, entry: str) -> Module:
    """The entry point of a specialised module, translated into Hercules IR and back."""
    graph = translate(module, entry)
    apply_passes(graph.module, TO_CORE.passes)
    back = entry_module(graph)
    verify(back)
    apply_passes(back, O1.passes)
    verify(back)
    return back


def has_textures(module: Module, entry: str) -> bool:
    """Whether an entry point uses textures, which become storage buffers."""
    function = next(it for it in module.functions if it.name == entry)
    variables = [it for it in function.resources if isinstance(it, Var)]
    return any(isinstance(it.type, Pointer) and isinstance(it.type.store, Texture) for it in variables)


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem)
def test_golden(path: Path, golden: Callable[[Path, str], None]) -> None:
    module = specialise(module_of(path.read_text(encoding="utf-8")), "main", {})
    golden(path.with_suffix(".out.wgsl"), written(through_hercules(module, "main")))


@pytest.mark.parametrize("path", GOLDENS + SHADERS, ids=lambda path: path.stem)
def test_same_answers(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    for function in entry_points(module_of(source)):
        entry = function.name
        module = specialise(module_of(source), entry, {})
        if has_textures(module, entry):
            continue
        expected = answers(specialise(module_of(source), entry, {}), entry)
        back = through_hercules(module, entry)
        assert answers(back, entry, STEPS) == expected
        assert answers(module_of(written(back)), entry, STEPS) == expected


@pytest.mark.parametrize("path", GOLDENS + SHADERS, ids=lambda path: path.stem)
def test_naga_takes_it(path: Path) -> None:
    reason = GpuDevice.unavailable_reason()
    if reason is not None:
        pytest.skip(f"no GPU to ask naga: {reason}")
    shader = load(path)
    for entry in shader.entry_points:
        text = shader.compilation(entry, {}).for_gpu(GpuOptions(for_naga=True, via_hercules=True)).wgsl
        assert shared_device().validate(text) is None
