"""What `robustness` leaves unguarded is in range whatever happens; what it predicates is left out."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.differential.generate import Generator

from tinct.base.errors import InputError
from tinct.ir.core import run
from tinct.ir.core.nodes import Var
from tinct.ir.core.sanitizer import sanitize
from tinct.ir.types import BindingPoint
from tinct.transforms.core.robustness import Robustness
from tinct.transforms.specialising import specialise

from .support import GOLDENS, entry_points, module_of, seeded_buffer, transformed

DATA = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;"


def wild_buffer(variable: Var, seed: int) -> bytearray:
    """Words of which many are no index of anything."""
    words = len(seeded_buffer(variable, seed)) // 4
    numbers = random.Random(seed)
    choices = (0, 1, 2, 7, 8, 15, 16, 31, 32, 33, 2**31 - 1, 2**31, 2**32 - 1, 2**32 - 2)
    return bytearray(b"".join(numbers.choice(choices).to_bytes(4, "little") for _ in range(words)))


def assert_in_range(text: str, pipeline: str) -> None:
    """The sanitizer finds no access out of range in what robustness has made of a shader."""
    for entry in [function.name for function in entry_points(module_of(text))]:
        module = specialise(module_of(text), entry, {})
        transformed(module, pipeline)
        function = next(it for it in module.functions if it.name == entry)
        bound = [it for it in function.resources if isinstance(it, Var) and it.binding is not None]
        for seed in range(3):
            buffers = {it.binding: wild_buffer(it, seed) for it in bound if it.binding is not None}
            findings = sanitize(module, entry, buffers, (1, 1, 1), step_limit=3_000_000)
            assert [it.message for it in findings if it.code == "out-of-bounds-access"] == []


@pytest.mark.parametrize("pipeline", ["robustness", "robustness{mode=predicate}", "inline,mem2reg,robustness"])
@pytest.mark.parametrize("seed", range(100, 108))
def test_random_kernels_stay_in_range(seed: int, pipeline: str) -> None:
    assert_in_range(Generator(seed).kernel(), pipeline)


@pytest.mark.parametrize("pipeline", ["robustness", "robustness{mode=predicate}", "mem2reg,robustness"])
@pytest.mark.parametrize("path", sorted((GOLDENS / "robustness").glob("*[!t].wgsl")), ids=lambda path: path.stem)
def test_goldens_stay_in_range(path: Path, pipeline: str) -> None:
    assert_in_range(path.read_text(encoding="utf-8"), pipeline)


@pytest.mark.parametrize(
    "body",
    [
        "for (var i = 0; i < 8; i += 3) { if i > 5 { i = -4; break; } } ",
        "var i = 2; loop { if i >= 4 { break; } i = i - 1; data[a[i]] += 1; if data[0] > 3 { break; } }",
        "var i = 0; while i < 4 { let n = i; i = i32(data[n & 1]); a[n] += 1; if a[i] > 2 { break; } a[n] = 3; }",
        "let i = data[1]; var k = i; if k < 4 { k = data[2]; a[k] = 1; } a[k] = 2;",
        "var k = data[0]; let small = k < 4; k = data[1]; if small { a[k] = 5; }",
        "var k = data[0]; if k < 4 { for (var r = 0; r < 2; r++) { a[k] = 5; k = data[1]; } } a[k] = 1;",
        "for (var i = 2147483646; i < 2147483647; i += 2) { a[i] = 1; if i < 0 { break; } }",
        "var k = data[3]; loop { if k < 4 { break; } k >>= 1; continuing { k += data[5]; break if k > 9; } } a[k] = 1;",
    ],
)
def test_what_only_looks_proved(body: str) -> None:
    text = f"{DATA} @compute @workgroup_size(1) fn main() {{ var a: array<u32, 4>; {body} data[0] = a[0]; }}"
    assert_in_range(text, "robustness")
    assert_in_range(text, "mem2reg,robustness")


def test_predicated() -> None:
    """A load from outside gives zero, and a store does nothing."""
    module = module_of(
        f"{DATA} @compute @workgroup_size(1) fn main() {{ let i = data[0]; data[i] = 5; data[1] = data[i] + 7; }}"
    )
    assert Robustness("predicate").run(module)
    buffer = bytearray((100).to_bytes(4, "little") + bytes(12))
    run(module, "main", {BindingPoint(0, 0): buffer}, (1, 1, 1))
    assert list(memoryview(buffer).cast("I")) == [100, 7, 0, 0]


def test_no_such_mode() -> None:
    with pytest.raises(InputError, match="clamp or predicate"):
        Robustness("ignore").run(module_of(""))
