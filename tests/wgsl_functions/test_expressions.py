"""Values of constant expressions."""

from __future__ import annotations

import numpy as np
import pytest

import tinct


@pytest.mark.parametrize(
    ("text", "value", "dtype"),
    [
        ("vec3f(1) * 2", [2, 2, 2], np.float32),
        ("vec2(1, 2)", [1, 2], np.int64),
        ("vec2(1, 2.5)", [1, 2.5], np.float64),
        ("mat2x3f(1, 2, 3, 4, 5, 6)", [[1, 2, 3], [4, 5, 6]], np.float32),
        ("array(vec2u(1, 2), vec2u(3, 4))", [[1, 2], [3, 4]], np.uint32),
        ("2u", 2, np.uint32),
        ("vec2<bool>(true, false)", [True, False], np.bool_),
        ("vec3f() // zeros", [0, 0, 0], np.float32),
    ],
)
def test_values(text: str, value: object, dtype: type) -> None:
    found = np.asarray(tinct.evaluate(text))
    np.testing.assert_array_equal(found, value)
    assert found.dtype == dtype


@pytest.mark.parametrize(("text", "value"), [("1 + 1", 2), ("1.5", 1.5), ("2 > 1", True)])
def test_numbers_of_python(text: str, value: object) -> None:
    found = tinct.evaluate(text)
    assert found == value
    assert type(found) is type(value)


def test_declarations_of_a_shader() -> None:
    shader = tinct.load("""
        const N = 5; override n = N;
        struct Ray { origin: vec3f, hit: bool }
        const value_of_expression = 3;""")
    assert shader.evaluate("N * value_of_expression") == 15
    ray = np.asarray(shader.evaluate("Ray(vec3f(1), true)"))
    assert ray["hit"]
    assert ray["origin"].tolist() == [1, 1, 1]
    with pytest.raises(tinct.ShaderError, match="<expression>:1:1"):
        shader.evaluate("n + 1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 +", "<expression>:1:4"),
        ("x", "unresolved identifier 'x'"),
        ("1; fn f() {}", "<expression>:1:2"),
        ("", "expected an expression"),
        ("1 / 0", "integer division by zero"),
    ],
)
def test_mistakes_have_their_place_in_the_expression(text: str, message: str) -> None:
    with pytest.raises(tinct.ShaderError) as caught:
        tinct.evaluate(text)
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["1); const y = (2", "1); const_assert (true", 3])
def test_what_is_no_expression(text: str) -> None:
    with pytest.raises(tinct.InputError, match="expression"):
        tinct.evaluate(text)
