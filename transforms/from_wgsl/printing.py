"""Records of `debugPrintf`, which core IR has no operation for: operations on a buffer of our own.

Word 0 of the buffer is the number of words that records took, word 1 the number of records for which there was no room.
A record is the number of its statement, counted from 1, the global id of the invocation, and a word for each component
of the arguments; zeros follow the last. Once there is no room, invocations no longer add to word 0, so that it never
wraps around.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ...ir.core.builder import Builder, empty_block, u32, variable_type
from ...ir.core.names import NameScope
from ...ir.core.nodes import Block, Constant, Function, Module
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.types import BOOL, F16, F32, U32, AddressSpace, Matrix, Stage, Type, Vector, vector
from ...ir.wgsl import ast
from ..core.editing import calls_in, entry_builtin
from ..core.hidden_buffer import add_hidden_buffer

ROOM: Final = 1 << 18
"""Words for the records of a dispatch: one mebibyte."""
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
    """The records of one module, whose bindings must all be declared."""

    def __init__(self, module: Module, names: NameScope) -> None:
        self.module = module
        self.sites: list[PrintSite] = []
        self.entries: set[str] = set()
        """The entry points that may print; complete after `finish`."""
        self.buffer = add_hidden_buffer(module, names.unique("print_records"), HEADER + ROOM)
        self._id_type = vector(3, U32)
        private = variable_type(AddressSpace.PRIVATE, self._id_type)
        self._id = Builder(module, module.root).var(private, name=names.unique("print_id"))
        self._functions: set[Function] = set()

    def record(self, builder: Builder, function: Function, node: ast.Print, values: Sequence[Value]) -> None:
        """Write a record of the values of the arguments."""
        self._functions.add(function)
        self.sites.append(PrintSite(node, tuple(it.type for it in values)))
        id = builder.load(self._id)
        words: list[Value] = [u32(len(self.sites)), *_words(builder, id)]
        words += [word for value in values for word in _words(builder, value)]
        fits = builder.enter_if(builder.binary(BinaryOp.LESS, self._atomic(builder, "atomicLoad", _TAKEN), u32(ROOM)))
        with builder.at(fits.true_target):
            first = self._atomic(builder, "atomicAdd", _TAKEN, u32(len(words)))
            last = u32(ROOM - len(words))
            still_fits = builder.enter_if(builder.binary(BinaryOp.LESS_EQUAL, first, last))
            with builder.at(still_fits.true_target):
                for number, word in enumerate(words):
                    index = builder.binary(BinaryOp.ADD, first, u32(HEADER + number))
                    builder.builtin_call("atomicStore", [builder.access(self.buffer, [index]), word])
                builder.branch(_merge(still_fits.merge_target))
            with builder.at(still_fits.false_target):
                self._atomic(builder, "atomicAdd", _LOST, u32(1))
                builder.branch(_merge(still_fits.merge_target))
            builder.block = still_fits.merge_target
            builder.branch(_merge(fits.merge_target))
        with builder.at(fits.false_target):
            self._atomic(builder, "atomicAdd", _LOST, u32(1))
            builder.branch(_merge(fits.merge_target))
        builder.block = fits.merge_target

    def _atomic(self, builder: Builder, name: str, word: int, *values: Value) -> Value:
        return builder.builtin_call(name, [builder.access(self.buffer, [u32(word)]), *values])

    def finish(self) -> None:
        """Add what records use to the interfaces of functions, once all are built."""
        for function in self.module.functions:  # callees come first
            if function in self._functions or any(it.callee in self._functions for _, it in calls_in(function)):
                self._functions.add(function)
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


def _words(builder: Builder, value: Value) -> Iterator[Value]:
    """The components of a value as u32, column by column."""
    match value.type:
        case Vector(width=width, element=element):
            places = [[row] for row in range(width)]
        case Matrix(columns=columns, rows=rows, element=element):
            places = [[column, row] for column in range(columns) for row in range(rows)]
        case _:
            yield _word(builder, value, value.type)
            return
    for place in places:
        yield _word(builder, builder.access(_own(value), [u32(it) for it in place]), element)


def _own(value: Value) -> Value:
    """A value for one use of it: each use needs its own Constant."""
    return Constant(value.value, value.type, None) if isinstance(value, Constant) else value


def _word(builder: Builder, value: Value, type: Type) -> Value:
    if type is U32:
        return value
    if type is BOOL:
        return builder.convert(U32, value)
    single = builder.convert(F32, value) if type is F16 else value
    return builder.builtin_call("bitcast", [single], template_arguments=[U32])
