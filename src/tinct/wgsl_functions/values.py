"""Arrays for the parameters of a function: each is split into dimensions of its own, which come last, and the others,
which are broadcast.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from ..base.errors import InputError
from ..base.records import dataclass
from ..ir.hints import unknown_name
from ..ir.layout_leaves import holds_structures, number_type
from ..ir.layout_numbers import NumberType, as_array, as_given_array, is_array, shown, store
from ..ir.types import BOOL, Array, Matrix, Scalar, Struct, Type, Vector
from .signature import Named, holds_bool, number_type_of, own_shape

if TYPE_CHECKING:
    import numpy.typing as npt

AnyArray: TypeAlias = "npt.NDArray[Any]"
DType: TypeAlias = np.dtype[Any]

_BOOL = NumberType("bool", np.dtype(np.bool_))


@dataclass(frozen=True, slots=True)
class Argument:
    """Values for a parameter: an array of `shape` and the parameter's own dimensions; a structure is one element."""

    parameter: Named
    values: AnyArray
    shape: tuple[int, ...]

    def text(self) -> str:
        """How the shape was split, for a message."""
        own = own_shape(self.parameter.type)
        split = f"broadcast {self.shape} + own {own}" if own else f"broadcast {self.shape}"
        return f"  {self.parameter.name}: {self.parameter.type} has the shape {self.shape + own} = {split}"

    def rows(self, shape: tuple[int, ...]) -> AnyArray:
        """The values in one dimension: a single one where all calls share one, else one for each element of `shape`."""
        own = self.values.shape[len(self.shape) :]
        if self.is_shared:
            return self.values.reshape(1, *own)
        return np.broadcast_to(self.values, shape + own).reshape(-1, *own)

    @property
    def is_shared(self) -> bool:
        """Whether all calls get the same value."""
        return all(extent == 1 for extent in self.shape)


def argument_of(parameter: Named, given: object, name: str) -> Argument:
    """What was given for a parameter; `name` is for messages. Raises InputError."""
    values = _values(parameter.type, given, name)
    own = len(own_shape(parameter.type))
    return Argument(parameter, values, values.shape[: values.ndim - own])


def common_shape(function: str, arguments: list[Argument]) -> tuple[int, ...]:
    """The shape that all are broadcast to. Raises InputError, which shows how each shape was split."""
    try:
        return np.broadcast_shapes(*(it.shape for it in arguments))
    except ValueError:
        lines = "\n".join(it.text() for it in arguments)
        raise InputError(f"{function}: the dimensions to broadcast do not fit together\n{lines}") from None


def dtype_of(type: Type, *, in_memory: bool = False) -> DType:
    """The numpy dtype of a value without padding. A bool is a u32 in memory."""
    match type:
        case Struct(members=members):
            return np.dtype([(it.name, dtype_of(it.type, in_memory=in_memory)) for it in members])
        case Array(element=element, count=int(count)):
            return np.dtype((dtype_of(element, in_memory=in_memory), (count,)))
        case Vector() | Matrix():
            return np.dtype((dtype_of(type.element, in_memory=in_memory), own_shape(type)))
        case Scalar():
            return np.dtype(np.uint32) if in_memory and type is BOOL else _number(type).dtype
        case _:
            raise InputError(f"{type} has no values that numpy could hold")


def for_memory(type: Type, rows: AnyArray) -> AnyArray:
    """Values as the entry point takes them."""
    if not holds_bool(type):
        return rows
    return rows.astype(np.uint32) if rows.dtype.names is None else rows.astype(dtype_of(type, in_memory=True))


def from_memory(type: Type, rows: AnyArray) -> AnyArray:
    """Values as the entry point gives them, with bools and matrices."""
    if rows.dtype.names is None:
        return rows.astype(np.bool_) if holds_bool(type) else rows
    dtype = dtype_of(type)
    while dtype.subdtype is not None:
        dtype = dtype.base
    if rows.dtype == dtype:
        return rows
    made = np.empty(rows.shape, dtype)
    _copy_members(rows, made)
    return made


def _copy_members(source: AnyArray, target: AnyArray) -> None:
    """Copy structures by their members, whose dtypes may be arrays of arrays in one and a single array in the other:
    numpy does not take these for the same.
    """
    for name in target.dtype.names or ():
        if target[name].dtype.names is None:
            target[name] = source[name]
        else:
            _copy_members(source[name], target[name])


def _number(type: Scalar) -> NumberType:
    return _BOOL if type is BOOL else number_type(type)


def _values(type: Type, given: object, name: str) -> AnyArray:
    match type:
        case Struct():
            return _structures(type, given, name)
        case Array(element=element, count=count) if holds_structures(type):
            found = _values(element, given, name)
            own = found.ndim - len(own_shape(element))
            if own == 0 or found.shape[own - 1] != count:
                raise InputError(f"{name}: {type} takes arrays whose last dimension to broadcast is {count}")
            return found
        case _:
            return _numbers(type, given, name)


def _numbers(type: Type, given: object, name: str) -> AnyArray:
    scalar, own = number_type_of(type), own_shape(type)
    assert scalar is not None
    number = _number(scalar)

    def where(index: tuple[int, ...]) -> str:
        return name + "".join(f"[{it}]" for it in index)

    array = as_array(given, number, where)
    if array.shape[max(array.ndim - len(own), 0) :] != own:
        expected = f"whose last dimension is {own[0]}" if len(own) == 1 else f"whose last dimensions are {own}"
        raise InputError(f"{name}: {type} takes an array {expected}, not one of the shape {array.shape}")
    if array.dtype == number.dtype:
        return array
    target = np.empty(array.shape, number.dtype)
    store(array, target, number, where)
    return target


def _structures(type: Struct, given: object, name: str) -> AnyArray:
    """An array of structures from a structured array, or from a mapping of the members' names to arrays."""
    parts = _members(type, given, name)
    names = [it.name for it in type.members]
    for member in parts:
        if member not in names:
            raise InputError(unknown_name(f"{name}: {type} has no member {shown(member)}", member, names))
    missing = [it for it in names if it not in parts]
    if missing:
        raise InputError(f"{name}: there is no value for the member {missing[0]!r} of {type}")
    found = [argument_of(Named(it.name, it.type), parts[it.name], f"{name}.{it.name}") for it in type.members]
    made = np.empty(common_shape(name, found), dtype_of(type))
    for part in found:
        own = part.values.shape[len(part.shape) :]
        made[part.parameter.name] = np.broadcast_to(part.values, made.shape + own)
    return made


def _members(type: Struct, given: object, name: str) -> Mapping[str, object]:
    if isinstance(given, Mapping):
        return cast("Mapping[str, object]", given)
    array = as_given_array(given, partial(_plain, name))
    if not is_array(array) or array.dtype.names is None:
        members = ", ".join(f"{it.name!r}: …" for it in type.members)
        raise InputError(f"{name}: {type} takes a structured array, or arrays as in {{{members}}}, not {shown(given)}")
    return {field: array[field] for field in array.dtype.names}


def _plain(name: str, _: tuple[int, ...]) -> str:
    return name
