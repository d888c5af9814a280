"""Values of objects that are computed when they are first wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, cast, overload

T = TypeVar("T")


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
