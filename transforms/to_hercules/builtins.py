"""Builtin functions in Hercules IR: one table from WGSL names to the functions that build their nodes.

Scalar functions become Intrinsics, component by component. All others are built here from primitive nodes, as WGSL's
"Built-in Functions" defines them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ...base.records import dataclass
from ...ir import types as wgsl
from ...ir.builtins import componentwise_builtins
from ...ir.hercules import nodes as h
from ...ir.scalars import integer_range
from . import arithmetic as a
from . import types as t
from .graph import Graph
from .values import Tree, node_of, parts_of, scalars_of


@dataclass(frozen=True, slots=True)
class BuiltinCall:
    """A call with translated arguments. `types` are the WGSL types of the arguments, `type` is the result's."""

    graph: Graph
    name: str
    arguments: Sequence[Tree]
    types: Sequence[wgsl.Type]
    type: wgsl.Type

    @property
    def scalar(self) -> wgsl.Scalar:
        """The scalar type of the first argument."""
        scalar = wgsl.scalar_of(self.types[0])
        assert scalar is not None
        return scalar

    def number(self, value: float) -> h.Node:
        """A constant of the first argument's scalar type."""
        return a.scalar_literal(self.graph, self.scalar, value)

    def op(self, op: h.BinaryOp, left: h.Node, right: h.Node) -> h.Node:
        """A Binary node."""
        return self.graph.binary(op, left, right)

    def function(self, name: str, *arguments: h.Node) -> h.Node:
        """A scalar function on the first argument's scalar type."""
        return self.graph.intrinsic(name, t.scalar_type(self.scalar), *arguments)


Lowering: TypeAlias = Callable[[BuiltinCall], Tree]

ADD, SUB, MUL, DIV = h.BinaryOp.ADD, h.BinaryOp.SUB, h.BinaryOp.MUL, h.BinaryOp.DIV
AND, OR, SHIFT_LEFT, SHIFT_RIGHT = h.BinaryOp.AND, h.BinaryOp.OR, h.BinaryOp.SHIFT_LEFT, h.BinaryOp.SHIFT_RIGHT
LESS, EQUAL = h.BinaryOp.LESS, h.BinaryOp.EQUAL


def lower(call: BuiltinCall) -> Tree | None:
    """The call's value: by the table, or an Intrinsic for each component; None for any other function."""
    lowering = _LOWERINGS.get(call.name)
    if lowering is not None:
        return lowering(call)
    return intrinsic(call) if call.name in componentwise_builtins() else None


def intrinsic(call: BuiltinCall) -> Tree:
    """An Intrinsic of the function's name for each component of the result; all of them share a scalar argument."""
    scalar = wgsl.scalar_of(call.type)
    assert scalar is not None
    type = t.scalar_type(scalar)
    if not isinstance(call.type, wgsl.Vector):
        return call.graph.intrinsic(call.name, type, *map(node_of, call.arguments))
    return tuple(
        call.graph.intrinsic(
            call.name, type, *(node_of(x[index]) if isinstance(x, tuple) else node_of(x) for x in call.arguments)
        )
        for index in range(call.type.width)
    )


# Logic


def _all(call: BuiltinCall) -> Tree:
    return _fold(call, AND)


def _any(call: BuiltinCall) -> Tree:
    return _fold(call, OR)


def _fold(call: BuiltinCall, op: h.BinaryOp) -> h.Node:
    first, *rest = scalars_of(call.arguments[0])
    for value in rest:
        first = call.op(op, first, value)
    return first


def _select(call: BuiltinCall) -> Tree:
    if_false, if_true, condition = call.arguments
    if isinstance(if_true, tuple):
        conditions = condition if isinstance(condition, tuple) else (condition,) * len(if_true)
        triples = zip(conditions, if_true, parts_of(if_false), strict=True)
        return tuple(call.graph.select(node_of(c), node_of(x), node_of(y)) for c, x, y in triples)
    return call.graph.select(node_of(condition), node_of(if_true), node_of(if_false))


# Vectors and matrices


def _dot(call: BuiltinCall) -> Tree:
    return a.dot(call.graph, *call.arguments)


