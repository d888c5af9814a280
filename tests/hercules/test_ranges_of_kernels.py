"""What `ccp{ranges=true}` makes of kernels as people write them, and that their answers stay."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from tinct.frontend import load_program
from tinct.ir.hercules.dispatch import run_entry_point
from tinct.ir.hercules.entry import EntryPoint
from tinct.ir.hercules.nodes import PositionIndex, Read, Write
from tinct.ir.hercules.placement import place_nodes
from tinct.ir.hercules.ranges import in_range
from tinct.ir.hercules.text import print_module
from tinct.ir.source import Source
from tinct.ir.types import BindingPoint
from tinct.ir.wgsl.program import Program
from tinct.transforms.from_wgsl.build import build
from tinct.transforms.hercules import HERCULES
from tinct.transforms.passes import parse_pipeline, run_passes
from tinct.transforms.specialising import specialise
from tinct.transforms.to_hercules import translate

GOLDENS = Path(__file__).parents[1] / "goldens" / "hercules" / "kernels"
PIPELINE = "gvn,ccp{ranges=true,counts=32},gvn,dce"


def loaded(file: str) -> Program:
    return load_program(Source.from_text((GOLDENS / f"{file}.wgsl").read_text(encoding="utf-8")))


ENTRIES = [
    (path.stem, function.name) for path in sorted(GOLDENS.glob("*.wgsl")) for function in loaded(path.stem).entry_points
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


COUNTS = {"counters": (0, 1, 5, 9), "ids": (0,)}
LENGTHS = {"ids": (64,)}
DISPATCHES = [
    (file, entry, count, length)
    for file, entry in ENTRIES
    for count in COUNTS.get(file, (-1, 0, 1, 5, 9))
    for length in LENGTHS.get(file, (1, 4, 64))
]


@pytest.mark.parametrize(("file", "entry", "count", "length"), DISPATCHES)
def test_answers_stay(file: str, entry: str, count: int, length: int) -> None:
    assert answer(optimised(file, entry), count, length) == answer(translated(file, entry), count, length)


# The positions that are proved to be in range, and all. A constant one is not, where nothing says how long the array
# is, nor one behind a guard on a loaded number.
PROVED = {
    "counters_downwards": (0, 1),
    "counters_length": (1, 2),
    "counters_literal": (0, 1),
    "counters_loaded": (0, 1),
    "counters_signed": (0, 1),
    "guards_lengths": (2, 2),
    "guards_loaded": (0, 1),
    "guards_next": (0, 1),
    "guards_signed": (0, 1),
    "ids_groups": (1, 1),
    "ids_local": (3, 3),
    "kept_negative": (0, 1),
    "kept_remainder": (0, 1),
    "kept_turns": (0, 2),
    "kept_wraps": (0, 3),
}


@pytest.mark.parametrize(("file", "entry"), ENTRIES)
def test_positions_in_range(file: str, entry: str) -> None:
    placed = place_nodes(optimised(file, entry).function)
    accesses = [node for node in placed.place if isinstance(node, (Read, Write))]
    positions = sum(isinstance(index, PositionIndex) for node in accesses for index in node.indices)
    assert (len(in_range(placed)), positions) == PROVED[f"{file}_{entry}"]


def answer(entry: EntryPoint, count: int, length: int) -> bytes:
    a = bytearray(struct.pack(f"<{length}I", *((7 * i) % 11 for i in range(length))))
    size = bytearray(struct.pack("<ii", count, count))
    run_entry_point(entry, {BindingPoint(0, 0): a, BindingPoint(0, 1): size}, (3, 1, 1))
    return bytes(a)
