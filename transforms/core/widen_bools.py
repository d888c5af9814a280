"""Keeps bools in workgroup memory as words, for compilers that do not give each one a word of its own.

A bool takes four bytes (WGSL, "Alignment and Size"), so that invocations may write neighbouring ones at the same time.
naga gives it one byte in arrays and structures (wgpu's issue 6570: `ArrayStride 1` in SPIR-V), which is likely why such
writes lost others on an NVIDIA H200, where words do not. Variables get u32 in place of bool, loads compare with 0, and
stores convert.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from ...ir.constants import ConstantValue, RawValue, Repeated
from ...ir.core import nodes
from ...ir.core.builder import Builder, parameter, u32, variable_type
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.types import (
    BOOL,
    U32,
    AddressSpace,
    Array,
    Pointer,
    Scalar,
    Struct,
    Type,
    Vector,
    array,
    pointer,
    vector,
    walk,
)
from .editing import count_value, module_names
from .retyping import retype_values
from .rewriting import rewrite, splat

_Conversion = Callable[[Value, Type], Value]
_LOADS: Final = "workgroupUniformLoad"


@dataclass(frozen=True)
class WidenBools:
    """Puts u32 in the place of bool in workgroup variables; values stay the same."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "widen_bools"

    def run(self, module: nodes.Module) -> bool:
        """Whether a workgroup variable had bools."""
        if not any(_is_wide(it.type) for it in module.root.instructions):
            return False
        widening = _Widening(module)
        retype_values(module, widening.pointer)
        rewrite(module, [widening.converted])
        return True


def _is_wide(type: Type) -> bool:
    """Whether a type points to bools in workgroup memory."""
    return isinstance(type, Pointer) and type.space is AddressSpace.WORKGROUP and _has_bools(type.store)


def _has_bools(type: Type) -> bool:
    return any(it is BOOL for it in walk(type))


class _Widening:
    """The wide types, and conversions from and to them; arrays have functions for these, made on demand."""

    def __init__(self, module: nodes.Module) -> None:
        self.module = module
        self.builder = Builder(module)
        self.names = module_names(module)
        self.structs: dict[Struct, Struct] = {}
        self.functions: dict[tuple[str, Type], nodes.Function] = {}

    # Types

    def pointer(self, type: Type) -> Type:
        """A pointer into workgroup memory points to a wide type; any other type stays."""
        if not isinstance(type, Pointer) or not _is_wide(type):
            return type
        return pointer(type.space, self._wide(type.store), type.access)

    def _wide(self, type: Type) -> Type:
        if not _has_bools(type):
            return type
        match type:
            case Scalar():
                return U32
            case Vector(width=width):
                return vector(width, U32)
            case Array(element=element, count=count):
                return array(self._wide(element), count)
            case Struct():
                return self._struct(type)
            case _:
                raise AssertionError(f"{type} holds no bools")

    def _struct(self, type: Struct) -> Struct:
        if type not in self.structs:
            members = tuple(replace(it, type=self._wide(it.type)) for it in type.members)
            made = self.structs[type] = Struct(self.names.unique(f"{type.name}_words"), members)
            self.module.structs.append(made)
        return self.structs[type]

    # Loads and stores

    def converted(self, instruction: nodes.Instruction, builder: Builder) -> Value | None:
        """What a load of bools is instead; None for anything else, such as a store, whose value is converted."""
        self.builder = builder
        if isinstance(instruction, nodes.Store):
            self._convert_stored(instruction)
            return None
        match instruction:
            case nodes.Load(pointer=place, type=type) if _store_type(place) is not type:
                return self._bools(self.builder.load(place), type)
            case nodes.BuiltinCall(function=name, arguments=[place], type=type) if (
                name == _LOADS and _store_type(place) is not type
            ):
                return self._bools(self.builder.builtin_call(name, [place]), type)
            case _:
                return None

    def _convert_stored(self, store: nodes.Store) -> None:
        if _store_type(store.pointer) is not store.value.type:
            store.value = self._words(store.value, store.value.type)

    # Conversions; the type is that with bools

    def _bools(self, value: Value, type: Type) -> Value:
        if not _has_bools(type):
            return value
        if isinstance(type, (Scalar, Vector)):
            return self.builder.binary(BinaryOp.NOT_EQUAL, value, splat(value.type, 0))
        return self._composite(value, type, type, "bools", self._bools)

    def _words(self, value: Value, type: Type) -> Value:
        if not _has_bools(type):
            return value
        wide = self._wide(type)
        if isinstance(value, nodes.Constant):
            return nodes.Constant(ConstantValue(wide, _raw_words(value.value.value)), wide, None, span=value.span)
        if isinstance(type, (Scalar, Vector)):
            return self.builder.convert(wide, value)
        return self._composite(value, type, wide, "words", self._words)

    def _composite(self, value: Value, type: Type, made: Type, what: str, convert: _Conversion) -> Value:
        if isinstance(type, Struct):
            parts = [
                convert(self.builder.access(value, [u32(index)]), member.type)
                for index, member in enumerate(type.members)
            ]
            return self.builder.construct(made, parts)
        assert isinstance(type, Array)
        return self.builder.call(self._function(value.type, type, made, what, convert), [value])

    def _function(self, given: Type, type: Array, made: Type, what: str, convert: _Conversion) -> nodes.Function:
        """The function that converts an array, element by element."""
        found = self.functions.get((what, type))
        if found is not None:
            return found
        count, element = type.count, type.element
        assert count is not None
        outer, span = self.builder.block, self.builder.span
        argument = parameter(given, "given")
        function = self.builder.function(self.names.unique(f"{what}_of_array"), [argument], made)
        before = self.builder.var(variable_type(AddressSpace.FUNCTION, given), name="before", initializer=argument)
        after = self.builder.var(variable_type(AddressSpace.FUNCTION, made), name="after")
        with self.builder.counting(u32(0), count_value(self.builder, count), name="i") as index:
            part = self.builder.load(self.builder.access(before, [index]))
            self.builder.store(self.builder.access(after, [index]), convert(part, element))
        self.builder.return_(function, self.builder.load(after))
        self.module.functions.remove(function)
        self.module.functions.insert(len(self.functions), function)  # after those that it calls
        self.functions[what, type] = function
        self.builder.block, self.builder.span = outer, span
        return function


def _store_type(pointer: Value) -> Type | None:
    return pointer.type.store if isinstance(pointer.type, Pointer) else None


def _raw_words(value: RawValue) -> RawValue:
    """A constant with numbers in the place of bools."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, Repeated):
        return Repeated(_raw_words(value.item), value.times)
    return tuple(map(_raw_words, value))