def _cross(call: BuiltinCall) -> Tree:
    x, y = (tuple(scalars_of(argument)) for argument in call.arguments)

    def component(i: int, j: int) -> h.Node:
        return call.op(SUB, call.op(MUL, x[i], y[j]), call.op(MUL, x[j], y[i]))

    return (component(1, 2), component(2, 0), component(0, 1))


def _length(call: BuiltinCall) -> Tree:
    return length(call, call.arguments[0])


def length(call: BuiltinCall, vector: Tree) -> h.Node:
    """The length of a vector; the absolute value of a scalar."""
    if not isinstance(vector, tuple):
        return call.function("abs", node_of(vector))
    return call.function("sqrt", a.dot(call.graph, vector, vector))


def _distance(call: BuiltinCall) -> Tree:
    return length(call, a.componentwise(call.graph, SUB, *call.arguments))


def _normalize(call: BuiltinCall) -> Tree:
    vector = call.arguments[0]
    return a.componentwise(call.graph, DIV, vector, length(call, vector))


def _face_forward(call: BuiltinCall) -> Tree:
    e1, e2, e3 = call.arguments
    facing = call.op(LESS, a.dot(call.graph, e2, e3), call.number(0))
    return tuple(
        call.graph.select(facing, value, call.graph.unary(h.UnaryOp.NEGATE, value)) for value in scalars_of(e1)
    )


def _reflect(call: BuiltinCall) -> Tree:
    e1, e2 = call.arguments
    twice = call.op(MUL, call.number(2), a.dot(call.graph, e2, e1))
    return a.componentwise(call.graph, SUB, e1, a.componentwise(call.graph, MUL, twice, e2))


def _refract(call: BuiltinCall) -> Tree:
    e1, e2, e3 = call.arguments
    eta = node_of(e3)
    cosine = a.dot(call.graph, e2, e1)
    one = call.number(1)
    sine = call.op(MUL, call.op(MUL, eta, eta), call.op(SUB, one, call.op(MUL, cosine, cosine)))
    k = call.op(SUB, one, sine)
    factor = call.op(ADD, call.op(MUL, eta, cosine), call.function("sqrt", k))
    through = a.componentwise(
        call.graph, SUB, a.componentwise(call.graph, MUL, eta, e1), a.componentwise(call.graph, MUL, factor, e2)
    )
    reflected = call.op(LESS, k, call.number(0))
    return tuple(call.graph.select(reflected, call.number(0), value) for value in scalars_of(through))


def _transpose(call: BuiltinCall) -> Tree:
    return a.transpose(call.arguments[0])


def _determinant(call: BuiltinCall) -> Tree:
    return _minor(call, [tuple(scalars_of(column)) for column in parts_of(call.arguments[0])])


def _minor(call: BuiltinCall, columns: list[tuple[h.Node, ...]]) -> h.Node:
    """The determinant by expansion along the first column."""
    if len(columns) == 1:
        return columns[0][0]
    result: h.Node | None = None
    for row, value in enumerate(columns[0]):
        inner = [column[:row] + column[row + 1 :] for column in columns[1:]]
        term = call.op(MUL, value, _minor(call, inner))
        result = term if result is None else call.op(SUB if row % 2 else ADD, result, term)
    assert result is not None
    return result


# Splitting floats


def _modf(call: BuiltinCall) -> Tree:
    argument = call.arguments[0]
    whole = a.map_scalars(lambda x: call.function("trunc", x), argument)
    return (a.map_scalars(lambda x: _fraction(call, x), argument), whole)


def _fraction(call: BuiltinCall, value: h.Node) -> h.Node:
    """X - trunc(x); zero for an infinity, whose difference would be a NaN."""
    whole = call.function("trunc", value)
    infinite = call.op(EQUAL, call.function("abs", value), call.number(float("inf")))
    return call.graph.select(infinite, call.number(0), call.op(SUB, value, whole))


def _frexp(call: BuiltinCall) -> Tree:
    argument = call.arguments[0]
    return (
        a.map_scalars(lambda x: _frexp_scalar(call, x)[0], argument),
        a.map_scalars(lambda x: _frexp_scalar(call, x)[1], argument),
    )


