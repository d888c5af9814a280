"""`NamedTuple` of `typing`, made ready sooner: the standard library compiles text for each class and each annotation.

Here the code of `__new__` is that of all classes with the same number of fields (see `record_shapes`).
"""

from __future__ import annotations

from collections import namedtuple
from types import FunctionType
from typing import TYPE_CHECKING, Any

from .record_shapes import renamed, tuple_shape

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    _Getter = type(namedtuple("_OneItem", "item").item)

    class _Meta(type):
        """Makes a tuple with named fields of a class with annotations, which are the fields."""

        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            if not bases:  # the base itself
                return super().__new__(cls, name, bases, namespace)
            names = tuple(namespace.get("__annotations__", ()))
            defaults = {it: namespace.pop(it) for it in names if it in namespace}
            if tuple(defaults) != names[len(names) - len(defaults) :]:
                raise TypeError(f"a field of {name} without a default follows one with a default")
            getters = {it: _Getter(number, f"Item {number}") for number, it in enumerate(names)}
            code = renamed(
                tuple_shape(len(names)), "__new__", {f"field{number}": it for number, it in enumerate(names)}
            )
            make = FunctionType(code, {"_new": tuple.__new__}, "__new__", tuple(defaults.values()))
            make.__qualname__ = f"{namespace['__qualname__']}.__new__"
            make.__annotations__ = namespace.get("__annotations__", {})
            added = {"_fields": names, "_field_defaults": defaults, "__match_args__": names, "__new__": make}
            plain = {"__slots__": (), "__repr__": _shown, "__getnewargs__": _arguments, "_replace": _replaced}
            return type(name, (tuple,), plain | namespace | getters | added)

    class NamedTuple(metaclass=_Meta):
        """The base of classes whose annotations are the names of a tuple's items."""


def _shown(self: Any) -> str:
    parts = (f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
    return f"{type(self).__name__}({', '.join(parts)})"


def _arguments(self: Any) -> tuple[Any, ...]:
    """What `__new__` takes, for pickles."""
    return tuple(self)


def _replaced(self: Any, **changes: object) -> Any:
    """A copy with other values of some fields."""
    made = type(self)(*(changes.pop(name, value) for name, value in zip(self._fields, self, strict=True)))
    if changes:
        raise ValueError(f"Got unexpected field names: {list(changes)!r}")
    return made


__all__ = ["NamedTuple"]
