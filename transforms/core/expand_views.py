"""Makes buffers arrays of words, and what is loaded and stored through views of them conversions of words.

For compilers without views (WGSL, "Buffer View Built-in Functions"). Offsets are treated as the interpreter does
(`ir.core.interp_views`). Halves of words are stored by two atomic operations, so that a neighbour in the same word
keeps its value; a buffer to which some are stored has atomic words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from ...base.records import dataclass, replace
from ...ir import layout
from ...ir.builtins.buffer_views import VIEWS, least_size
from ...ir.core import nodes
from ...ir.core.builder import Builder, constant, u32
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.diagnostics import ShaderError, not_supported
from ...ir.ops import BinaryOp
from ...ir.types import (
    F16,
    F32,
    U32,
    AddressSpace,
    Array,
    Atomic,
    Buffer,
    Matrix,
    Pointer,
    Scalar,
    Struct,
    Type,
    Vector,
    array,
    atomic,
    element_count,
    element_type,
    pointer,
    vector,
    walk,
)
from .editing import as_u32
from .replacing import copy_constant
from .replacing import replace as replace_value

MOST_SCALARS = 1024
"""The maximum number of scalars of a value that is loaded or stored whole."""


@dataclass(frozen=True)
class ExpandViews:
    """Replaces buffers and all views of them, and inlines calls in a module that has some. Run it when overrides have
    values. Raises ShaderError for values of too many scalars.

    A buffer in `uniform` memory becomes an array of rows of 16 bytes, as WGSL asks for, so that a binding must be
    rounded up to whole rows; or of words, for compilers that lay out uniform memory like any other.
    """

    uniform: Literal["rows", "words"] = "rows"

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "expand_views"

    def run(self, module: nodes.Module) -> bool:
        """Whether there was a buffer."""
        buffers = [it for it in module.root.instructions if _buffer_of(it.type) is not None]
        if not buffers:
            return False
        _settle_lengths(module)
        from .inline import Inline

        Inline().run(module)
        sizes = _declare(module, buffers, self.uniform)
        for function in module.functions:
            _Expansion(module, sizes).expand(function)
        return True


def has_buffers(module: nodes.Module) -> bool:
    """Whether a variable is a buffer."""
    return any(_buffer_of(it.type) is not None for it in module.root.instructions)


def _buffer_of(type: Type) -> Buffer | None:
    return type.store if isinstance(type, Pointer) and isinstance(type.store, Buffer) else None


def _instructions(module: nodes.Module) -> Sequence[nodes.Instruction]:
    return [it for function in module.functions for block in blocks_of(function) for it in block.instructions]


def _settle_lengths(module: nodes.Module) -> None:
    """Replace the lengths of buffers of fixed size, before inlining passes larger ones to where they are asked for."""
    for call in _instructions(module):
        if isinstance(call, nodes.BuiltinCall) and call.function == "bufferLength":
            buffer = _buffer_of(call.arguments[0].type)
            if buffer is not None and isinstance(buffer.size, int):
                replace_value(call, u32(buffer.size))


def _declare(
    module: nodes.Module, buffers: Sequence[nodes.Instruction], uniform: Literal["rows", "words"]
) -> dict[Value, int | None]:
    """Make the buffers arrays of words. Returns their sizes in bytes, None for what a dispatch decides."""
    stores = [it for it in _instructions(module) if isinstance(it, nodes.Store)]
    atomics = {_root(it.pointer) for it in stores if F16 in walk(it.value.type)}
    sizes: dict[Value, int | None] = {}
    for variable in buffers:
        assert isinstance(variable.type, Pointer)
        assert isinstance(variable.type.store, Buffer)
        space, size = variable.type.space, variable.type.store.size
        sizes[variable] = size if isinstance(size, int) else None
        word: Type = atomic(U32) if variable in atomics else U32
        if space is AddressSpace.UNIFORM and uniform == "rows":
            word = _ROW
        count = -(-size // layout.size_of(word)) if isinstance(size, int) else None
        variable.type = pointer(space, array(word, count), variable.type.access)
    return sizes


_WORD = 4
_ROW = vector(4, U32)
"""The elements of arrays in uniform memory are a multiple of 16 bytes (WGSL, "Address Space Layout Constraints")."""


def _root(value: Value) -> Value:
    """The variable or parameter that a pointer or a view is into."""
    while True:
        match value:
            case nodes.Access(object=object):
                value = object
            case nodes.BuiltinCall(function=name, arguments=arguments) if name in VIEWS:
                value = arguments[0]
            case _:
                return value


@dataclass(frozen=True)
class _Place:
    """A part of a buffer: `offset` in bytes, and the `size` that a runtime-sized array in it ends at, from there on.
    `exists` is None for a view that is sure to fit.
    """

    words: Value
    type: Type
    offset: Value
    size: Value | None
    exists: Value | None


class _Expansion:
    def __init__(self, module: nodes.Module, sizes: dict[Value, int | None]) -> None:
        self.builder = Builder(module)
        self.sizes = sizes
        self.views: dict[Value, _Place] = {}

    def expand(self, function: nodes.Function) -> None:
        """Rewrite a function; views and pointers into them are dropped."""
        gone: list[nodes.Instruction] = []
        for block in blocks_of(function):
            before, branch = block.instructions, block.branch
            block.instructions, block.branch = [], None
            with self.builder.at(block):
                for instruction in before:
                    self.builder.span = instruction.span
                    if _root(instruction) is not instruction and _root(instruction) in self.sizes:
                        gone.append(instruction)
                        self._view(instruction)
                    elif not self._rewrite(instruction):
                        self.builder.append(instruction)
                    else:
                        gone.append(instruction)
                assert self.builder.block is not None
                self.builder.block.branch = branch
        for instruction in reversed(gone):
            instruction.drop_operands()

    # Views

    def _view(self, instruction: nodes.Instruction) -> None:
        """Note what a view is, where it is made: a pointer into one is computed at each use."""
        if not isinstance(instruction, nodes.BuiltinCall):
            return
        root, type = _root(instruction), instruction.type
        assert isinstance(type, Pointer)
        store, length, least = type.store, self._length(root), least_size(type.store)
        offset = as_u32(self.builder, instruction.arguments[1])
        exists = None
        if self.sizes[root] is None:
            exists = self._op(BinaryOp.GREATER_EQUAL, length, u32(least))
        room = self._op(BinaryOp.SUBTRACT, length, u32(least))
        begin = self._op(BinaryOp.AND, self._min(offset, room), u32(-layout.align_of(store) & 0xFFFFFFFF))
        size = None
        if layout.runtime_array(store) is not None:
            size = self._op(BinaryOp.SUBTRACT, length, begin)
        if size is not None and len(instruction.arguments) > 2:
            given = self._min(as_u32(self.builder, instruction.arguments[2]), size)
            size = self.builder.builtin_call("max", [given, u32(least)])
        self.views[instruction] = _Place(root, store, begin, size, exists)

    def _length(self, root: Value) -> Value:
        """The number of bytes of a buffer."""
        known = self.sizes[root]
        if known is not None:
            return u32(known)
        return self._times(self.builder.builtin_call("arrayLength", [root]), _WORD)

    def _place(self, pointer: Value) -> _Place:
        """What a pointer into a view points to."""
        if not isinstance(pointer, nodes.Access):
            return self.views[pointer]
        place = self._place(pointer.object)
        for index in pointer.indices:
            place = self._part(place, index)
        return place

    def _part(self, place: _Place, index: Value) -> _Place:
        type, known = place.type, index.value.value if isinstance(index, nodes.Constant) else 0
        position = known if isinstance(type, Struct) and isinstance(known, int) else 0
        part = element_type(type, position)
        assert part is not None
        if isinstance(type, Struct):
            start, size = layout.member_offsets(type)[position], place.size
            if size is not None and layout.runtime_array(part) is not None:
                size = self._op(BinaryOp.SUBTRACT, size, u32(start))
            return replace(place, type=part, offset=self._plus(place.offset, start), size=size)
        index = copy_constant(index) if isinstance(index, nodes.Constant) else index
        count = element_count(type)
        last = u32(count - 1) if isinstance(count, int) else self._last(place)
        at = self._times(self._min(as_u32(self.builder, index), last), _stride(type))
        return replace(place, type=part, offset=self._op(BinaryOp.ADD, place.offset, at), size=None)

    def _last(self, place: _Place) -> Value:
        return self._op(BinaryOp.SUBTRACT, self._count(place), u32(1))

    def _count(self, place: _Place) -> Value:
        """The number of elements of the runtime-sized array at a place, at least one where the view exists."""
        assert isinstance(place.type, Array)
        assert place.size is not None
        return self._op(BinaryOp.DIVIDE, place.size, u32(layout.stride_of(place.type)))

    # What uses them

    def _rewrite(self, instruction: nodes.Instruction) -> bool:
        """Whether an instruction was replaced."""
        if isinstance(instruction, nodes.Load) and self._is_inside(instruction.pointer):
            replace_value(instruction, self._value(self._place(instruction.pointer), self._load))
        elif isinstance(instruction, nodes.Store) and self._is_inside(instruction.pointer):
            place, value = self._place(instruction.pointer), instruction.value
            self._guarded(place.exists, lambda: self._store(place, value))
        elif isinstance(instruction, nodes.BuiltinCall) and self._is_on_view(instruction):
            replace_value(instruction, self._answer(instruction.function, instruction.arguments[0]))
        else:
            self._check(instruction)
            return False
        return True

    def _is_on_view(self, call: nodes.BuiltinCall) -> bool:
        """Whether a call asks about a buffer or loads of a view."""
        if call.function == "bufferLength":
            return True
        return call.function in ("arrayLength", "workgroupUniformLoad") and self._is_inside(call.arguments[0])

    def _answer(self, function: str, pointer: Value) -> Value:
        if function == "bufferLength":
            return self._length(pointer)
        place = self._place(pointer)
        if function == "arrayLength":
            return self._if_exists(place, self._count(place), u32(1))
        return self._value(place, self._uniform_load)

    def _is_inside(self, pointer: Value) -> bool:
        return _root(pointer) in self.sizes and pointer not in self.sizes

    def _check(self, instruction: nodes.Instruction) -> None:
        if any(_root(it) in self.sizes and (it in self.sizes or self._is_inside(it)) for it in instruction.operands):
            raise ShaderError([not_supported("a view of a buffer that is passed on", instruction.span)])

    def _guarded(self, condition: Value | None, build: Callable[[], None]) -> None:
        if condition is None:
            build()
            return
        node = self.builder.enter_if(condition)
        merge = node.merge_target
        assert merge is not None
        with self.builder.at(node.true_target):
            build()
            self.builder.branch(merge)
        with self.builder.at(node.false_target):
            self.builder.branch(merge)
        self.builder.block = merge

    def _if_exists(self, place: _Place, value: Value, zero: Value) -> Value:
        if place.exists is None:
            return value
        return self.builder.builtin_call("select", [zero, value, place.exists])

    # Values

    def _value(self, place: _Place, load: Callable[[Value], Value]) -> Value:
        """The value at a place, of words that `load` gives for pointers to them."""
        if isinstance(place.type, Scalar):
            return self._scalar(place, place.type, load)
        parts = [self._value(it, load) for it in self._parts(place)]
        return self.builder.construct(place.type, parts)

    def _parts(self, place: _Place) -> list[_Place]:
        count = len(place.type.members) if isinstance(place.type, Struct) else element_count(place.type)
        if not isinstance(count, int) or layout.size_of(place.type) > MOST_SCALARS * _WORD:
            what = f"a view's value of type '{place.type}' at once: at most {MOST_SCALARS * _WORD} bytes are"
            raise ShaderError([not_supported(what, self.builder.span)])
        return [self._part(place, u32(index)) for index in range(count)]

    def _scalar(self, place: _Place, type: Scalar, load: Callable[[Value], Value]) -> Value:
        word = self._if_exists(place, load(self._word(place)), u32(0))
        if type is not F16:
            return word if type is U32 else self.builder.builtin_call("bitcast", [word], template_arguments=[type])
        half = self._op(BinaryOp.SHIFT_RIGHT, word, self._shift(place))
        pair = self.builder.builtin_call("unpack2x16float", [half])
        return self.builder.convert(F16, self.builder.access(pair, [u32(0)]))

    def _shift(self, place: _Place) -> Value:
        """The position of a half in its word, in bits."""
        return self._times(self._op(BinaryOp.AND, place.offset, u32(2)), 8)

    def _word(self, place: _Place) -> Value:
        """The pointer to the word at a place."""
        index = self._op(BinaryOp.DIVIDE, place.offset, u32(_WORD))
        assert isinstance(place.words.type, Pointer)
        if element_type(place.words.type.store, 0) is not _ROW:
            return self.builder.access(place.words, [index])
        row, column = self._op(BinaryOp.DIVIDE, index, u32(4)), self._op(BinaryOp.REMAINDER, index, u32(4))
        return self.builder.access(place.words, [row, column])

    def _load(self, word: Value) -> Value:
        if _is_atomic(word):
            return self.builder.builtin_call("atomicLoad", [word])
        return self.builder.load(word)

    def _uniform_load(self, word: Value) -> Value:
        return self.builder.builtin_call("workgroupUniformLoad", [word])

    def _store(self, place: _Place, value: Value) -> None:
        if isinstance(place.type, Scalar):
            self._store_scalar(place, value)
            return
        for index, part in enumerate(self._parts(place)):
            self._store(part, self.builder.access(_copied(value), [u32(index)]))

    def _store_scalar(self, place: _Place, value: Value) -> None:
        word, value = self._word(place), _copied(value)
        if value.type is F16:
            pair = self.builder.construct(vector(2, F32), [self.builder.convert(F32, value), _zero()])
            shift = self._shift(place)
            bits = self._op(BinaryOp.SHIFT_LEFT, self.builder.builtin_call("pack2x16float", [pair]), shift)
            kept = self._op(BinaryOp.SHIFT_RIGHT, u32(0xFFFF0000), shift)
            self.builder.builtin_call("atomicAnd", [word, kept])
            self.builder.builtin_call("atomicOr", [word, bits])
            return
        bits = value if value.type is U32 else self.builder.builtin_call("bitcast", [value], template_arguments=[U32])
        if _is_atomic(word):
            self.builder.builtin_call("atomicStore", [word, bits])
        else:
            self.builder.store(word, bits)

    # Numbers

    def _op(self, op: BinaryOp, left: Value, right: Value) -> Value:
        return self.builder.binary(op, _copied(left), right)

    def _plus(self, value: Value, number: int) -> Value:
        return self._op(BinaryOp.ADD, value, u32(number)) if number else value

    def _times(self, value: Value, factor: int) -> Value:
        return self._op(BinaryOp.MULTIPLY, value, u32(factor))

    def _min(self, value: Value, most: Value) -> Value:
        return self.builder.builtin_call("min", [_copied(value), most])


def _copied(value: Value) -> Value:
    """A value that may become an operand once more."""
    return copy_constant(value) if isinstance(value, nodes.Constant) else value


def _zero() -> nodes.Constant:
    return constant(F32, 0.0)


def _is_atomic(word: Value) -> bool:
    return isinstance(word.type, Pointer) and isinstance(word.type.store, Atomic)


def _stride(type: Type) -> int:
    match type:
        case Array() | Matrix():
            return layout.stride_of(type)
        case Vector(element=element):
            return layout.size_of(element)
        case _:
            raise AssertionError(f"{type} has no elements")