def _frexp_scalar(call: BuiltinCall, value: h.Node) -> tuple[h.Node, h.Node]:
    """Fraction in ±[0.5, 1) and exponent, from the bits of an f32: a subnormal is scaled by 2²⁴ first."""
    g = call.graph
    wide = g.cast(t.F32, value) if call.scalar is wgsl.F16 else value
    tiny = g.binary(LESS, g.intrinsic("abs", t.F32, wide), g.floating(t.F32, 2.0**-126))
    scaled = g.select(tiny, g.binary(MUL, wide, g.floating(t.F32, 2.0**24)), wide)
    bits = g.bitcast(t.U32, scaled)
    biased = g.binary(AND, g.binary(SHIFT_RIGHT, bits, g.u32(23)), g.u32(0xFF))
    bias = g.select(tiny, g.u32(126 + 24), g.u32(126))
    exponent = g.bitcast(t.I32, g.binary(SUB, biased, bias))
    mantissa = g.binary(OR, g.binary(AND, bits, g.u32(0x807FFFFF)), g.u32(0x3F000000))
    special = g.binary(OR, g.binary(EQUAL, wide, g.floating(t.F32, 0.0)), g.binary(EQUAL, biased, g.u32(0xFF)))
    fraction = g.select(special, wide, g.bitcast(t.F32, mantissa))
    if call.scalar is wgsl.F16:
        fraction = g.cast(t.F16, fraction)
    return fraction, g.select(special, g.integer(t.I32, 0), exponent)


def _quantize(call: BuiltinCall) -> Tree:
    return a.map_scalars(lambda x: call.graph.cast(t.F32, call.graph.cast(t.F16, x)), call.arguments[0])


# Bits


def to_words(graph: Graph, value: Tree, scalar: wgsl.Scalar) -> list[h.Node]:
    """The bits of a scalar or vector as u32 words, two f16 to a word, low half first."""
    parts = list(scalars_of(value))
    if scalar is not wgsl.F16:
        return [part if scalar is wgsl.U32 else graph.bitcast(t.U32, part) for part in parts]
    halves = [graph.cast(t.U32, graph.bitcast(t.U16, part)) for part in parts]
    pairs = zip(halves[::2], halves[1::2], strict=True)
    return [graph.binary(OR, low, graph.binary(SHIFT_LEFT, high, graph.u32(16))) for low, high in pairs]


def from_words(graph: Graph, words: Sequence[h.Node], scalar: wgsl.Scalar) -> list[h.Node]:
    """The inverse of `to_words`."""
    if scalar is wgsl.F16:
        return [half for word in words for half in _halves(graph, word)]
    return [word if scalar is wgsl.U32 else graph.bitcast(t.scalar_type(scalar), word) for word in words]


def _halves(graph: Graph, word: h.Node) -> tuple[h.Node, h.Node]:
    low = graph.bitcast(t.F16, graph.cast(t.U16, graph.binary(AND, word, graph.u32(0xFFFF))))
    high = graph.bitcast(t.F16, graph.cast(t.U16, graph.binary(SHIFT_RIGHT, word, graph.u32(16))))
    return low, high


def _bitcast(call: BuiltinCall) -> Tree:
    source, target = call.scalar, wgsl.scalar_of(call.type)
    assert target is not None
    if source is wgsl.F16 and target is wgsl.F16:
        return call.arguments[0]
    scalars = from_words(call.graph, to_words(call.graph, call.arguments[0], source), target)
    return tuple(scalars) if isinstance(call.type, wgsl.Vector) else scalars[0]


