"""Kernels of programs: how a grid becomes workgroups, what is refused, and the text."""

from __future__ import annotations

import pytest

from tinct.base.errors import InputError
from tinct.functions import load_hercules
from tinct.ir.diagnostics import ShaderError
from tinct.ir.hercules.program import GridKernel
from tinct.ir.hercules.text import parse
from tinct.transforms.from_hercules import grid_module, grid_size
from tinct.transforms.to_wgsl.unit import to_unit

SCALE = """fn scale<n, m>(a: array<array<f32, 3>, n>) -> product<array<array<f32, 3>, n>> {
  two = constant(f32 2)
  rows = fork(start, n)
  i = thread_id(rows)
  columns = fork(rows, m)
  j = thread_id(columns)
  outer = reduce(end, a, inner)
  inner = reduce(middle, outer, b)
  x = read(inner, position(i), position(j))
  y = mul(x, two)
  b = write(inner, y, position(i), position(j))
  middle = join(columns)
  end = join(middle)
  all = product(outer)
  done = return(end, all)
}"""

IRREDUCIBLE = """fn f(a: bool) -> i32 {
  zero = constant(i32 0)
  test = if(start, a)
  no = read(test, control(0))
  yes = read(test, control(1))
  left = region(yes, back)
  right = region(no, left)
  again = if(right, a)
  out = read(again, control(0))
  back = read(again, control(1))
  done = return(out, zero)
}"""


def kernel(text: str, depth: int, *written: int) -> GridKernel:
    return GridKernel(parse(text).functions[0], depth, written)


@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        ((), (1, 1, 1)),
        ((1,), (1, 1, 1)),
        ((64,), (1, 1, 1)),
        ((65,), (2, 1, 1)),
        ((0,), (0, 0, 0)),
        ((7, 0, 3), (0, 0, 0)),
        ((13, 5), (2, 1, 1)),
        ((64 * 65535,), (65535, 1, 1)),
        ((64 * 65535 + 1,), (65535, 2, 1)),
        ((2**32 - 1,), (65535, 1025, 1)),
    ],
)
def test_workgroups_of_a_grid(factors: tuple[int, ...], expected: tuple[int, int, int]) -> None:
    assert grid_size(factors, 64) == expected


def test_rows_of_workgroups_hold_all_threads() -> None:
    x, y, z = grid_size((3, 50_000_000), 128)
    assert x * y * z * 128 >= 150_000_000
    assert z == 1


def test_too_many_threads() -> None:
    with pytest.raises(InputError, match="a grid of 65536 x 65536 threads is over the limit of 4,294,967,295"):
        grid_size((65536, 65536), 64)


def test_parameters_are_bindings_and_dynamic_constants_members_of_a_uniform() -> None:
    from tinct.backend.wgsl import print_unit

    text = print_unit(to_unit(grid_module(kernel(SCALE, 2, 0), 32)))
    assert "@group(0) @binding(0) var<storage, read_write> a: array<array<f32, 3>>;" in text
    assert "@group(0) @binding(1) var<uniform> sizes: Sizes;" in text
    assert "n: u32,\n    m: u32,\n" in text
    assert "@workgroup_size(32u, 1u, 1u)" in text
    assert "fn scale(" in text


def test_control_that_is_not_reducible_is_refused() -> None:
    function = parse(IRREDUCIBLE).functions[0]
    with pytest.raises(ShaderError, match="not supported: control flow that is not reducible"):
        grid_module(GridKernel(function, 0, ()), 64)


@pytest.mark.parametrize("type", ["f64", "i64", "u8"])
def test_types_that_wgsl_lacks_are_refused(type: str) -> None:
    zero = "0.5" if type == "f64" else "0"
    text = f"""fn f(a: array<{type}, 4>) -> product<array<{type}, 4>> {{
      at = constant(u64 1)
      value = constant({type} {zero})
      b = write(a, value, position(at))
      all = product(b)
      done = return(start, all)
    }}"""
    with pytest.raises(ShaderError, match=f"not supported: a value of type {type} on a GPU"):
        grid_module(kernel(text, 0, 0), 64)


@pytest.mark.usefixtures("needs_gpu")
def test_f64_is_refused_by_the_name_of_its_value() -> None:
    file = load_hercules(
        "fn f(a: f64) -> f64 { one = constant(f64 1)\n more = add(a, one)\n done = return(start, more) }"
    )
    with pytest.raises(ShaderError, match="not supported: f64 on a GPU"):
        file["f"].run({"a": 1.0}, device="gpu")
