"""WGSL functions, called from Python."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import tinct
from tinct.backend.gpu import GpuDevice
from tinct.wgsl_functions import Results

SHADER = tinct.load("""
struct Ray { origin: vec3f, hit: bool, weights: array<f32, 2> }
struct Path { rays: array<Ray, 2>, length: f32 }
@group(0) @binding(0) var<storage, read> table: array<f32>;
@group(1) @binding(3) var<storage, read_write> hits: array<atomic<u32>>;
var<private> calls: u32;
var<workgroup> room: array<u32, 4>;
override scale: f32 = 2;

fn between() {}

// Multiplies two complex numbers.
// Each is (real, imaginary).
fn cmul(a: vec2f, b: vec2f) -> vec2f {
    return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
fn apply(m: mat3x2<f32>, v: vec3f) -> vec2f { return m * v; }
fn bump(p: ptr<function, u32>, by: u32) -> u32 { let old = *p; *p += by; calls++; return old * 100 + calls; }
fn advance(p: ptr<function, vec3f>) { *p = *p + 1; }
fn flip(r: Ray) -> Ray { var x = r; x.hit = !r.hit; x.origin = -r.origin; x.weights[1] = 7; return x; }
fn first_hit(p: Path) -> vec2<bool> { return vec2<bool>(p.rays[0].hit, p.rays[1].hit); }
fn lit(i: u32) -> f32 { return table[i]; }
fn mark(i: u32) { atomicAdd(&hits[i], 1u); }
fn choose(a: vec2<bool>, b: bool) -> vec2<bool> { return select(a, !a, b); }
fn pass_through_room(n: u32) -> u32 { workgroupBarrier(); room[0] = n; workgroupBarrier(); return room[0] + 1; }
fn many(a: f32, b: f32, c: f32, d: f32, e: f32, f: f32, g: bool, h: vec3f, i: f32) -> f32 {
    return a + b * 10 + c * 100 + d + e + f + f32(g) + h.z + i;
}
fn fixed() -> f32 { return 4.5; }
fn in_storage(p: ptr<storage, f32, read_write>) { *p = *p * 2; }
fn in_private(p: ptr<private, f32>) -> f32 { *p += 1; return *p; }
fn in_workgroup(p: ptr<workgroup, f32>) -> f32 { *p += 1; return *p; }
fn open(p: ptr<storage, array<f32>, read>) -> u32 { return arrayLength(p); }
fn sampled(t: texture_2d<f32>) -> f32 { return textureLoad(t, vec2u(), 0).x; }
fn scaled(x: f32) -> f32 { return x * scale; }
fn options(out: f32, device: f32) -> f32 { return out - device; }
@compute @workgroup_size(1) fn main() {}
""")
F = SHADER.functions
DEVICES = ["cpu", "interp", *(["gpu"] if GpuDevice.available() else [])]


def one(result: object) -> np.ndarray[Any, Any]:
    """The result of a function that gives one."""
    assert not isinstance(result, Results)
    return np.asarray(result)


def several(result: object) -> Results:
    """Those of a function that gives several."""
    assert isinstance(result, Results)
    return result


@pytest.mark.parametrize("device", DEVICES)
def test_own_dimensions_are_the_last_and_others_are_broadcast(device: str) -> None:
    a, b = np.arange(24).reshape(4, 1, 3, 2), np.arange(12).reshape(2, 3, 2) / 2
    made = one(F["cmul"](a, b, device=device))
    left, right = a[..., 0] + 1j * a[..., 1], b[..., 0] + 1j * b[..., 1]
    expected = left * right
    np.testing.assert_array_equal(made[..., 0] + 1j * made[..., 1], expected)
    assert made.dtype == np.float32
    assert made.shape == (4, 2, 3, 2)


@pytest.mark.parametrize("device", DEVICES)
def test_each_kind_of_parameter(device: str) -> None:
    matrices, vectors = np.arange(12.0).reshape(2, 3, 2), np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(
        one(F["apply"](matrices, vectors, device=device)), np.einsum("ncr,c->nr", matrices, vectors)
    )
    flags = one(F["choose"]([[True, False]], [[True], [False]], device=device))
    assert flags.dtype == np.bool_
    assert flags.tolist() == [[[False, True]], [[True, False]]]
    ray = {"origin": [[1, 2, 3], [4, 5, 6]], "hit": [True, False], "weights": [1, 2]}
    flipped = one(F["flip"](ray, device=device))
    assert flipped["hit"].tolist() == [False, True]
    assert flipped["origin"].tolist() == [[-1, -2, -3], [-4, -5, -6]]
    assert flipped["weights"].tolist() == [[1, 7], [1, 7]]
    np.testing.assert_array_equal(one(F["flip"](flipped, device=device))["hit"], ray["hit"])
    assert one(F["first_hit"]({"rays": flipped, "length": 1}, device=device)).tolist() == [False, True]


@pytest.mark.parametrize("device", DEVICES)
def test_pointers(device: str) -> None:
    bumped = several(F["bump"]([1, 2, 3], 5, device=device))
    assert bumped.result.tolist() == [101, 201, 301]  # private variables are fresh for each call
    assert bumped.p.tolist() == [6, 7, 8]
    assert bumped.names == ("result", "p")
    assert [it.tolist() for it in pickle.loads(pickle.dumps(bumped))] == [it.tolist() for it in bumped]
    assert one(F["advance"]([[1, 2, 3], [4, 5, 6]], device=device)).tolist() == [[2, 3, 4], [5, 6, 7]]
    assert one(F["in_storage"]([1, 2], device=device)).tolist() == [2, 4]
    assert one(F["in_storage"](4, device=device)) == 8
    for name in ("in_private", "in_workgroup"):
        changed = several(F[name]([5, 6.5], device=device))
        assert [it.tolist() for it in changed] == [[6, 7.5]] * 2


THREES = tinct.load("""
enable f16;
struct Body { at: vec3f, mass: f32, turn: mat2x3f, marks: array<vec3u, 2>, fixed: vec3<bool> }
fn moved(b: Body, by: vec3h) -> Body {
    var m = b;
    m.at += vec3f(by);
    m.turn[1] = b.at;
    m.marks[1].y += 1;
    m.fixed = !b.fixed;
    return m;
}
fn turned(m: mat3x3f, v: vec3f) -> mat3x3f { return mat3x3f(m * v, v, m[2]); }
fn any_negative(v: array<vec3i, 2>) -> vec3<bool> { return min(v[0], v[1]) < vec3i(0); }
fn grown(p: ptr<storage, vec3f, read_write>, m: ptr<storage, mat2x3f, read_write>) { *p = *p + (*m)[1]; (*m)[0].z = 9; }
fn five(a: vec3f, b: vec3f, c: vec3f, d: vec3f, e: vec3f, f: mat2x3f, g: vec3<bool>, h: f32) -> vec3f {
    return select(a + b + c + d + e + f[1], vec3f(h), g);
}
""").functions


@pytest.mark.parametrize("device", DEVICES)
def test_threes_lie_without_padding(device: str) -> None:
    """Vectors of three, in which WGSL pads what numpy does not."""
    three = np.arange(12, dtype=np.float32).reshape(4, 3)
    body = {"at": three, "mass": [1, 2, 3, 4], "turn": np.ones((2, 3)), "marks": np.ones((4, 2, 3), int)}
    if device != "gpu":  # which may have no f16
        moved = one(THREES["moved"](body | {"fixed": [True, False, True]}, three, device=device))
        assert moved["at"].tolist() == (2 * three).tolist() and moved["mass"].tolist() == [1, 2, 3, 4]
        assert moved["turn"][2].tolist() == [[1, 1, 1], [6, 7, 8]]
        assert moved["marks"][3].tolist() == [[1, 1, 1], [1, 2, 1]]
        assert moved["fixed"].tolist() == [[False, True, False]] * 4
    matrix = np.arange(9).reshape(3, 3)
    turned = one(THREES["turned"](matrix, three, device=device))
    np.testing.assert_array_equal(turned[:, 0], three @ matrix)
    np.testing.assert_array_equal(turned[:, 1:], np.stack([three, np.broadcast_to(matrix[2], (4, 3))], 1))
    pairs = [[[1, -2, 3], [4, 5, -6]], [[0, 0, 0], [-1, 0, 0]]]
    assert one(THREES["any_negative"](pairs, device=device)).tolist() == [[False, True, True], [True, False, False]]
    grown = several(THREES["grown"](three[:2], np.ones((2, 2, 3)), device=device))
    assert grown.p.tolist() == [[1, 2, 3], [4, 5, 6]] and grown.m.tolist() == [[[1, 1, 9], [1, 1, 1]]] * 2
    flags = [True, False, False]
    five = one(THREES["five"](*[three] * 5, np.ones((4, 2, 3)), [flags] * 4, np.arange(4), device=device))
    np.testing.assert_array_equal(five, np.where(flags, np.arange(4)[:, None], 5 * three + 1))


@pytest.mark.parametrize("device", DEVICES)
def test_more_values_than_storage_buffers(device: str) -> None:
    numbers = np.arange(3)
    made = one(F["many"](*[numbers] * 6, [True, False, True], [[1, 2, 3]] * 3, numbers, device=device))
    assert made.tolist() == [4, 118, 234]


@pytest.mark.parametrize("device", DEVICES)
def test_what_a_function_uses_besides_its_parameters(device: str) -> None:
    assert one(F["lit"]([0, 2, 1], buffers={"table": [10, 20, 30]}, device=device)).tolist() == [10, 30, 20]
    marked = one(F["mark"]([1, 1, 2], buffers={"hits": np.zeros(4, np.uint32)}, device=device))
    assert marked.tolist() == [0, 2, 1, 0]
    assert one(F["scaled"]([1, 2], constants={"scale": 3}, device=device)).tolist() == [3, 6]
    assert one(F["pass_through_room"](np.arange(70), device=device)).tolist() == list(range(1, 71))
    assert one(F["fixed"](device=device)) == 4.5


def test_more_calls_than_workgroups_in_a_row() -> None:
    count = 65_535 + 3
    made = one(F["pass_through_room"](np.arange(count)))
    np.testing.assert_array_equal(made, np.arange(1, count + 1))


def test_no_elements() -> None:
    assert one(F["cmul"](np.ones((0, 2)), [1, 1])).shape == (0, 2)
    assert one(F["flip"]({"origin": np.ones((0, 3)), "hit": True, "weights": [1, 2]})).shape == (0,)


def test_out_and_axes() -> None:
    target = np.zeros((3, 2))
    assert F["cmul"](np.ones((3, 2)), [1, 2], out=target) is target
    assert target.tolist() == [[-1, 3]] * 3
    made = one(F["cmul"](np.ones((2, 5)), [1, 1], axes=[0, 0, 0]))
    assert made.shape == (2, 5)
    matrices = np.arange(12.0).reshape(3, 2, 2)
    np.testing.assert_array_equal(
        one(F["apply"](matrices, [1, 2, 3], axes=[(0, 1), (0,), (-1,)])), np.einsum("crn,c->nr", matrices, [1, 2, 3])
    )


def test_numbers_are_converted_as_those_of_buffers() -> None:
    assert one(F["scaled"](np.float64(0.1))) == np.float32(0.1) * np.float32(2)
    assert one(F["lit"](np.int64(0), buffers={"table": [1.0]})) == 1
    with pytest.raises(tinct.InputError, match=r"^p: 1\.5 is not a whole number"):
        F["bump"](1.5, 1)
    with pytest.raises(tinct.InputError, match=r"p\[1\]: -1"):
        F["bump"]([1, -1], 1)


def test_names_signature_and_help() -> None:
    assert list(F)[:3] == ["between", "cmul", "apply"]
    assert len(F) == 20
    assert "main" not in F
    assert repr(F["cmul"]) == "<ShaderFunction fn cmul(a: vec2f, b: vec2f) -> vec2f>"
    assert F["cmul"].dimensions == "(2),(2)->(2)"
    assert F["apply"].dimensions == "(3,2),(3)->(2)"
    assert F["bump"].dimensions == "(),()->(),()"
    assert F["fixed"].dimensions == "->()"
    assert F["cmul"].__doc__ == (
        "fn cmul(a: vec2f, b: vec2f) -> vec2f\ncmul: (2),(2)->(2)\n\n"
        "Multiplies two complex numbers.\nEach is (real, imaginary)."
    )
    assert list(inspect.signature(F["cmul"]).parameters)[:3] == ["a", "b", "out"]
    assert one(F["cmul"](b=[1, 0], a=[3, 4])).tolist() == [3, 4]
    assert one(F["options"](5, 2)) == 3
    assert list(inspect.signature(F["options"]).parameters) == [
        "out",
        "device",
        "axes",
        "buffers",
        "constants",
        "timeout",
    ]


@pytest.mark.parametrize(
    ("name", "arguments", "options", "message"),
    [
        (
            "cmul",
            [np.ones((3, 2)), np.ones((4, 2))],
            {},
            "cmul: the dimensions to broadcast do not fit together\n"
            "  a: vec2<f32> has the shape (3, 2) = broadcast (3,) + own (2,)\n"
            "  b: vec2<f32> has the shape (4, 2) = broadcast (4,) + own (2,)",
        ),
        (
            "cmul",
            [np.ones(3), 1],
            {},
            "a: vec2<f32> takes an array whose last dimension is 2, not one of the shape (3,)",
        ),
        (
            "apply",
            [np.ones((2, 3)), 1],
            {},
            "m: mat3x2<f32> takes an array whose last dimensions are (3, 2), not one of",
        ),
        ("cmul", [[1, 2]], {}, "cmul: nothing is given for b: vec2<f32>"),
        ("cmul", [1, 2, 3], {}, "fn cmul(a: vec2f, b: vec2f) -> vec2f takes 2 arguments, but 3 are given"),
        ("cmul", [[1, 2]], {"a": 1}, "cmul: a is given twice, by position and by name"),
        ("bump", [1], {"bye": 3}, "bump has no parameter named 'bye'; did you mean 'by'?"),
        (
            "flip",
            [3],
            {},
            "r: Ray takes a structured array, or arrays as in {'origin': …, 'hit': …, 'weights': …}, not 3",
        ),
        ("flip", [{"origin": 1}], {}, "r: there is no value for the member 'hit' of Ray"),
        (
            "flip",
            [{"origin": [1, 2, 3], "hitt": 1, "weights": [1, 2]}],
            {},
            "r: Ray has no member 'hitt'; did you mean 'hit'?",
        ),
        (
            "flip",
            [{"origin": [[1, 2, 3]] * 3, "hit": [True] * 2, "weights": [1, 2]}],
            {},
            "r: the dimensions to broadcast",
        ),
        ("lit", [1], {}, "lit uses the bound variable 'table': give its value, as in buffers={'table': …}"),
        ("fixed", [], {"buffers": {"table": 1}}, "fixed uses no bound variable named 'table'"),
        ("scaled", [1], {"constants": {"scal": 1}}, "no override is named 'scal'; did you mean 'scale'?"),
        (
            "cmul",
            [[1, 2], [1, 2]],
            {"out": np.zeros(3)},
            "out: result is an array of float32 of the shape (2,), which does",
        ),
        ("cmul", [[1, 2], [1, 2]], {"out": 3}, "out is an array for each of result, not 3"),
        ("cmul", [[1, 2], [1, 2]], {"axes": [0]}, "axes has an entry for each of a, b, result"),
        ("cmul", [[1, 2], [1, 2]], {"axes": [(0, 1), 0]}, "axes: a has 1 axes of its own, not (0, 1)"),
        ("cmul", [[1, 2], [1, 2]], {"axes": [5, 0]}, "axes: a has the shape (2,), in which (5,) are not its own axes"),
        ("scaled", [1], {"device": "abacus"}, "no device is named 'abacus'"),
    ],
)
def test_calls_that_do_not_fit(name: str, arguments: list[object], options: dict[str, Any], message: str) -> None:
    with pytest.raises(tinct.InputError) as caught:
        F[name](*arguments, **options)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("main", "main is an entry point, which no function calls: run it as shader['main']"),
        ("cmull", "the shader has no function named 'cmull'; did you mean 'cmul'?"),
        (
            "open",
            "open cannot be called from Python: its parameter p: ptr<storage, array<f32>, read> has no fixed size",
        ),
        ("sampled", "sampled cannot be called from Python: its parameter t: texture_2d<f32> is no value"),
    ],
)
def test_functions_that_cannot_be_called(name: str, message: str) -> None:
    with pytest.raises(tinct.InputError) as caught:
        F[name]
    assert str(caught.value).startswith(message)


def test_a_function_that_only_fragments_may_call() -> None:
    slope = tinct.load("fn slope(x: f32) -> f32 { return dpdx(x); }").functions["slope"]
    with pytest.raises(tinct.ShaderError, match="dpdx"):
        slope(1.0)


def test_names_of_the_module_may_be_those_of_ours() -> None:
    shader = tinct.load("""
        struct call_f_Grid { x: f32 }
        fn call_f(call_f_: f32) -> f32 { return call_f_ + 1; }
        fn f(call_f_index: f32, result: f32) -> f32 { return call_f(call_f_index) * result; } // the end""")
    assert one(shader.functions["f"]([1, 2], 3)).tolist() == [6, 9]


def test_a_shader_without_compute_entry_points_is_true_and_has_a_length() -> None:
    shader = tinct.load("fn f() {}")
    assert shader
    assert len(shader) == 0
    assert len(SHADER) == 1


def test_names_that_mean_something_in_python() -> None:
    functions = tinct.load("""
        fn kept(in: u32) -> u32 { return in; }
        fn both(in: ptr<function, f32>, in_: f32) -> f32 { *in = in_; return in_ + 1; }
        fn counted(count: ptr<function, f32>, index: f32) -> f32 { *count = index; return 3; }
    """).functions
    assert list(inspect.signature(functions["kept"]).parameters)[:2] == ["in_", "out"]
    named: dict[str, Any] = {"in": 3}
    assert functions["kept"](in_=3, device="interp") == functions["kept"](**named, device="interp") == 3
    assert list(inspect.signature(functions["both"]).parameters)[:2] == ["in__", "in_"]
    assert several(functions["both"](in__=1, in_=2, device="interp")) == (3, 2)
    counted = several(functions["counted"](1, 2, device="interp"))
    assert counted.count == 2
    assert counted.names == pickle.loads(pickle.dumps(counted)).names == ("result", "count")
    with pytest.raises(AttributeError, match="the results are result, count, none is 'index_'"):
        _ = counted.index_