@dataclass(frozen=True, slots=True)
class Packing:
    """How `packNxM…` lays out the lanes of a word: each is `bits` wide, and `signed` or not. `normalized` lanes hold
    floats, of which 1.0 is stored as the largest integer. With `clamps`, integers are clamped to the lane's range.
    """

    bits: int
    signed: bool
    normalized: bool = False
    clamps: bool = False

    @property
    def count(self) -> int:
        """Number of lanes in a word."""
        return 32 // self.bits

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest integer of a lane."""
        return integer_range(self.bits, signed=self.signed)

    def pack(self, call: BuiltinCall) -> Tree:
        """The word of a vector's lanes, the first in the lowest bits."""
        g, word = call.graph, None
        for index, value in enumerate(scalars_of(call.arguments[0])):
            lane = g.binary(AND, self._encode(call, value), g.u32((1 << self.bits) - 1))
            lane = g.binary(SHIFT_LEFT, lane, g.u32(index * self.bits)) if index else lane
            word = lane if word is None else g.binary(OR, word, lane)
        assert word is not None
        return word

    def _encode(self, call: BuiltinCall, value: h.Node) -> h.Node:
        g = call.graph
        least, most = self.limits
        if self.normalized:
            low = g.floating(t.F32, -1.0 if self.signed else 0.0)
            clamped = g.intrinsic("clamp", t.F32, value, low, g.floating(t.F32, 1.0))
            scaled = g.binary(MUL, clamped, g.floating(t.F32, float(most)))
            rounded = g.intrinsic("floor", t.F32, g.binary(ADD, scaled, g.floating(t.F32, 0.5)))
            return g.bitcast(t.U32, g.cast(t.I32, rounded))
        if self.clamps:
            value = call.function("clamp", value, call.number(least), call.number(most))
        return g.bitcast(t.U32, value) if self.signed else value

    def unpack(self, call: BuiltinCall) -> Tree:
        """The lanes of a word."""
        word = node_of(call.arguments[0])
        return tuple(self._decode(call.graph, word, index) for index in range(self.count))

    def _decode(self, g: Graph, word: h.Node, index: int) -> h.Node:
        scalar = t.I32 if self.signed else t.U32
        top = g.binary(SHIFT_LEFT, word, g.u32(32 - self.bits * (index + 1)))
        top = g.bitcast(t.I32, top) if self.signed else top
        lane = g.binary(SHIFT_RIGHT, top, g.integer(scalar, 32 - self.bits))
        if not self.normalized:
            return lane
        value = g.binary(DIV, g.cast(t.F32, lane), g.floating(t.F32, float(self.limits[1])))
        return g.intrinsic("max", t.F32, value, g.floating(t.F32, -1.0)) if self.signed else value


def _pack_half(call: BuiltinCall) -> Tree:
    halves = tuple(call.graph.cast(t.F16, x) for x in scalars_of(call.arguments[0]))
    return to_words(call.graph, halves, wgsl.F16)[0]


def _unpack_half(call: BuiltinCall) -> Tree:
    return tuple(call.graph.cast(t.F32, half) for half in _halves(call.graph, node_of(call.arguments[0])))


_PACKINGS = {
    "4x8snorm": Packing(8, signed=True, normalized=True),
    "4x8unorm": Packing(8, signed=False, normalized=True),
    "2x16snorm": Packing(16, signed=True, normalized=True),
    "2x16unorm": Packing(16, signed=False, normalized=True),
    "4xI8": Packing(8, signed=True),
    "4xU8": Packing(8, signed=False),
    "4xI8Clamp": Packing(8, signed=True, clamps=True),
    "4xU8Clamp": Packing(8, signed=False, clamps=True),
}

_LOWERINGS: dict[str, Lowering] = {
    "all": _all,
    "any": _any,
    "select": _select,
    "dot": _dot,
    "cross": _cross,
    "length": _length,
    "distance": _distance,
    "normalize": _normalize,
    "faceForward": _face_forward,
    "reflect": _reflect,
    "refract": _refract,
    "transpose": _transpose,
    "dot4U8Packed": intrinsic,
    "dot4I8Packed": intrinsic,
    "determinant": _determinant,
    "modf": _modf,
    "frexp": _frexp,
    "quantizeToF16": _quantize,
    "bitcast": _bitcast,
    "pack2x16float": _pack_half,
    "unpack2x16float": _unpack_half,
    **{f"pack{name}": packing.pack for name, packing in _PACKINGS.items()},
    **{f"unpack{name}": packing.unpack for name, packing in _PACKINGS.items() if not packing.clamps},
}
