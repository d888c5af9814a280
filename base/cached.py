"""Values of objects that are computed when they are first wanted."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Generic, TypeVar, cast, overload

T = TypeVar("T")
Argument = TypeVar("Argument")


class cached_property(Generic[T]):
    """`functools.cached_property` as it is from Python 3.12 on: two threads may both compute the value, and one of the
    results stays. That of 3.11 holds a lock while it computes, one for all objects of a class. Other threads wait for
    it, and the child of a fork for ever, if another thread had it.
    """

    def __init__(self, compute: Callable[..., T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> cached_property[T] | T:
        if instance is None:
            return self
        # the next look at the attribute finds the value in the object, before this descriptor
        return cast("dict[str, T]", vars(instance)).setdefault(self._name, self._compute(instance))


def kept_with_argument(compute: Callable[[Argument], T]) -> Callable[[Argument], T]:
    """A function of one object whose result is kept with that object, as that of a cached property is: for modules that
    the object's own does not import.
    """
    name = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def kept(argument: Argument) -> T:
        values = cast("dict[str, T]", vars(argument))
        return values[name] if name in values else values.setdefault(name, compute(argument))

    return kept
