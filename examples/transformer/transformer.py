"""A transformer block: attention of several heads, then two layers with a GELU between, each normalised and added."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tinct
from tinct.graphs import zeros

SHADER = tinct.load(Path(__file__).with_suffix(".wgsl"))
normalise, linear, score, softmax, mix_values, gelu, add = (
    SHADER[name] for name in ("normalise", "linear", "score", "softmax", "mix_values", "gelu", "add")
)

ACCURACY = {"rtol": 1e-4, "atol": 1e-4}
"""Sums of some hundred products in f32, of numbers around 1, one after another; and exp, tanh and inverseSqrt."""

Array = npt.NDArray[Any]


def layer(source: Any, weights: Any, bias: Any, rows: Any, inputs: Any) -> Any:
    """A linear layer; it has as many outputs as numbers in its bias."""
    shape = {"rows": rows, "inputs": inputs, "outputs": bias.length}
    buffers = {"shape": shape, "source": source, "weights": weights, "bias": bias}
    return linear(buffers | {"result": zeros(rows * bias.length)}, threads=(bias.length, rows))["result"]


@tinct.graph
def attend(activations, attention_weights, attention_bias, mixing_weights, mixing_bias, tokens, heads):
    width = mixing_bias.length
    shape = {"tokens": tokens, "heads": heads, "channels": width // heads}
    triples = layer(activations, attention_weights, attention_bias, tokens, width)
    buffers = {"heads": shape, "queries_keys_values": triples}
    rows = heads * tokens
    scores = score(buffers | {"scores": zeros(rows * tokens)}, threads=(tokens, tokens, heads))["scores"]
    shares = softmax({"row_length": tokens, "shares": scores}, workgroups=rows)["shares"]
    mixed = mix_values(buffers | {"attention": shares, "mixture": zeros(tokens * width)}, threads=(width, tokens))
    return {"change": layer(mixed["mixture"], mixing_weights, mixing_bias, tokens, width)}


@tinct.graph
def think(activations, up_weights, up_bias, down_weights, down_bias, tokens):
    hidden = layer(activations, up_weights, up_bias, tokens, down_bias.length)
    active = gelu({"hidden": hidden}, threads=tokens * up_bias.length)["hidden"]
    return {"change": layer(active, down_weights, down_bias, tokens, up_bias.length)}


@tinct.graph
def transformer(
    activations,
    first_gains,
    first_shifts,
    attention_weights,
    attention_bias,
    mixing_weights,
    mixing_bias,
    second_gains,
    second_shifts,
    up_weights,
    up_bias,
    down_weights,
    down_bias,
    tokens,
    heads,
):
    size = tokens * first_gains.length

    def normal(values: Any, gains: Any, shifts: Any) -> Any:
        buffers = {"activations": values, "gains": gains, "shifts": shifts, "normalised": zeros(size)}
        return normalise(buffers, workgroups=tokens)["normalised"]

    attended = attend(
        {
            "activations": normal(activations, first_gains, first_shifts),
            "attention_weights": attention_weights,
            "attention_bias": attention_bias,
            "mixing_weights": mixing_weights,
            "mixing_bias": mixing_bias,
            "tokens": tokens,
            "heads": heads,
        }
    )
    middle = add({"change": attended["change"], "total": activations}, threads=size)["total"]
    thought = think(
        {
            "activations": normal(middle, second_gains, second_shifts),
            "up_weights": up_weights,
            "up_bias": up_bias,
            "down_weights": down_weights,
            "down_bias": down_bias,
            "tokens": tokens,
        }
    )
    return {"activations": add({"change": thought["change"], "total": middle}, threads=size)["total"]}


GRAPH = transformer


def inputs(random: np.random.Generator) -> dict[str, Any]:
    return parameters(random, tokens=13, width=36, heads=3)


def parameters(random: np.random.Generator, *, tokens: int, width: int, heads: int) -> dict[str, Any]:
    """Random activations and weights, of sizes that keep the variance of what goes through them at about 1."""

    def normal(*shape: int) -> Array:
        scale = shape[0] ** -0.5 if len(shape) == 2 else 0.1
        return (scale * random.standard_normal(shape)).astype(np.float32)

    return {
        "activations": random.standard_normal((tokens, width)).astype(np.float32),
        "first_gains": 1 + normal(width),
        "first_shifts": normal(width),
        "attention_weights": normal(width, 3 * width),
        "attention_bias": normal(3 * width),
        "mixing_weights": normal(width, width),
        "mixing_bias": normal(width),
        "second_gains": 1 + normal(width),
        "second_shifts": normal(width),
        "up_weights": normal(width, 4 * width),
        "up_bias": normal(4 * width),
        "down_weights": normal(4 * width, width),
        "down_bias": normal(width),
        "tokens": tokens,
        "heads": heads,
    }


def in_order(session: tinct.Session, given: dict[str, Any]) -> dict[str, tinct.Buffer]:
    """The same as a sequence of dispatches in a session."""
    tokens, heads, (width,) = given["tokens"], given["heads"], given["mixing_bias"].shape
    flat = {name: array.ravel() for name, array in given.items() if isinstance(array, np.ndarray)}
    rows = heads * tokens

    def normal(values: tinct.Buffer, gains: str, shifts: str) -> tinct.Buffer:
        buffers = {
            "activations": values,
            "gains": flat[gains],
            "shifts": flat[shifts],
            "normalised": (None, tokens * width),
        }
        return session.run(normalise, buffers, workgroups=tokens)["normalised"]

    def through(source: tinct.Buffer, weights: str, bias: str) -> tinct.Buffer:
        inputs, outputs = given[weights].shape
        shape = {"rows": tokens, "inputs": inputs, "outputs": outputs}
        buffers = {"shape": shape, "source": source, "weights": flat[weights], "bias": flat[bias]}
        return session.run(linear, buffers | {"result": (None, tokens * outputs)}, threads=(outputs, tokens))["result"]

    total = session.buffer(flat["activations"])
    triples = through(normal(total, "first_gains", "first_shifts"), "attention_weights", "attention_bias")
    shape = {"tokens": tokens, "heads": heads, "channels": width // heads}
    buffers = {"heads": shape, "queries_keys_values": triples}
    scored = session.run(score, buffers | {"scores": (None, rows * tokens)}, threads=(tokens, tokens, heads))
    session.run(softmax, {"row_length": tokens, "shares": scored["scores"]}, workgroups=rows)
    buffers |= {"attention": scored["scores"], "mixture": (None, tokens * width)}
    mixed = session.run(mix_values, buffers, threads=(width, tokens))["mixture"]
    session.run(add, {"change": through(mixed, "mixing_weights", "mixing_bias"), "total": total}, threads=total.shape)
    hidden = through(normal(total, "second_gains", "second_shifts"), "up_weights", "up_bias")
    session.run(gelu, {"hidden": hidden}, threads=hidden.shape)
    session.run(add, {"change": through(hidden, "down_weights", "down_bias"), "total": total}, threads=total.shape)
    return {"activations": total}


def reference(given: dict[str, Any]) -> dict[str, Array]:
    """The block in double precision."""
    it = {name: np.asarray(array, np.float64) for name, array in given.items()}
    tokens, heads = given["tokens"], given["heads"]
    rows = normal_rows(it["activations"], it["first_gains"], it["first_shifts"])
    triples = (rows @ it["attention_weights"] + it["attention_bias"]).reshape(tokens, 3, heads, -1)
    queries, keys, values = np.moveaxis(triples, (1, 2), (0, 1))
    scores = queries @ keys.transpose(0, 2, 1) / np.sqrt(queries.shape[2])
    powers = np.exp(scores - scores.max(2, keepdims=True))
    mixed = powers / powers.sum(2, keepdims=True) @ values
    middle = it["activations"] + mixed.transpose(1, 0, 2).reshape(tokens, -1) @ it["mixing_weights"] + it["mixing_bias"]
    hidden = normal_rows(middle, it["second_gains"], it["second_shifts"]) @ it["up_weights"] + it["up_bias"]
    active = 0.5 * hidden * (1 + np.tanh(np.sqrt(2 / np.pi) * (hidden + 0.044715 * hidden**3)))
    return {"activations": middle + active @ it["down_weights"] + it["down_bias"]}


def normal_rows(rows: Array, gains: Array, shifts: Array) -> Array:
    centred = rows - rows.mean(1, keepdims=True)
    return centred / np.sqrt(rows.var(1, keepdims=True) + 1e-5) * gains + shifts


if __name__ == "__main__":
    data = inputs(np.random.default_rng(0))
    found, expected = GRAPH.run(data)["activations"].ravel(), reference(data)["activations"].ravel()
    np.testing.assert_allclose(found, expected, **ACCURACY)
    print("largest error:", abs(found - expected).max())
