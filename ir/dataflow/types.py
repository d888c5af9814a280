"""Types of ports, by name: which values an input takes, and which are numbers."""

from __future__ import annotations

import re
from typing import Final

from .nodes import Type

INTEGERS: Final = ("i32", "u32")
SCALARS: Final = (*INTEGERS, "f32", "f16")
U32: Final = Type("u32", ())

_STORAGE: Final = re.compile(r"texture_storage_(\w+)\Z")
_CHANNELS: Final = {"uint": "u32", "sint": "i32"}


def depth(type: Type) -> int:
    """How deep the type's arguments nest; 1 for a type without any."""
    deepest, level = 0, [type]
    while level:
        deepest += 1
        level = [argument for it in level for argument in it.arguments]
    return deepest


def without_atomics(type: Type) -> Type:
    """The type with each `atomic<T>` replaced by `T`, which has the same memory layout."""
    if type.name == "atomic" and len(type.arguments) == 1:
        return without_atomics(type.arguments[0])
    return Type(type.name, tuple(map(without_atomics, type.arguments)))


def is_scalar(type: Type) -> bool:
    """Whether values of the type are single numbers."""
    return without_atomics(type) in [Type(name, ()) for name in SCALARS]


def is_integer(type: Type) -> bool:
    """Whether values of the type are single whole numbers."""
    return without_atomics(type).name in INTEGERS


def holds(type: Type, value: int) -> bool:
    """Whether a whole number is one of an integer type; true for all other types."""
    name = without_atomics(type).name
    limits = {"i32": (-(1 << 31), (1 << 31) - 1), "u32": (0, (1 << 32) - 1)}
    low, high = limits.get(name, (value, value))
    return low <= value <= high


def is_runtime_sized(type: Type) -> bool:
    """Whether it is an array without a count. (A structure may end in one, which its name does not say.)"""
    return type.name == "array" and len(type.arguments) == 1


def is_texture(type: Type) -> bool:
    """Whether it is a texture."""
    return type.name.startswith("texture_")


def element(type: Type) -> Type | None:
    """The type of an array's elements; None if it is no array."""
    return type.arguments[0] if type.name == "array" and type.arguments else None


def takes(target: Type, given: Type) -> bool:
    """Whether an input of the type `target` takes a value of the type `given`.

    Types are equal but for atomics. A runtime-sized array takes an array with a count, and a sampled texture takes a
    storage texture of its dimension whose format has channels of the sampled type.
    """
    wanted, value = without_atomics(target), without_atomics(given)
    if wanted == value:
        return True
    if is_runtime_sized(wanted):
        return element(value) == wanted.arguments[0]
    return _takes_texture(wanted, value)


def _takes_texture(wanted: Type, given: Type) -> bool:
    storage = _STORAGE.match(given.name)
    if storage is None or not given.arguments:
        return False
    if wanted.name == given.name:
        return wanted.arguments[:1] == given.arguments[:1]
    channel = _CHANNELS.get(given.arguments[0].name[-4:], "f32")
    return wanted == Type(f"texture_{storage[1]}", (Type(channel, ()),))
