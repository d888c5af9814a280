"""Each pass on small kernels: a text, its pipeline line, the text after it; and the same answers before and after."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tinct.ir.types import BindingPoint
from tinct.transforms.pipelines import CORE

from .support import GOLDENS, answers, entry_points, module_of, transformed, written

PATHS = sorted(path for path in GOLDENS.glob("*/*.wgsl") if not path.name.endswith(".out.wgsl"))
CHANGES_INTERFACE = ("array_length_from_uniform", "substitute_overrides")
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
