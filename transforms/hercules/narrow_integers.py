"""8-bit and 16-bit integers in 32 bits: computed as i32 or u32, and wrapped where a result may leave their range.

In collections they take 32 bits, except in arrays of parameters, which lie in buffers: those are packed
(`packed_arrays`), and so are arrays of bools there. `packed_places` says how their elements are read and written.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from ...ir.diagnostics import ShaderError, not_supported
from ...ir.hercules import nodes as h
from ...ir.hercules.arithmetic import integer_range
from ...ir.hercules.graph import control_predecessors, is_projection, replace_all, replace_predecessor
from ...ir.hercules.inference import infer_types
from ...ir.hercules.intervals import computed
from ...ir.hercules.placement import Placement, place_nodes
from ...ir.hercules.types import F16, U16, U32, is_collection, is_scalar
from ...ir.hercules.versions import is_version_projection
from .cleanup import remove_dead
from .inline_calls import waiting_for
from .narrow_arithmetic import after_atomic, converted, same_bits, wrapped
from .packed_arrays import is_narrow, packed_constant, packed_type, widened, widened_constant, widened_type
from .packed_places import PackedPlaces, Place
from .words import Op, Words

LARGEST_COPY = 256
"""Maximum number of scalars in a part of a packed collection that is copied whole; a larger one is refused."""

_CLOSED = frozenset({h.AtomicOp.LOAD, h.AtomicOp.AND, h.AtomicOp.OR, h.AtomicOp.XOR})
"""Atomics on an element that are atomics on its word, since they change each bit by itself."""
_IN_RANGE = _CLOSED | {
    h.AtomicOp.STORE,
    h.AtomicOp.EXCHANGE,
    h.AtomicOp.MAX,
    h.AtomicOp.MIN,
    h.AtomicOp.COMPARE_EXCHANGE,
}
"""Atomics whose results in 32 bits need no wrapping."""
_WRAPPING = frozenset({Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.SHIFT_LEFT})
"""Operations on numbers in range whose result may leave the range."""


def lower_narrow_integers(function: h.Function, small: Collection[h.DynamicConstant]) -> None:
    """Change the function in place; it is in the normal form of 64-bit integers (`wide_integers`).

    Dynamic constants of the function, and the expressions `small`, are below 2^32. No call takes or gives what is
    lowered, and of an Atomic nothing is used but its two fields. Raises ShaderError for what cannot be packed.
    """
    remove_dead(function)
    lowering = _Lowering(function, frozenset(small))
    lowering.run()
    for attempt in lowering.attempts:
        attempt.repeat_in(function)
    remove_dead(function)


_THE_SAME_IN_32_BITS = (h.Unary, h.Binary, h.Select, h.Cast, h.Bitcast, h.Intrinsic)
"""What needs no change where the values are in range, besides the cases of `_scalar`."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A load of a word, and the word to store instead of it: to be repeated until no other thread comes between."""

    load: h.Atomic
    version: h.Read
    word: h.Read
    changed: h.Node

    def repeat_in(self, function: h.Function) -> None:
        """Make a loop of it, right after the control where it is placed."""
        at = place_nodes(function).place.get(self.load)
        if at is None:
            return
        loop = h.Region([at], span=self.load.span)
        later = waiting_for(function, self.load)
        for node in function.nodes:
            if at in control_predecessors(node) or (node in later and isinstance(node, h.Call) and node.control is at):
                replace_predecessor(node, at, loop)
        version = h.Phi(loop, [self.load.collection])
        self.load.collection = version
        store = h.Atomic(
            h.AtomicOp.COMPARE_EXCHANGE,
            self.version,
            list(self.load.indices),
            [self.word, self.changed],
            span=self.load.span,
        )
        after, found = (h.Read(store, [h.FieldIndex(number)]) for number in range(2))
        is_done = h.Binary(Op.EQUAL, found, self.word)
        test = h.If(loop, is_done)
        again, done = (h.Read(test, [h.ControlIndex(output)]) for output in range(2))
        for node in function.nodes:
            replace_predecessor(node, self.version, after)
            if loop in control_predecessors(node) or (isinstance(node, h.Call) and node.control is loop):
                replace_predecessor(node, loop, done)
        loop.predecessors.append(again)
        version.values.append(after)
        function.nodes += [loop, version, store, after, found, is_done, test, again, done]


