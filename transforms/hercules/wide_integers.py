"""64-bit integers as pairs of 32-bit words; the high word disappears where ranges show that the value fits 32 bits.

Each scalar of type u64 or i64 becomes a `Pair`: two nodes of type u32, of which the high one is zero, or the sign of
the low one, if the value is proved to fit (`ir/hercules/ranges`). Words that nothing uses are removed, so a position
that is computed in u64 from 32-bit values is computed in u32 afterwards. In collections a 64-bit integer is an
`array<u32, 2>`, its low word first: the same bytes.

The numbers of threads, and the dynamic constants that the function takes, are below 2^32: see `lower_integers`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from ...ir.diagnostics import ShaderError, not_supported
from ...ir.hercules import dynamic
from ...ir.hercules import nodes as h
from ...ir.hercules.graph import replace_all
from ...ir.hercules.placement import Placement, place_nodes
from ...ir.hercules.ranges import Ranges
from ...ir.hercules.types import BOOL, COMPARISONS, U32, U64, array, element_type, indexed_type, is_scalar
from .cleanup import remove_dead
from .word_pairs import Pair, PairMaker
from .words import ALL_ONES, Op, Words, literal

WORDS = array(U32, 2)
"""A 64-bit integer in a collection."""


def lower_wide_integers(function: h.Function, small: Collection[h.DynamicConstant]) -> tuple[h.Function, ...]:
    """Change the function in place; the functions that it calls from then on.

    Dynamic constants of the function, and the expressions `small`, are below 2^32. No call takes or gives a 64-bit
    integer, and no product but the result is made by a ProductNode. Raises ShaderError for atomics on 64-bit integers.
    """
    remove_dead(function)
    lowering = _Lowering(function, frozenset(small))
    lowering.run()
    remove_dead(function)
    return tuple(lowering.pairs.helpers.values())


def is_wide(type: h.Type | None) -> bool:
    """Whether it is i64 or u64."""
    return isinstance(type, h.Integer) and type.bits == 64


def narrowed_type(type: h.Type) -> h.Type:
    """The type with arrays of words in place of 64-bit integers."""
    match type:
        case h.Integer(bits=64):
            return WORDS
        case h.Product(fields=fields):
            return h.Product(tuple(map(narrowed_type, fields)))
        case h.Summation(variants=variants):
            return h.Summation(tuple(map(narrowed_type, variants)))
        case h.Array(element=element, extent=extent):
            return h.Array(narrowed_type(element), extent)
        case h.Bool() | h.Integer() | h.Float() | h.Control():
            return type
        case _:
            assert_never(type)


def _narrowed_constant(constant: h.Constant) -> h.Constant:
    match constant:
        case h.IntegerConstant(type=h.Integer(bits=64), value=value):
            words = (value & ALL_ONES, value >> 32 & ALL_ONES)
            return h.ArrayConstant(WORDS, tuple(h.IntegerConstant(U32, word) for word in words))
        case h.ProductConstant(type=type, fields=parts):
            return h.ProductConstant(narrowed_type(type), tuple(map(_narrowed_constant, parts)))
        case h.ArrayConstant(type=type, elements=parts):
            return h.ArrayConstant(narrowed_type(type), tuple(map(_narrowed_constant, parts)))
        case h.SummationConstant(type=type, variant=variant, value=value):
            return h.SummationConstant(narrowed_type(type), variant, _narrowed_constant(value))
        case h.ZeroConstant(type=type):
            return h.ZeroConstant(narrowed_type(type))
        case h.BoolConstant() | h.IntegerConstant() | h.FloatConstant():
            return constant
        case _:
            assert_never(constant)


@dataclass(slots=True)
class _Lowering:
    function: h.Function
    small: frozenset[h.DynamicConstant]
    placed: Placement = field(init=False)
    words: Words = field(default_factory=Words)
    pairs: PairMaker = field(init=False)
    values: dict[h.Node, Pair] = field(default_factory=dict["h.Node", Pair])
    replaced: dict[h.Node, h.Node] = field(default_factory=dict["h.Node", "h.Node"])
    completions: list[Callable[[], None]] = field(default_factory=list["Callable[[], None]"])
    _ranges: Ranges | None = None
    _positions: dict[tuple[h.Node, bool], h.Node] = field(default_factory=dict["tuple[h.Node, bool]", "h.Node"])
    """For each value; a Reduce has one value inside of its fork and another one after the join."""

    def __post_init__(self) -> None:
        self.placed = place_nodes(self.function)
        self.pairs = PairMaker(self.words)

    def run(self) -> None:
        function = self.function
        for node in function.nodes:
            self._begin(node)
        for leader, nodes in self.placed.blocks.items():
            for node in nodes:
                self.words.span = node.span
                self._floating(node, leader)
        for node in function.nodes:
            self.words.span = node.span
            self._end(node)
        for complete in self.completions:
            complete()
        function.parameter_types = [narrowed_type(type) for type in function.parameter_types]
        function.return_type = narrowed_type(function.return_type)
        function.nodes += self.words.made
        replace_all(function, self.replaced)
        function.nodes = [node for node in function.nodes if node not in self.replaced]

    def _type(self, node: h.Node) -> h.Type:
        return self.placed.types[node]

    def _is_wide(self, node: h.Node) -> bool:
        return is_wide(self._type(node))

    # Inputs and what is pinned: their pairs are known before those of the operands

    def _begin(self, node: h.Node) -> None:
        self.words.span = node.span
        match node:
            case h.ConstantNode(value=value):
                self._constant(node, value)
            case h.DynamicConstantNode(value=value):
                self.values[node] = self._dynamic(value, node)
            case h.ThreadID():
                self.values[node] = self.pairs.natural(self.words.cast(U32, node))
            case h.Parameter() if self._is_wide(node):
                low, high = (self.words.add(h.Read(node, [self.words.position(number)])) for number in range(2))
                self.values[node] = Pair(low, high)
            case h.Phi() if self._is_wide(node):
                self._phi(node)
            case h.Reduce() if self._is_wide(node):
                self._reduce(node)
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                pass
            case _:
                assert_never(node)

    def _constant(self, node: h.ConstantNode, value: h.Constant) -> None:
        if self._is_wide(node):
            number = literal(node)
            assert number is not None
            self.values[node] = self.pairs.constant(int(number))
        elif not is_scalar(self._type(node)):
            node.value = _narrowed_constant(value)

    def _dynamic(self, value: h.DynamicConstant, node: h.Node | None = None) -> Pair:
        """An expression of dynamic constants: a node if it is known to be below 2^32, else computed."""
        if isinstance(value, h.DynamicLiteral):
            return self.pairs.constant(value.value)
        if isinstance(value, h.DynamicParameter) or value in self.small:
            return self.pairs.natural(self.words.cast(U32, node or self.words.add(h.DynamicConstantNode(value))))
        pair = self._dynamic_binary(value.op, self._dynamic(value.lhs), self._dynamic(value.rhs))
        most = dynamic.greatest(value, ALL_ONES, dict.fromkeys(self.small, ALL_ONES))
        return self.pairs.marked(pair, is_natural=most <= ALL_ONES, is_signed=most <= ALL_ONES >> 1)

    def _dynamic_binary(self, op: h.DynamicOp, left: Pair, right: Pair) -> Pair:
        """The operation on u64; division and remainder by zero give zero."""
        pairs = self.pairs
        match op:
            case h.DynamicOp.ADD | h.DynamicOp.SUB | h.DynamicOp.MUL | h.DynamicOp.REM:
                return pairs.binary(Op(op.value), left, right, is_signed=False)
            case h.DynamicOp.DIV:
                quotient = pairs.binary(Op.DIV, left, right, is_signed=False)
                return pairs.select(pairs.is_not_zero(right), quotient, pairs.constant(0))
            case h.DynamicOp.MIN:
                return pairs.select(pairs.compare(Op.LESS, left, right, is_signed=False), left, right)
            case h.DynamicOp.MAX:
                return pairs.select(pairs.compare(Op.LESS, left, right, is_signed=False), right, left)
            case _:
                assert_never(op)

    def _phi(self, node: h.Phi) -> None:
        low = self.words.add(h.Phi(node.region, [], label=node.label))
        high = self.words.add(h.Phi(node.region, [], label=_high(node.label)))
        self.values[node] = self._known(node, Pair(low, high), self.placed.place[node])

        def complete() -> None:
            low.values = [self.values[it].low for it in node.values]
            high.values = [self.values[it].high for it in node.values]

        self.completions.append(complete)

    def _reduce(self, node: h.Reduce) -> None:
        low = self.words.add(h.Reduce(node.join, node, node, label=node.label))
        high = self.words.add(h.Reduce(node.join, node, node, label=_high(node.label)))
        self.values[node] = Pair(low, high)

        def complete() -> None:
            init, update = self.values[node.init], self.values[node.update]
            low.init, low.update = init.low, update.low
            high.init, high.update = init.high, update.high

        self.completions.append(complete)

    # What floats

    def _floating(self, node: h.Node, block: h.Node) -> None:
        match node:
            case h.ScalarNode():
                self._scalar(node, block)
            case h.Read():
                self._indices(node, block)
                if self._is_wide(node):
                    self._read(node)
            case h.Write():
                self._indices(node, block)
                if self._is_wide(node.value):
                    self._write(node)
            case h.Atomic():
                self._indices(node, block)
                if is_wide(indexed_type(self._type(node.collection), node.indices)):
                    what = f"an atomic on a 64-bit integer on a GPU: the value `{node.label or 'atomic'}`"
                    raise ShaderError([not_supported(what, node.span)])
            case h.Call() | h.ProductNode() | h.InputNode() | h.PinnedNode() | h.ControlNode():
                pass
            case _:
                assert_never(node)

    def _scalar(self, node: h.AnyScalarNode, block: h.Node) -> None:
        if self._is_wide(node):
            pair = self._known(node, self._pair(node, block), block)
            _name(node, pair)
            self.values[node] = pair
            return
        if any(self._is_wide(it) for it in node.inputs()):
            found = self._narrow_result(node, block)
            if found in self.words.made[-1:] and not found.label:
                found.label = node.label
            self.replaced[node] = found

    def _pair(self, node: h.AnyScalarNode, block: h.Node) -> Pair:
        pairs = self.pairs
        result = self._type(node)
        assert isinstance(result, h.Integer)
        match node:
            case h.Binary(op=op, lhs=lhs, rhs=rhs):
                return pairs.binary(op, self._at(lhs, block), self._at(rhs, block), is_signed=result.signed)
            case h.Unary(op=op, operand=operand):
                pair = self.values[operand]
                return pairs.negated(pair) if op is h.UnaryOp.NEGATE else pairs.complement(pair)
            case h.Select(condition=condition, if_true=if_true, if_false=if_false):
                return pairs.select(self._narrow(condition), self.values[if_true], self.values[if_false])
            case h.Cast(operand=operand) | h.Bitcast(operand=operand):
                return self._converted(operand, result)
            case h.ScalarNode():
                what = f"{type(node).__name__} of a 64-bit integer on a GPU: the value `{node.label}`"
                raise ShaderError([not_supported(what, node.span)])
            case _:
                assert_never(node)

    def _converted(self, operand: h.Node, type: h.Integer) -> Pair:
        source = self._type(operand)
        if is_wide(source):
            return self.values[operand]
        operand = self._narrow(operand)
        if isinstance(source, h.Float):
            return self.pairs.from_float(operand, source, is_signed=type.signed)
        return self.pairs.from_word(operand, source)

    def _narrow_result(self, node: h.AnyScalarNode, block: h.Node) -> h.Node:
        """An operation on 64-bit integers that gives another type."""
        type = self._type(node)
        match node:
            case h.Binary(op=op, lhs=lhs, rhs=rhs) if op in COMPARISONS:
                operands = self._at(lhs, block), self._at(rhs, block)
                return self.pairs.compare(op, *operands, is_signed=self._is_signed(lhs))
            case h.Cast(operand=operand) if type == BOOL:
                return self.pairs.is_not_zero(self._at(operand, block))
            case h.Cast(operand=operand) if isinstance(type, h.Float):
                return self.pairs.to_float(self._at(operand, block), type, is_signed=self._is_signed(operand))
            case h.Cast(operand=operand) if isinstance(type, h.Integer):
                return self.pairs.to_word(self.values[operand], type)
            case _:
                raise AssertionError("not an operation on 64-bit integers")

    def _is_signed(self, node: h.Node) -> bool:
        type = self._type(node)
        return isinstance(type, h.Integer) and type.signed

    def _narrow(self, node: h.Node) -> h.Node:
        """An operand that is no 64-bit integer, as it is now."""
        return self.replaced.get(node, node)

    # Ranges

    def _known(self, node: h.Node, pair: Pair, block: h.Node) -> Pair:
        """The pair of a node, marked by the node's range in a block."""
        if pair.is_natural and pair.is_signed:
            return pair
        if self._ranges is None:
            self._ranges = Ranges(self.placed, 32, self.small)
        found = self._ranges.at(node, block)
        return self.pairs.marked(
            pair,
            is_natural=found.low >= 0 and found.high <= ALL_ONES,
            is_signed=found.low >= -(1 << 31) and found.high < 1 << 31,
        )

    def _at(self, node: h.Node, block: h.Node) -> Pair:
        """The pair of an operand, with what the facts of the user's block say of it."""
        pair = self.values[node]
        return pair if pair.is_natural or pair.is_signed else self._known(node, pair, block)

    # Collections

    def _indices(self, node: h.Read | h.Write | h.Atomic, block: h.Node) -> None:
        """Make the positions normal."""
        type: h.Type | None = self._type(node.collection)
        indices: list[h.Index] = []
        for index in node.indices:
            inner = None if type is None else element_type(type, index)
            if isinstance(index, h.PositionIndex):
                index = h.PositionIndex(self._position(index.position, block, inner))
            indices.append(index)
            type = inner
        node.indices = indices

    def _position(self, node: h.Node, block: h.Node, element: h.Type | None) -> h.Node:
        if isinstance(node, h.ThreadID) or (isinstance(node, h.Cast) and self._type(node.operand) == U32):
            return node
        pair = self._at(node, block)
        if isinstance(node, h.ConstantNode | h.DynamicConstantNode) and pair.is_natural and self._is_small(node):
            return node
        if pair.is_signed and not pair.is_natural and _is_large(element):
            pair = self.pairs.natural(pair.low)
        key = pair.low if pair.is_natural else node, self._is_in_fork_of(node, block)
        if key not in self._positions:
            self._positions[key] = self.pairs.position(pair)
        return self._positions[key]

    def _is_in_fork_of(self, node: h.Node, block: h.Node) -> bool:
        """Whether a block is inside of the fork of a Reduce."""
        if not isinstance(node, h.Reduce) or not isinstance(node.join, h.Join):
            return False
        return self.placed.nest.forks[node.join] in self.placed.nest.around[block]

    def _is_small(self, node: h.ConstantNode | h.DynamicConstantNode) -> bool:
        if isinstance(node, h.ConstantNode):
            return True
        return isinstance(node.value, h.DynamicLiteral | h.DynamicParameter) or node.value in self.small

    def _read(self, node: h.Read) -> None:
        low, high = (
            self.words.add(h.Read(node.collection, [*node.indices, self.words.position(number)])) for number in range(2)
        )
        self.values[node] = Pair(low, high)
        _name(node, self.values[node])

    def _write(self, node: h.Write) -> None:
        pair = self.values[node.value]
        version = node.collection
        for number, word in enumerate((pair.low, pair.high)):
            version = self.words.add(h.Write(version, word, [*node.indices, self.words.position(number)]))
        version.label = node.label
        self.replaced[node] = version

    def _stored(self, node: h.Node) -> h.Node:
        """A 64-bit integer as an array of its words, in storage of its own; other values as they are."""
        if not self._is_wide(node):
            return node
        pair = self.values[node]
        version: h.Node = self.words.zero(WORDS)
        for number, word in enumerate((pair.low, pair.high)):
            version = self.words.add(h.Write(version, word, [self.words.position(number)]))
        return version

    def _end(self, node: h.Node) -> None:
        """What puts scalars into collections."""
        match node:
            case h.ProductNode(fields=fields):
                node.fields = [*map(self._stored, fields)]
            case h.Collect(value=value) | h.Return(value=value):
                node.value = self._stored(value)
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                pass
            case _:
                assert_never(node)


