"""What `ccp{ranges=true}` makes of kernels as people write them, and that their answers stay."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from tinct.frontend import load_program
from tinct.ir.core.builder_impl import build
from tinct.ir.hercules.dispatch import run_entry_point
from tinct.ir.hercules.entry import EntryPoint
from tinct.ir.hercules.text import print_module
from tinct.ir.source import Source
from tinct.ir.types import BindingPoint
from tinct.ir.wgsl.program import Program
from tinct.transforms.hercules import HERCULES
from tinct.transforms.passes import parse_pipeline, run_passes
from tinct.transforms.pipelines import specialise
from tinct.transforms.to_hercules import translate

KERNELS = Path(__file__).parent / "kernels"
GOLDENS = Path(__file__).parents[1] / "goldens" / "hercules" / "kernels"
PIPELINE = "gvn,ccp{ranges=true,counts=32},gvn,dce"


def loaded(file: str) -> Program:
    return load_program(Source.from_text((KERNELS / f"{file}.wgsl").read_text(encoding="utf-8")))


ENTRIES = [
    (path.stem, function.name) for path in sorted(KERNELS.glob("*.wgsl")) for function in loaded(path.stem).entry_points
]


def translated(file: str, entry: str) -> EntryPoint:
    return translate(specialise(build(loaded(file)), entry, {}), entry)


def optimised(file: str, entry: str) -> EntryPoint:
    found = translated(file, entry)
    run_passes(found.module, parse_pipeline(PIPELINE, HERCULES), HERCULES, verify_each=True)
    return found


@pytest.mark.parametrize(("file", "entry"), ENTRIES)
def test_golden(file: str, entry: str, golden: Callable[[Path, str], None]) -> None:
    golden(GOLDENS / f"{file}_{entry}.hir", f"# after {PIPELINE}\n" + print_module(optimised(file, entry).module))


@pytest.mark.parametrize(("file", "entry"), ENTRIES)
@pytest.mark.parametrize("count", [-1, 0, 1, 5, 9])
@pytest.mark.parametrize("length", [1, 4, 64])
def test_answers_stay(file: str, entry: str, count: int, length: int) -> None:
    if file == "counters" and count == -1:
        pytest.skip("a loop of 2^32 turns")
    if file == "ids" and length != 64:
        pytest.skip("its buffer has 64 elements")
    assert answer(optimised(file, entry), count, length) == answer(translated(file, entry), count, length)


def answer(entry: EntryPoint, count: int, length: int) -> bytes:
    a = bytearray(struct.pack(f"<{length}I", *((7 * i) % 11 for i in range(length))))
    size = bytearray(struct.pack("<ii", count, count))
    run_entry_point(entry, {BindingPoint(0, 0): a, BindingPoint(0, 1): size}, (3, 1, 1))
    return bytes(a)