@dataclass(slots=True)
class _Lowering:
    function: h.Function
    small: frozenset[h.DynamicConstant]
    placed: Placement = field(init=False)
    places: PackedPlaces = field(init=False)
    words: Words = field(default_factory=Words)
    replaced: dict[h.Node, h.Node] = field(default_factory=dict["h.Node", "h.Node"])
    attempts: list[_Attempt] = field(default_factory=list[_Attempt])
    _projections: dict[tuple[h.Node, int], list[h.Node]] = field(
        default_factory=dict["tuple[h.Node, int]", "list[h.Node]"]
    )

    def __post_init__(self) -> None:
        self.placed = place_nodes(self.function)
        self.places = PackedPlaces(self.placed, self.small, self.words, self.replaced)
        for node in self.function.nodes:
            if isinstance(node, h.Read) and isinstance(node.collection, h.Atomic) and len(node.indices) == 1:
                (index,) = node.indices
                assert isinstance(index, h.FieldIndex)
                self._projections.setdefault((node.collection, index.field), []).append(node)

    def run(self) -> None:
        function = self.function
        for node in function.nodes:
            self._pinned(node)
        for leader, nodes in self.placed.blocks.items():
            for node in nodes:
                self.words.span = node.span
                self._floating(node, leader)
        function.parameter_types = [packed_type(type) for type in function.parameter_types]
        function.nodes += self.words.made
        replace_all(function, self.replaced)
        function.nodes = [node for node in function.nodes if node not in self.replaced]
        function.return_type = self._return_type()

    def _return_type(self) -> h.Type:
        types = infer_types(self.function)
        results = [types[node.value] for node in self.function.nodes if isinstance(node, h.Return)]
        if any(it != results[0] for it in results):
            what = "results that are packed as a parameter is on some paths only, on a GPU"
            raise ShaderError([not_supported(what, None)])
        return results[0] if results else widened_type(self.function.return_type)

    def _type(self, node: h.Node) -> h.Type:
        return self.placed.types[node]

    def _is_narrow(self, node: h.Node) -> bool:
        return is_narrow(self._type(node))

    def _now(self, node: h.Node) -> h.Node:
        return self.replaced.get(node, node)

    def _pinned(self, node: h.Node) -> None:
        match node:
            case h.ConstantNode(value=value):
                is_packed = node in self.places.packed
                node.value = packed_constant(value) if is_packed else widened_constant(value)
            case h.Collect(value=value):
                type = self._type(node)
                if (node in self.places.packed or value in self.places.packed) and _changes(type):
                    raise self._refusal("an array of threads' values in place of a packed parameter", node)
            case _:
                pass

    def _refusal(self, what: str, node: h.Node) -> ShaderError:
        named = f"{what} on a GPU: the value `{node.label}`" if node.label else f"{what} on a GPU"
        return ShaderError([not_supported(named, node.span)])

    def _floating(self, node: h.Node, block: h.Node) -> None:
        match node:
            case h.ScalarNode():
                self._scalar(node, block)
            case h.Read() if not is_projection(node) and not is_version_projection(node):
                self._read(node, block)
            case h.Write():
                self._write(node, block)
            case h.Atomic():
                self._atomic(node, block)
            case h.Read() | h.Call() | h.ProductNode() | h.InputNode() | h.PinnedNode() | h.ControlNode():
                pass
            case _:
                assert_never(node)

    # Scalars

    def _scalar(self, node: h.AnyScalarNode, block: h.Node) -> None:
        type = self._type(node)
        match node:
            case h.Binary(op=op, lhs=lhs, rhs=rhs) if isinstance(type, h.Integer) and is_narrow(type):
                self._binary(node, op, (lhs, rhs), type, block)
            case h.Unary(op=op, operand=operand) if isinstance(type, h.Integer) and is_narrow(type):
                if op is h.UnaryOp.NEGATE or not type.signed:
                    self._replace(node, wrapped(self.words, self.words.unary(op, self._now(operand)), type))
            case h.Cast(operand=operand) if isinstance(type, h.Integer) and is_narrow(type):
                self._replace(node, converted(self.words, self._now(operand), self._type(operand), type))
            case h.Bitcast(operand=operand) if isinstance(type, h.Integer) and is_narrow(type):
                self._replace(node, same_bits(self.words, self._now(operand), self._type(operand), type))
            case h.Bitcast(operand=operand) if self._is_narrow(operand):
                value, source = self._now(operand), self._type(operand)
                assert isinstance(source, h.Integer)
                word = self.words.bitcast(U32, value) if source.signed else value
                self._replace(node, self.words.bitcast(F16, self.words.cast(U16, word)))
            case h.ScalarNode():
                self._check(node)
            case _:
                assert_never(node)

    def _check(self, node: h.Node) -> None:
        """Refuse an operation on narrow integers that is not known to need no wrapping."""
        if isinstance(node, _THE_SAME_IN_32_BITS):
            return
        if any(self._is_narrow(it) for it in (node, *node.inputs())):
            what = f"{type(node).__name__} of an 8-bit or 16-bit integer on a GPU: the value `{node.label}`"
            raise ShaderError([not_supported(what, node.span)])

    def _replace(self, node: h.Node, new: h.Node) -> None:
        if not new.label and not isinstance(new, h.ConstantNode):
            new.label = node.label
        if new is not node:
            self.replaced[node] = new

    def _binary(
        self, node: h.Binary, op: h.BinaryOp, operands: tuple[h.Node, h.Node], type: h.Integer, block: h.Node
    ) -> None:
        lhs, rhs = map(self._now, operands)
        if op in (Op.SHIFT_LEFT, Op.SHIFT_RIGHT):
            rhs = self.words.both(rhs, self.words.integer(widened(type), type.bits - 1))
        elif op not in _WRAPPING:
            return  # its operands are replaced, and it stays in range
        result = self.words.binary(op, lhs, rhs)
        if op in _WRAPPING and not self._stays(node, operands, type, block):
            result = wrapped(self.words, result, type)
        self._replace(node, result)

    def _stays(self, node: h.Binary, operands: Sequence[h.Node], type: h.Integer, block: h.Node) -> bool:
        """Whether the mathematical result is proved to be in range."""
        found = computed(node, [self.places.range(it, block) for it in operands])
        low, high = integer_range(type)
        return found is not None and low <= found.low and found.high <= high

    def _read(self, node: h.Read, block: h.Node) -> None:
        type = self._type(node)
        if is_collection(type):
            if _changes(type) and (self.places.is_packed(node.collection) or node in self.places.packed):
                self.replaced[node] = self._copied_part(node, type, block)
            return
        place = self.places.place(node.collection, node.indices, block)
        if place is not None:
            word = self.words.add(h.Read(node.collection, place.indices))
            self._replace(node, self.places.extracted(place, word))

    def _write(self, node: h.Write, block: h.Node) -> None:
        type = self._type(node.value)
        if is_collection(type):
            if _changes(type) and (self.places.is_packed(node) or self.places.is_packed(node.value)):
                self._replace(node, self._written_part(node, type, block))
            return
        place = self.places.place(node.collection, node.indices, block)
        if place is not None:
            self._replace(node, self.places.stored(node.collection, place, self._now(node.value)))

    # Atomics

    def _atomic(self, node: h.Atomic, block: h.Node) -> None:
        both = self._type(node)
        assert isinstance(both, h.Product)
        type = both.fields[1]
        if not isinstance(type, h.Integer) or not is_narrow(type):
            return
        place = self.places.place(node.collection, node.indices, block)
        if place is None and node.op in _IN_RANGE:
            return  # on 32 bits as it is
        place = place or Place(list(node.indices), type)
        operands = [self._now(it) for it in node.operands]
        version, word = self._atomic_on(node, place, type, operands)
        old = self.places.extracted(place, word)
        for number, new in enumerate((version, old)):
            for read in self._projections.get((node, number), ()):
                self._replace(read, new)

    def _atomic_on(
        self, node: h.Atomic, place: Place, type: h.Integer, operands: Sequence[h.Node]
    ) -> tuple[h.Node, h.Node]:
        """The collection after the atomic, and the word before."""
        words = self.words
        if self.places.is_alone:
            word = words.add(h.Read(node.collection, list(place.indices)))
            changed = self.places.inserted(
                place, word, after_atomic(words, node.op, self.places.extracted(place, word), operands, type)
            )
            return words.add(h.Write(node.collection, changed, list(place.indices))), word
        if place.shift is not None and node.op in _CLOSED:
            bits = [self.places.in_place(place, it) for it in operands]
            if node.op is h.AtomicOp.AND:
                bits = [words.either(it, self.places.others(place)) for it in bits]
            return self.places.on_word(node.op, node.collection, place, *bits)
        version, word = self.places.on_word(h.AtomicOp.LOAD, node.collection, place)
        changed = self.places.inserted(
            place, word, after_atomic(words, node.op, self.places.extracted(place, word), operands, type)
        )
        load = version.collection  # the atomic
        assert isinstance(load, h.Atomic)
        self.attempts.append(_Attempt(load, version, word, changed))
        return version, word

    # Whole parts of packed collections are copied scalar by scalar

    def _copied_part(self, node: h.Read, type: h.Type, block: h.Node) -> h.Node:
        new = packed_type(type) if node in self.places.packed else widened_type(type)
        version: h.Node = self.words.zero(new)
        if node in self.places.packed:
            self.places.packed.add(version)
        for path in self._paths(node, type):
            value = self._scalar_at(node.collection, [*node.indices, *path], block)
            version = self._scalar_to(version, type, path, value, node in self.places.packed, block)
        return version

    def _written_part(self, node: h.Write, type: h.Type, block: h.Node) -> h.Node:
        version: h.Node = node.collection
        for path in self._paths(node, type):
            value = self._scalar_at(node.value, path, block)
            indices = [*node.indices, *path]
            version = self._scalar_to(
                version, self._type(node.collection), indices, value, self.places.is_packed(node), block
            )
        return version

    def _scalar_at(self, collection: h.Node, indices: list[h.Index], block: h.Node) -> h.Node:
        place = self.places.place(collection, indices, block)
        if place is None:
            return self.words.add(h.Read(collection, indices))
        return self.places.extracted(place, self.words.add(h.Read(collection, place.indices)))

    def _scalar_to(
        self, version: h.Node, type: h.Type, indices: list[h.Index], value: h.Node, is_packed: bool, block: h.Node
    ) -> h.Node:
        place = self.places.place_in(type, indices, block) if is_packed else None
        return self.places.stored(version, place or Place(indices, type), value)

    def _paths(self, node: h.Node, type: h.Type) -> list[list[h.Index]]:
        """The indices of all scalars in a type."""
        found = list(itertools.islice(self._scalars(node, type), LARGEST_COPY + 1))
        if len(found) > LARGEST_COPY:
            raise self._refusal(f"a copy of more than {LARGEST_COPY} scalars in packed arrays", node)
        return found

    def _scalars(self, node: h.Node, type: h.Type) -> Iterator[list[h.Index]]:
        if is_scalar(type):
            yield []
        elif isinstance(type, h.Product):
            for number, field_type in enumerate(type.fields):
                yield from ([h.FieldIndex(number), *path] for path in self._scalars(node, field_type))
        elif isinstance(type, h.Array) and isinstance(type.extent, h.DynamicLiteral):
            for number in range(type.extent.value):
                first = self.words.position(number)
                yield from ([first, *path] for path in self._scalars(node, type.element))
        else:
            raise self._refusal("a copy of a packed array whose extent is not a literal", node)


def _changes(type: h.Type) -> bool:
    """Whether versions of parameters of this type are stored otherwise than other collections."""
    return packed_type(type) != widened_type(type)
