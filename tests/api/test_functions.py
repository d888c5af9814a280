"""Functions of `.hir` files: arguments, dynamic constants from shapes, results, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinct
from tinct.functions import DEVICES
from tinct.functions.dtypes import dtype_of
from tinct.functions.values import as_argument, from_bytes, to_bytes
from tinct.ir.hercules.types import BOOL, F16, I8, U8, U16, U64, array, product

PROGRAMS = Path(__file__).parents[2] / "programs"
MATMUL = tinct.load_hercules(PROGRAMS / "matmul" / "matmul.hir")["matmul"]
A, B = np.arange(6.0).reshape(2, 3), np.ones((3, 4))


def function(head: str, *lines: str) -> tinct.HerculesFunction:
    """The function of this head, with these lines as its body."""
    body = "\n".join(lines)
    return tinct.load_hercules(f"{head} {{\n{body}\n}}\n").function()


def identity(type: str, constants: str = "") -> tinct.HerculesFunction:
    return function(f"fn f{constants}(a: {type}) -> {type}", "done = return(start, a)")


def test_a_file_is_indexed_by_function() -> None:
    file = tinct.load(PROGRAMS / "histogram" / "histogram.hir")
    assert isinstance(file, tinct.HerculesFile)
    assert list(file) == list(file.functions) == ["by_key", "by_bin"]
    assert file.function() is file["by_bin"]
    assert repr(file).endswith("histogram.hir: by_key, by_bin>")
    assert repr(file["by_bin"]) == "<HerculesFunction by_bin: keys -> counts>"
    with pytest.raises(tinct.InputError, match="did you mean 'by_key'"):
        file["by_keys"]


@pytest.mark.usefixtures("needs_device")
@pytest.mark.parametrize("device", DEVICES)
def test_arguments_stay_and_results_are_arrays(device: str) -> None:
    values = np.array([1, 2, 3], np.uint32)
    scan = tinct.load_hercules(PROGRAMS / "prefix_sum" / "prefix_sum.hir")["prefix_sum"]
    found = scan.run({"values": values}, device=device)
    assert found["values"].tolist() == [1, 3, 6]
    assert found["values"].dtype == np.uint32
    assert values.tolist() == [1, 2, 3]
    dot = tinct.load_hercules(PROGRAMS / "dot" / "dot.hir")["dot"].run({"a": [1, 2], "b": (3, 4)}, device=device)
    assert {name: (it.shape, it.item()) for name, it in dot.items()} == {"sum": ((), 11.0), "largest": ((), 8.0)}


@pytest.mark.usefixtures("needs_device")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [(2, 3, 4), (0, 3, 4), (2, 0, 4), (2, 3, 0), (1, 1, 1)])
def test_one_function_runs_at_many_sizes(device: str, shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    a, b = np.arange(m * k).reshape(m, k), np.arange(k * n).reshape(k, n)
    np.testing.assert_array_equal(MATMUL.run({"a": a, "b": b}, device=device)["c"], a @ b)


@pytest.mark.usefixtures("needs_device")
@pytest.mark.parametrize("device", ["gpu"])
@pytest.mark.parametrize("size", [1, 7, 64, 256])
def test_any_workgroup_size_gives_the_same(device: str, size: int) -> None:
    a, b = np.arange(30 * 3).reshape(30, 3), np.arange(3 * 11).reshape(3, 11)
    found = MATMUL.run({"a": a, "b": b}, device=device, workgroup_size=size)
    np.testing.assert_array_equal(found["c"], a @ b)


@pytest.mark.usefixtures("needs_device")
@pytest.mark.parametrize("device", ["gpu"])
def test_workgroup_sizes_that_an_adapter_does_not_allow(device: str) -> None:
    for size in (0, -1, 10**9):
        with pytest.raises(tinct.InputError, match=f"a workgroup size of {size}; .* allows 1 to"):
            MATMUL.run({"a": A, "b": B}, device=device, workgroup_size=size)


@pytest.mark.parametrize(
    ("extent", "count", "known"),
    [
        ("n", 5, 5),
        ("(n * 2)", 6, 3),
        ("(n + 1)", 6, 5),
        ("(n - 1)", 6, 7),
        ("(n + n)", 6, 3),
        ("(10 - n)", 6, 4),
        ("((2 * n) + (n * 3))", 15, 3),
        ("(n * 0)", 0, None),
        ("((n + 3) / 4)", 2, None),
        ("max(n, 3)", 3, None),
        ("(n * n)", 9, None),
    ],
)
def test_an_extent_that_is_linear_determines_its_constant(extent: str, count: int, known: int | None) -> None:
    given = function(f"fn f<n>(a: array<i32, {extent}>) -> u64", "size = dynamic(n)", "done = return(start, size)")
    if known is None:
        with pytest.raises(tinct.InputError, match="nothing determines the dynamic constant 'n'"):
            given.run({"a": np.zeros(count)})
        return
    assert given.run({"a": np.zeros(count)})["size"] == known
    assert given.run({"a": np.zeros(count)}, constants={"n": known})["size"] == known


def test_a_constant_that_is_found_later_determines_another() -> None:
    given = function(
        "fn f<m, n>(a: array<i32, (m * n)>, b: array<array<i32, n>, 2>) -> u64",
        "size = dynamic(m)",
        "done = return(start, size)",
    )
    assert given.run({"a": np.zeros(12), "b": np.zeros((2, 3))})["size"] == 4


def test_extents_inside_of_products_and_sums() -> None:
    held = function(
        "fn f<m, n>(a: array<product<array<i32, m>, u32>, 2>, b: sum<u32, array<i32, n>>) -> product<u64, u64>",
        "m_ = dynamic(m)",
        "n_ = dynamic(n)",
        "both = product(m_, n_)",
        "done = return(start, both)",
    )
    rows = [([1, 2, 3], 1), ([4, 5, 6], 2)]
    found = held.run({"a": rows, "b": {"variant": 1, "value": [7, 8]}})
    assert (found["m_"], found["n_"]) == (3, 2)
    with pytest.raises(
        tinct.InputError, match=r"axis 0 of a\[1\].f0 has 2 elements, but m is 3 by axis 0 of a\[0\].f0"
    ):
        held.run({"a": [([1, 2, 3], 1), ([4, 5], 2)], "b": {"variant": 1, "value": [7, 8]}})
    with pytest.raises(tinct.InputError, match="nothing determines the dynamic constant 'n': it must be given"):
        held.run({"a": rows, "b": {"variant": 0, "value": 7}})


WRONG: list[tuple[Mapping[str, Any], str]] = [
    ({"a": A}, "no value is given for b: array<array<f32, n>, k>"),
    ({"a": A, "b": B, "c": 1}, "matmul has no parameter named 'c'"),
    ({"a": A, "b": A}, "axis 0 of b has 2 elements, but k is 3 by axis 1 of a"),
    ({"a": A, "b": [[1, 2], [3], [4, 5]]}, "axis 0 of b[1] has 1 element, but n is 2 by axis 0 of b[0]"),
    ({"a": A[0], "b": B}, "a: array<array<f32, k>, m> takes 2 dimensions, not an array of shape (3,)"),
    (
        {"a": A, "b": np.ones((3, 4, 5))},
        "b: array<array<f32, 4>, 3> takes shape (3, 4), not an array of shape (3, 4, 5)",
    ),
    ({"a": A, "b": 3}, "b: array<array<f32, n>, k> takes 2 dimensions, not 3"),
    ({"a": A, "b": [[1], [None], [2]]}, "b[1][0]: f32 takes a number, not None"),
    ({"a": A, "b": np.array([["x"]] * 3)}, "b: f32 takes numbers, not an array of shape (3, 1)"),
    ({"a": A, "b": B * 1e300}, "b[0][0]: 1e+300 is out of range for f32"),
    ({"a": [], "b": []}, "nothing determines the dynamic constant 'n'"),
]


@pytest.mark.usefixtures("needs_device")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_what_does_not_fit(arguments: Mapping[str, Any], message: str, device: str) -> None:
    with pytest.raises(tinct.InputError) as caught:
        MATMUL.run(arguments, device=device)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"constants": {"n": 5}}, "axis 1 of b has 4 elements, but n is 5 as a constant"),
        ({"constants": {"q": 5}}, "no dynamic constant is named 'q'; there are m, k, n"),
        ({"constants": {"n": -1}}, "constant 'n': -1 is out of range for u64"),
        ({"constants": {"n": 1.5}}, "constant 'n'"),
        ({"constants": 3}, "constants maps names to values"),
        ({"device": "hercules"}, "no device of functions is named 'hercules'; there are cpu, gpu, interp"),
        ({"device": 3}, "a device is a name"),
        ({"timeout": 0}, "the time limit must be a positive number"),
        ({"workgroup_size": 64}, "a workgroup size is for a GPU, not for cpu"),
        ({"workgroup_size": 1.5, "device": "gpu"}, "the workgroup size must be a whole number, not 1.5"),
    ],
)
def test_options_that_do_not_fit(options: dict[str, Any], message: str) -> None:
    with pytest.raises(tinct.InputError) as caught:
        MATMUL.run({"a": A, "b": B}, **options)
    assert message in str(caught.value)


def test_an_extent_of_an_expression_that_does_not_fit() -> None:
    given = function(
        "fn f<n>(a: array<i32, n>, b: array<i32, (n * 2)>) -> u64", "s = dynamic(n)", "done = return(start, s)"
    )
    with pytest.raises(tinct.InputError) as caught:
        given.run({"a": [1, 2], "b": [1, 2, 3, 4, 5]})
    assert str(caught.value) == "axis 0 of b has 5 elements, but (n * 2) is 4, where n is 2 by axis 0 of a"
    odd = function("fn f<n>(b: array<i32, (n * 2)>) -> u64", "s = dynamic(n)", "done = return(start, s)")
    with pytest.raises(tinct.InputError, match=r"axis 0 of b has 5 elements, which \(n \* 2\) is for no n"):
        odd.run({"b": [1, 2, 3, 4, 5]})
    fixed = identity("array<i32, 3>")
    with pytest.raises(tinct.InputError, match="axis 0 of a has 2 elements, but its type has 3"):
        fixed.run({"a": [1, 2]})


@pytest.mark.usefixtures("needs_device")
@pytest.mark.parametrize("device", DEVICES)
def test_an_endless_loop_is_stopped(device: str) -> None:
    endless = function(
        "fn f(x: u32) -> u32",
        "one = constant(u32 1)",
        "header = region(start, body)",
        "i = phi(header, x, next)",
        "next = add(i, one)",
        "goes_on = not_equal(x, next)",
        "always = or(goes_on, goes_on)",
        "zero = constant(u32 0)",
        "odd = or(next, one)",
        "more = greater(odd, zero)",
        "test = if(header, more)",
        "out = read(test, control(0))",
        "body = read(test, control(1))",
        "done = return(out, i)",
    )
    with pytest.raises(tinct.DeviceError, match=r"(with)?in 0\.3 s|ends every loop of an invocation"):
        endless.run({"x": 3}, device=device, timeout=0.3)


@pytest.mark.usefixtures("needs_device")
@pytest.mark.parametrize("device", ["gpu:none such"])
def test_an_adapter_that_is_not_there(device: str) -> None:
    with pytest.raises(tinct.InputError, match="no GPU adapter or backend has 'none such' in its name"):
        MATMUL.run({"a": A, "b": B}, device=device)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fn f(x: i32) -> i32 {\n  done = return(start, y)\n}", "error[syntax]: no node 'y'\n --> <text>:2:24"),
        ("fn f(x: i32) -> f32 {\n  done = return(start, x)\n}", "done: returns type i32 instead of f32"),
        ("fn f(x: i32) -> i32 {\n  y = call(f, x)\n  done = return(start, y)\n}", "f: calls itself"),
        ("fn f(x: i32) -> i32 {\n  \N{SNOWMAN}\n}", "unexpected character"),
        ("fn f(x: i32) -> {\n", "error[syntax]"),
    ],
)
def test_invalid_files(text: str, message: str) -> None:
    with pytest.raises(tinct.ShaderError) as caught:
        tinct.load_hercules(text)
    assert message in str(caught.value)
    assert "<text>:" in str(caught.value)


def test_a_missing_file_and_no_file() -> None:
    with pytest.raises(FileNotFoundError):
        tinct.load("nowhere.hir")
    with pytest.raises(tinct.InputError):
        tinct.load_hercules(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(tinct.InputError, match="has no function"):
        tinct.load_hercules("# nothing\n").function()


# Layout


def assert_same(found: np.ndarray, given: np.ndarray) -> None:
    for name in given.dtype.names or ():
        np.testing.assert_array_equal(found[name], given[name])


NARROW = product(BOOL, I8, U64, array(U16, 3), U8, F16)


def test_narrow_fields_take_words() -> None:
    dtype = dtype_of(NARROW)
    assert [dtype.fields[name][1] for name in dtype.names or ()] == [0, 4, 8, 16, 24, 28]  # type: ignore[index]
    assert dtype.itemsize == 32
    value = (True, -2, 2**63, [1, 2, 3], 255, 0.5)
    given = as_argument(array(NARROW, 2), [value, value], "a")
    data = to_bytes(array(NARROW, 2), given)
    words = np.frombuffer(data, "<i4").reshape(2, 8)
    assert words[:, [0, 1, 6]].tolist() == [[1, -2, 255]] * 2
    assert_same(from_bytes(array(NARROW, 2), data), given)
    assert len(to_bytes(array(U8, 5), as_argument(array(U8, 5), [1] * 5, "a"))) == 8


@pytest.mark.usefixtures("needs_device")
@pytest.mark.parametrize("device", DEVICES)
def test_all_scalars_and_structures_come_back_as_given(device: str) -> None:
    values: list[tuple[str, Any]] = [
        ("bool", True),
        ("i8", -128),
        ("u64", 2**64 - 1),
        ("f16", 0.5),
        ("array<bool, 3>", [True, False, True]),
        ("array<u64, 2>", [0, 2**64 - 1]),
    ]
    for type, value in values:
        assert identity(type).run({"a": value}, device=device)["a"].tolist() == value
    narrow = identity("array<product<bool, i8, u64, array<u16, 3>, u8, f16>, n>", "<n>")
    given = np.zeros(3, narrow.parameters["a"].dtype)
    given["f1"], given["f3"][1], given["f5"] = [-1, -128, 127], [1, 2, 65535], 0.25
    found = narrow.run({"a": given}, device=device)["a"]
    assert found.dtype == given.dtype
    assert_same(found, given)


@pytest.mark.usefixtures("needs_device")
@pytest.mark.parametrize("device", DEVICES)
def test_fields_of_words_are_computed_with(device: str) -> None:
    step = function(
        "fn f<n>(a: array<product<bool, i8>, n>) -> array<product<bool, i8>, n>",
        "one = constant(i8 100)",
        "f = fork(start, n)",
        "i = thread_id(f)",
        "now = reduce(j, a, after)",
        "flag = read(now, position(i), field(0))",
        "number = read(now, position(i), field(1))",
        "more = add(number, one)",
        "other = not(flag)",
        "half = write(now, other, position(i), field(0))",
        "after = write(half, more, position(i), field(1))",
        "j = join(f)",
        "done = return(j, now)",
    )
    assert step.run({"a": [(True, 100), (False, -128)]}, device=device)["a"].tolist() == [(False, -56), (True, -28)]


@pytest.mark.usefixtures("needs_device")
@pytest.mark.parametrize("device", DEVICES)
def test_a_sum_that_is_given_as_an_array_may_hold_anything_else_in_other_variants(device: str) -> None:
    kept = identity("array<sum<i32, product<f32, bool>>, n>", "<n>")
    given = np.zeros(2, kept.parameters["a"].dtype)
    given["variant"], given["v0"], given["v1"]["f0"] = [0, 1], 7, 1.5
    found = kept.run({"a": given}, device=device)["a"]
    assert found.tolist() == [(0, 7, (0.0, False)), (1, 0, (1.5, False))]
    given["variant"][1] = 2
    with pytest.raises(tinct.InputError, match=r"a.variant: sum<i32, product<f32, bool>> has the variants 0 to 1"):
        kept.run({"a": given})
    with pytest.raises(tinct.InputError, match=r'a\[0\]: sum<.*> takes \{"variant": 0 to 1, "value": …\}, not 3'):
        kept.run({"a": [3]})


def test_products_are_given_in_several_forms() -> None:
    kept = identity("array<product<f32, f32>, n>", "<n>")
    wanted = [(1.0, 2.0), (3.0, 4.0)]
    forms: list[object] = [
        wanted,
        [[1, 2], [3, 4]],
        np.array([[1, 2], [3, 4]]),
        [{"f0": 1, "f1": 2}, {"f1": 4, "f0": 3}],
        np.array(wanted, [("f0", "f8"), ("f1", "i4")]),
        list(np.array(wanted, [("f0", "f8"), ("f1", "i4")])),
    ]
    for form in forms:
        assert kept.run({"a": form})["a"].tolist() == wanted
    for form, message in [
        ([(1, 2, 3)], "a[0]: product<f32, f32> has 2 fields, not 3"),
        ([{"f0": 1}], "a[0]: there is no value for the field 'f1'"),
        ([{"f0": 1, "g": 1}], "a[0]: product<f32, f32> has no field 'g'; it has f0, f1"),
        (np.ones((2, 3)), "a: product<f32, f32> takes 2 fields"),
        (["xy"], "a[0]: product<f32, f32> takes a tuple of its fields, not 'xy'"),
    ]:
        with pytest.raises(tinct.InputError) as caught:
            kept.run({"a": form})
        assert message in str(caught.value)


def test_what_is_too_large() -> None:
    large = function(
        "fn f<n>(x: f32) -> array<f32, n>", "zero = constant(array<f32, n> zero)", "done = return(start, zero)"
    )
    with pytest.raises(tinct.InputError, match="zero: array<f32, 1099511627776> takes more than 4 GiB"):
        large.run({"x": 1}, constants={"n": 2**40})


def test_reflection() -> None:
    assert MATMUL.parameters["a"].shape == ("m", "k")
    assert MATMUL.parameters["a"].dtype == np.float32
    assert MATMUL.results["c"].size == "(m * (n * 4))"
    assert [(it.name, it.extents) for it in MATMUL.constants][1] == ("k", (("axis 1 of a", "k"), ("axis 0 of b", "k")))
    open_ended = identity("product<array<u8, n>, u32>", "<n>")
    assert open_ended.parameters["a"].dtype is None
    (structure,) = open_ended.structures
    assert [it.offset for it in structure.fields] == ["0", "(((n + 3) / 4) * 4)"]
    dtype = open_ended.dtype_with("a", {"n": 5}, with_shape=True)
    assert dtype.itemsize == 12
