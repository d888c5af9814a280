"""Classes of `records.dataclass` behave as those of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from functools import partial
from itertools import product
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from tinct.base.records import dataclass, with_methods

T = TypeVar("T")


def outcome(do: Callable[[], object]) -> object:
    """What a call gives, or the kind and the text of what it raises."""
    try:
        return do()
    except Exception as error:
        return type(error), str(error).replace("make_class.<locals>.", "")


def make_class(options: dict[str, bool], decorator: Callable[..., type]) -> type[Any]:
    class Point:
        """A class with fields of all kinds."""

        x: int
        y: float = field(hash=False)
        tags: list[int] = field(default_factory=list[int], compare=False)
        note: str = field(default="-", repr=False)
        made: int = field(default=7, init=False)
        total: list[int] = field(init=False, default_factory=lambda: [1])
        named: int = field(default=3, kw_only=True)

    return decorator(Point, **options)


@pytest.mark.parametrize(("frozen", "slots", "eq", "shown", "kw_only"), list(product((False, True), repeat=5)))
def test_all_options(*, frozen: bool, slots: bool, eq: bool, shown: bool, kw_only: bool) -> None:
    options = {"frozen": frozen, "slots": slots, "eq": eq, "repr": shown, "kw_only": kw_only}
    found, expected = (outcomes(make_class(options, it)) for it in (with_methods, dataclasses.dataclass))
    assert found == expected


def outcomes(kind: type[Any]) -> list[object]:
    """What can be seen of a class, and of its objects."""
    one, same, other = kind(x=1, y=1.5), kind(x=1, y=1.5, tags=[5]), kind(x=2, y=0.5, note="!", named=4)
    changed = dataclasses.replace(other, x=3)
    actions: list[Callable[[], object]] = [
        lambda: kind(1),
        lambda: kind(1, 2.0, [3], "a", 5),
        lambda: kind(1, 2.0, named=3) == kind(1, 2.0, named=3),
        lambda: (one == same, one != same, one == other, one == object()),
        lambda: hash(other) == hash(changed) or hash(other) == hash(kind(x=2, y=9.0, note="!", named=4)),
        lambda: repr(other) if kind.__repr__ is not object.__repr__ else None,
        lambda: setattr(other, "x", 9),
        lambda: hasattr(other, "__dict__") and setattr(other, "unknown", 9),
        lambda: delattr(other, "note"),
        lambda: (other.x, other.y, other.tags, other.note, other.made, other.total, other.named),
        lambda: dataclasses.astuple(changed),
        lambda: dataclasses.asdict(copy.deepcopy(changed)),
        lambda: str(inspect.signature(kind)),
        lambda: [(it.name, it.type, it.init) for it in dataclasses.fields(kind)],
        lambda: (kind.__match_args__, kind.__doc__, kind.__name__, hasattr(changed, "__dict__")),
        lambda: (kind.tags, kind.made) if not hasattr(kind, "__slots__") else kind.__slots__,
    ]
    return [outcome(it) for it in actions]


@dataclass(frozen=True, slots=True)
class Base:
    """A frozen class, from which others are derived."""

    a: int
    items: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.a < 0:
            raise ValueError("negative")


@dataclass(frozen=True, slots=True)
class Derived(Base):
    """A frozen class with one more field."""

    b: int = 2


@dataclass(frozen=True)
class WithOwnMethods:  # noqa: PLW1641  (the decorator adds `__hash__`)
    """A class that has some of the methods itself."""

    a: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WithOwnMethods)

    def __repr__(self) -> str:
        return "own"


def test_derived_classes_and_pickles() -> None:
    one = Derived(1, (2,), 3)
    assert (one, repr(one)) == (Derived(1, (2,), b=3), "Derived(a=1, items=(2,), b=3)")
    assert pickle.loads(pickle.dumps(one)) == one != Derived(1)
    assert pickle.loads(pickle.dumps(Base(4))) == Base(4)
    with pytest.raises(ValueError, match="negative"):
        Derived(-1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.a = 2  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(TypeError, match="cannot inherit non-frozen"):
        dataclasses.dataclass(type("Other", (Base,), {}))


def make_derived(options: dict[str, bool], decorator: Callable[..., type]) -> type[Any]:
    class First:
        """A class from which another one is derived."""

        x: int
        tags: list[int] = field(default_factory=list[int], compare=False)
        note: str = "-"

    class Second(decorator(First, **options)):  # type: ignore[misc]
        """A class that has one of the fields anew, and more."""

        note: str = "+"
        more: int = field(default=1, kw_only=True)
        y: float = 2.0

    return decorator(Second, **options)


@pytest.mark.parametrize(("frozen", "slots", "kw_only"), list(product((False, True), repeat=3)))
def test_derived_classes_with_all_options(*, frozen: bool, slots: bool, kw_only: bool) -> None:
    options = {"frozen": frozen, "slots": slots, "kw_only": kw_only}
    found, expected = (make_derived(options, it) for it in (with_methods, dataclasses.dataclass))
    looks: list[Callable[[type[Any]], object]] = [
        lambda it: str(inspect.signature(it)),
        lambda it: [(field.name, field.type, field.kw_only, field.default) for field in dataclasses.fields(it)],
        lambda it: (it.__match_args__, getattr(it.__mro__[1], "__match_args__", None)),
        lambda it: repr(it(x=1, y=2.5)).replace("make_derived.<locals>.", ""),
        lambda it: it(x=1, tags=[2]) == it(x=1) != it(x=1, more=3),
        lambda it: setattr(it(x=1), "x", 2),
        lambda it: dataclasses.astuple(copy.deepcopy(it(x=1, tags=[4], note="!"))),
        lambda it: it.__slots__,
    ]
    for look in looks:
        assert outcome(partial(look, found)) == outcome(partial(look, expected))


def test_a_class_that_can_change_is_not_derived_from_one_that_cannot() -> None:
    with pytest.raises(TypeError, match="cannot inherit non-frozen"):
        with_methods(type("Other", (Base,), {"__annotations__": {}}))


def test_a_derived_class_of_another_kind_may_call_what_is_made_late() -> None:
    def make(decorator: Callable[..., type]) -> type[Any]:
        class Point:
            x: int
            y: int = 2

        class Other(decorator(Point)):  # type: ignore[misc]
            def __init__(self, x: int) -> None:
                super().__init__(x, y=x + 1)

            def __repr__(self) -> str:
                return super().__repr__().replace("make.<locals>.", "") + "!"

        return Other

    looks: list[Callable[[type[Any]], object]] = [
        lambda it: (it(5).x, it(5).y),
        lambda it: repr(it(5)),
        lambda it: str(inspect.signature(it)),
        lambda it: str(inspect.signature(it.__mro__[1])),
        lambda it: str(inspect.signature(it.__mro__[1].__init__)),
    ]
    for look in looks:
        found, expected = make(with_methods), make(dataclasses.dataclass)
        assert outcome(partial(look, found)) == outcome(partial(look, expected))


def test_fields_are_compared_as_items_of_a_tuple() -> None:
    nan = float("nan")
    kind = make_class({}, with_methods)
    assert kind(1, nan) == kind(1, nan)
    assert kind(1, nan) != kind(1, float("nan"))


def test_own_methods_stay() -> None:
    assert WithOwnMethods(1) == WithOwnMethods(2)
    assert repr(WithOwnMethods(1)) == "own"
    assert hash(WithOwnMethods(1)) == hash((1,))


def test_an_object_inside_of_itself_is_shown() -> None:
    @dataclass
    class Node:
        inside: list[object]

    node = Node([])
    node.inside.append(node)
    assert repr(node).endswith("Node(inside=[...])")


class Common:
    """A base without fields."""

    __slots__ = ("known",)
    KIND: ClassVar[str] = "common"


def test_bases_without_fields_and_attributes_of_the_class() -> None:
    def make(decorator: Callable[..., type]) -> type[Any]:
        class Point(Common, Generic[T]):
            KIND: ClassVar[str] = "point"
            known: int
            x: T
            y: int = 3

        return decorator(Point, slots=True, frozen=True)

    found, expected = make(with_methods), make(dataclasses.dataclass)
    for kind in (found, expected):
        one = kind(1, 2)
        assert (one.known, one.x, one.y, one.KIND, kind.KIND) == (1, 2, 3, "point", "point")
        assert (kind.__slots__, kind.__mro__[1:]) == (("x", "y"), (Common, Generic, object))
        assert pickle.loads(pickle.dumps(Base(4))) == Base(4)
        assert [it.name for it in dataclasses.fields(kind)] == ["known", "x", "y"]
        assert str(inspect.signature(kind)) == "(known: 'int', x: 'T', y: 'int' = 3) -> None"


def test_what_is_made_late_is_there_for_whoever_looks_first() -> None:
    looks: list[Callable[[type[Any]], object]] = [
        lambda it: str(inspect.signature(it)),
        lambda it: [field.name for field in dataclasses.fields(it)],
        dataclasses.is_dataclass,
        lambda it: it.__match_args__,
        lambda it: it(1, 2.0).x,
        lambda it: it.__init__(it.__new__(it), 1, 2.0),
        lambda it: copy.copy(it(1, 2.0)) == it(1, 2.0),
        lambda it: dataclasses.dataclass(type("Other", (it,), {"__annotations__": {"z": "int"}, "z": 1}))(1, 2.0).x,
    ]
    for look in looks:
        found, expected = (
            make_class({"slots": True, "frozen": False}, it) for it in (with_methods, dataclasses.dataclass)
        )
        assert outcome(partial(look, found)) == outcome(partial(look, expected))


def test_a_pattern_takes_fields_by_position() -> None:
    match Base(5, (6,)):
        case Base(a, (item,)):
            assert (a, item) == (5, 6)
        case _:
            pytest.fail("no match")


def test_threads_may_make_the_first_objects() -> None:
    for _ in range(50):
        with ThreadPoolExecutor(4) as threads:
            made = threads.map(make_class({"slots": True}, with_methods), range(4), [0.5] * 4)
            assert [it.x for it in made] == [0, 1, 2, 3]