def _is_large(element: h.Type | None) -> bool:
    """Whether an array of such elements has at most 2^31, since a buffer has less than 2^32 bytes."""
    return not isinstance(element, h.Bool) and not (isinstance(element, h.Integer) and element.bits == 8)


def _high(label: str) -> str:
    return f"{label}_high" if label else ""


def _name(node: h.Node, pair: Pair) -> None:
    """Give the words of a value its name, where they have none."""
    if not pair.low.label and not isinstance(pair.low, h.ConstantNode):
        pair.low.label = node.label
    if not pair.high.label and not isinstance(pair.high, h.ConstantNode):
        pair.high.label = _high(node.label)


def wide_nodes(function: h.Function, types: dict[h.Node, h.Type]) -> Iterator[h.Node]:
    """The nodes of 64-bit types that break the normal form of `lower_integers`."""
    positions = {
        index.position
        for node in function.nodes
        if isinstance(node, h.Read | h.Write | h.Atomic)
        for index in node.indices
        if isinstance(index, h.PositionIndex)
    }
    for node in function.nodes:
        if is_wide(types[node]) and not _is_normal(node, types, positions):
            yield node
    yield from _operands_out_of_place(function.nodes, types)


def _is_normal(node: h.Node, types: dict[h.Node, h.Type], positions: set[h.Node]) -> bool:
    if types[node] != U64:
        return False
    match node:
        case h.ThreadID() | h.DynamicConstantNode():
            return True
        case h.ConstantNode():
            return node in positions and int(literal(node) or 0) <= ALL_ONES
        case h.Cast(operand=operand):
            return node in positions and types[operand] == U32
        case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
            return False
        case _:
            assert_never(node)


def _operands_out_of_place(nodes: Sequence[h.Node], types: dict[h.Node, h.Type]) -> Iterator[h.Node]:
    """The users of 64-bit values that are neither positions nor conversions to u32."""
    for node in nodes:
        used = [it for it in node.inputs() if is_wide(types[it])]
        if not used or (isinstance(node, h.Cast) and types[node] == U32):
            continue
        if isinstance(node, h.Read | h.Write | h.Atomic):
            places = {it.position for it in node.indices if isinstance(it, h.PositionIndex)}
            used = [it for it in used if it not in places]
        if used:
            yield node
