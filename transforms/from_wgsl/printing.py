"""Records of `debugPrintf`, which core IR has no operation for: operations on a buffer of our own.

Word 0 of the buffer is the number of words that records took, word 1 the number of records for which there was no room;
the room is as large as the buffer. A record is the number of its statement, counted from 1, the global id of the
invocation, and a word for each component of the arguments; zeros follow the last. Once there is no room, invocations no
longer add to word 0, so that it never wraps around.

Each statement calls a function of its own, so that the blocks of the user's functions are those without printing, and
counts of blocks (`transforms.core.count_blocks`) mean the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, assert_never

from ...ir.core.builder import Builder, block_argument, empty_block, parameter, u32, variable_type
from ...ir.core.names import NameScope
from ...ir.core.nodes import Block, Constant, Function, Module
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.print_formats import Printable, word_count
from ...ir.types import BOOL, F16, F32, U32, AddressSpace, Array, Matrix, Scalar, Stage, Struct, Type, Vector, vector
from ...ir.wgsl import ast
from ..core.editing import calls_in, entry_builtin
from ..core.hidden_buffer import add_hidden_buffer

HEADER: Final = 2
"""Words before the records."""
ID: Final = slice(1, 4)
"""The words of a record that have the global id."""
FIRST_ARGUMENT: Final = 4
_TAKEN, _LOST = 0, 1


class PrintSite(NamedTuple):
    """A statement, and the types of its arguments."""

    node: ast.Print
    types: tuple[Type, ...]


class Printing:
    """The records of one module with at most `most` statements that print; all its bindings must be declared."""

    def __init__(self, module: Module, names: NameScope, most: int) -> None:
        self.module = module
        self.sites: list[PrintSite] = []
        self.entries: set[str] = set()
        """The entry points that may print; complete after `finish`."""
        self.writers: dict[str, Function] = {}
        """The functions that write records, by name."""
        self.buffer = add_hidden_buffer(module, names.unique("print_records"), None)
        self._id_type = vector(3, U32)
        private = variable_type(AddressSpace.PRIVATE, self._id_type)
        self._id = Builder(module, module.root).var(private, name=names.unique("print_id"))
        self._free_names = iter([names.unique("print_record") for _ in range(most)])

    def record(self, builder: Builder, function: Function, node: ast.Print, values: Sequence[Value]) -> None:
        """Write a record of the values of the arguments."""
        types = tuple(it.type for it in values)
        self.sites.append(PrintSite(node, types))
        writer = self._writer(builder, types)
        functions = self.module.functions
        functions.insert(functions.index(function), functions.pop())  # callees come first
        builder.call(writer, values)

    def _writer(self, outer: Builder, types: Sequence[Type]) -> Function:
        """A new function that writes a record of the latest statement."""
        builder = Builder(self.module)
        builder.span = outer.span
        made = builder.function(next(self._free_names), [parameter(it, None) for it in types])
        made.resources = [*made.resources, self.buffer, self._id]
        self.writers[made.name] = made
        count = u32(FIRST_ARGUMENT + sum(map(word_count, types)))
        room = builder.binary(BinaryOp.SUBTRACT, builder.builtin_call("arrayLength", [self.buffer]), u32(HEADER))
        taken = self._atomic(builder, "atomicLoad", u32(_TAKEN))
        fits = builder.enter_if(builder.binary(BinaryOp.LESS, taken, room))
        with builder.at(fits.true_target):
            first = self._atomic(builder, "atomicAdd", u32(_TAKEN), count)
            end = builder.binary(BinaryOp.ADD, first, _own(count))
            still_fits = builder.enter_if(builder.binary(BinaryOp.LESS_EQUAL, end, room))
            with builder.at(still_fits.true_target):
                self._fill(builder, builder.binary(BinaryOp.ADD, first, u32(HEADER)), made.parameters)
                builder.branch(_merge(still_fits.merge_target))
            self._lose(builder, still_fits.false_target, still_fits.merge_target)
            builder.block = still_fits.merge_target
            builder.branch(_merge(fits.merge_target))
        self._lose(builder, fits.false_target, fits.merge_target)
        builder.block = fits.merge_target
        builder.return_(made)
        return made

    def _lose(self, builder: Builder, block: Block, merge: Block | None) -> None:
        with builder.at(block):
            self._atomic(builder, "atomicAdd", u32(_LOST), u32(1))
            builder.branch(_merge(merge))

    def _fill(self, builder: Builder, first: Value, values: Sequence[Value]) -> None:
        self._store(builder, first, u32(len(self.sites)))
        self._put(builder, builder.binary(BinaryOp.ADD, first, u32(1)), builder.load(self._id))
        at = FIRST_ARGUMENT
        for value in values:
            self._put(builder, builder.binary(BinaryOp.ADD, first, u32(at)), value)
            at += word_count(value.type)

    def _put(self, builder: Builder, first: Value, value: Value) -> None:
        """Store the components of a value in words from `first` on: columns, elements and members in order."""
        type = value.type
        assert isinstance(type, Printable)
        match type:
            case Scalar():
                self._store(builder, first, _word(builder, value, type))
            case Array():
                self._put_elements(builder, first, value, type)
            case Vector() | Matrix() | Struct():
                at = 0
                for index, part in enumerate(_parts(type)):
                    word = builder.binary(BinaryOp.ADD, first, u32(at))
                    self._put(builder, word, builder.access(value, [u32(index)]))
                    at += word_count(part)
            case _:
                assert_never(type)

    def _put_elements(self, builder: Builder, first: Value, value: Value, type: Array) -> None:
        """A loop, since arrays may be long."""
        assert isinstance(type.count, int)
        memory = builder.var(variable_type(AddressSpace.FUNCTION, type), initializer=value)
        loop = builder.enter_loop([block_argument(U32)], [u32(0)])
        builder.block = loop.start_target
        index = loop.start_target.arguments[0]
        goes_on = builder.enter_if(builder.binary(BinaryOp.LESS, index, u32(type.count)))
        with builder.at(goes_on.true_target):
            builder.branch(_merge(goes_on.merge_target))
        with builder.at(goes_on.false_target):
            builder.branch(loop.merge_target)
        builder.block = goes_on.merge_target
        element = builder.load(builder.access(memory, [index]))
        at = builder.binary(BinaryOp.MULTIPLY, index, u32(word_count(type.element)))
        self._put(builder, builder.binary(BinaryOp.ADD, first, at), element)
        builder.branch(loop.continuing_target)
        with builder.at(loop.continuing_target):
            builder.branch(loop.start_target, [builder.binary(BinaryOp.ADD, index, u32(1))])
        builder.block = loop.merge_target

    def _store(self, builder: Builder, index: Value, word: Value) -> None:
        self._atomic(builder, "atomicStore", index, word)

    def _atomic(self, builder: Builder, name: str, index: Value, *values: Value) -> Value:
        return builder.builtin_call(name, [builder.access(self.buffer, [index]), *values])

    def finish(self) -> None:
        """Add what records use to the interfaces of functions, once all are built."""
        printing = set(self.writers.values())
        for function in self.module.functions:  # callees come first
            if function not in printing and any(it.callee in printing for _, it in calls_in(function)):
                printing.add(function)
                function.resources = [*function.resources, self.buffer, self._id]
                if function.stage is Stage.COMPUTE:
                    self._keep_id(function)
                    self.entries.add(function.name)

    def _keep_id(self, function: Function) -> None:
        before = empty_block()
        builder = Builder(self.module, before)
        builder.store(self._id, entry_builtin(builder, function, "global_invocation_id", self._id_type))
        function.start_target.instructions[:0] = before.instructions


def _merge(block: Block | None) -> Block:
    assert block is not None
    return block


def _parts(type: Vector | Matrix | Struct) -> Iterator[Type]:
    match type:
        case Vector(width=width, element=element):
            yield from [element] * width
        case Matrix(columns=columns):
            yield from [type.column] * columns
        case Struct(members=members):
            yield from (it.type for it in members)
        case _:
            assert_never(type)


def _own(value: Constant) -> Constant:
    """A constant for one more use: each use needs its own."""
    return Constant(value.value, value.type, None)


def _word(builder: Builder, value: Value, type: Type) -> Value:
    if type is U32:
        return value
    if type is BOOL:
        return builder.convert(U32, value)
    single = builder.convert(F32, value) if type is F16 else value
    return builder.builtin_call("bitcast", [single], template_arguments=[U32])
