"""`dataclass` of the standard library, made ready sooner: a process makes hundreds of them before its first call.

The standard library writes each method of a class as text and compiles the text when the class is made, which takes
most of the time of importing a module: a frozen class has six such methods. Here only `__init__` is compiled, when the
first object is made. The other methods are functions that are the same for all classes, and take the values of the
fields from the object. The standard library is asked about the fields when somebody else asks about them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from reprlib import recursive_repr
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, cast

Fields = Mapping[str, dataclasses.Field[Any]]
Methods = dict[str, Callable[..., object] | None]

_SET: Final = object.__setattr__
_DELETE: Final = object.__delattr__
_SPECIAL: Final = ("ClassVar", "InitVar", "KW_ONLY")
"""Annotations of what is no field."""
_LATE: Final = ("__init__", "__dataclass_fields__", "__dataclass_params__", "__match_args__")
"""What is made when it is first wanted."""
_PLAIN: Final[dataclasses.Field[Any]] = dataclasses.field()
"""Stands for a field without options, but for its default."""


class _Factory:
    """The default of a parameter whose value a function makes."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY: Final = _Factory()


_standard = cast("Callable[..., type[Any]]", dataclasses.dataclass)


def with_methods(
    cls: type, *, frozen: bool = False, slots: bool = False, eq: bool = True, repr: bool = True, kw_only: bool = False
) -> type:
    """The class that `dataclasses.dataclass` makes with these options, but for the docstring of one that has none.

    A mistake in the fields is an error when the first object is made.
    """
    if not _is_plain(cls):
        return _standard(cls, frozen=frozen, slots=slots, eq=eq, repr=repr, kw_only=kw_only)
    namespace = dict(vars(cls), __annotations__=cls.__annotations__)
    fields = {name: _options(namespace.get(name)) for name in cls.__annotations__}
    own = {name for name, value in namespace.items() if name != "__hash__" or value is not None}
    made = _with_slots(cls, fields) if slots else _with_defaults(cls, fields)
    made.__doc__ = cls.__doc__ or cls.__name__
    late = _Late(made, namespace, {"frozen": frozen, "eq": eq, "repr": repr}, kw_only=kw_only, has_slots=slots)
    methods: dict[str, object] = {name: _LateName(late, name) for name in _LATE}
    methods |= _representation(fields) if repr else {}
    methods |= _equality(fields, is_frozen=frozen) if eq else {}
    methods |= _freezing(made, fields, has_slots=slots) if frozen else {}
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    return made


if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, **options):
        """The decorator: see `with_methods` for the options."""
        return with_methods(cls, **options) if cls is not None else lambda cls: with_methods(cls, **options)


__all__ = ["dataclass", "with_methods"]


def _is_plain(cls: type) -> bool:
    """Whether a class has no bases, and nothing but fields is annotated."""
    kinds = cls.__annotations__.values()
    return cls.__bases__ == (object,) and not any(
        not isinstance(kind, str) or special in kind for kind in kinds for special in _SPECIAL
    )


def _options(default: object) -> dataclasses.Field[Any]:
    options: dataclasses.Field[Any] = default if isinstance(default, dataclasses.Field) else _PLAIN
    return options


def _with_slots(cls: type, fields: Fields) -> type:
    """The class anew, with slots for its fields."""
    left_out = {*fields, "__dict__", "__weakref__"}
    namespace = {name: value for name, value in vars(cls).items() if name not in left_out}
    made = type(cls)(cls.__name__, (), namespace | {"__slots__": tuple(fields)})
    made.__qualname__ = cls.__qualname__
    return made


def _with_defaults(cls: type, fields: Fields) -> type:
    """The class, whose attributes are the defaults of its fields."""
    for name, options in fields.items():
        if options.default is not dataclasses.MISSING:
            setattr(cls, name, options.default)
        elif options is not _PLAIN:
            delattr(cls, name)
    return cls


class _Late:
    """Makes what the standard library knows of a class, and `__init__`, when one of them is first wanted."""

    def __init__(
        self, cls: type, namespace: dict[str, Any], options: Mapping[str, bool], *, kw_only: bool, has_slots: bool
    ) -> None:
        self._cls = cls
        self._namespace = namespace
        self._options = options
        self._kw_only = kw_only
        self._has_slots = has_slots

    def make(self) -> None:
        """Put all in their places. Raises what the standard library raises for a mistake in the fields."""
        left_out = {"__dict__", "__weakref__"}
        namespace = {name: value for name, value in self._namespace.items() if name not in left_out}
        twin = _standard(
            type(self._cls.__name__, (), namespace), init=False, eq=False, repr=False, kw_only=self._kw_only
        )
        known = vars(twin)["__dataclass_params__"]  # classes that are derived by the standard library look at them
        for name, value in {**self._options, "init": True}.items():
            setattr(known, name, value)
        is_frozen = self._options["frozen"]
        init = _init(self._cls, dataclasses.fields(twin), is_frozen=is_frozen, has_slots=self._has_slots)
        for name in _LATE:
            if isinstance(vars(self._cls).get(name), _LateName):
                setattr(self._cls, name, init if name == "__init__" else vars(twin)[name])


class _LateName:
    """An attribute of a class that is made when it is first wanted."""

    def __init__(self, late: _Late, name: str) -> None:
        self._late = late
        self._name = name

    def __get__(self, instance: object, owner: type) -> object:
        self._late.make()
        return getattr(owner if instance is None else instance, self._name)


def _init(cls: type, fields: Sequence[dataclasses.Field[Any]], *, is_frozen: bool, has_slots: bool) -> FunctionType:
    """`__init__`, with the fields as parameters."""
    names: dict[str, Any] = {"_set": _SET, "_FACTORY": _FACTORY}
    body = [_assignment(it, names, has_slots=has_slots) for it in fields]
    lines = [
        f"_set(self, '{name}', {value})" if is_frozen else f"self.{name} = {value}"
        for name, value in filter(None, body)
    ]
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    by_position, by_name = (
        [_parameter(it) for it in fields if it.init and it.kw_only is is_named] for is_named in (False, True)
    )
    parameters = ", ".join(["self", *by_position, *(["*", *by_name] if by_name else [])])
    exec(f"def __init__({parameters}):\n " + "\n ".join(lines or ["pass"]), names)
    method: FunctionType = names["__init__"]
    method.__module__, method.__qualname__ = cls.__module__, f"{cls.__qualname__}.__init__"
    method.__annotations__ = {it.name: it.type for it in fields if it.init} | {"return": None}
    return method


def _parameter(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f"{field.name}=_default_{field.name}"
    return field.name if field.default_factory is dataclasses.MISSING else f"{field.name}=_FACTORY"


def _assignment(field: dataclasses.Field[Any], names: dict[str, Any], *, has_slots: bool) -> tuple[str, str] | None:
    """The field and its value in the text of `__init__`, which needs the `names`; None for a field without a value."""
    name, default, factory = field.name, f"_default_{field.name}", f"_factory_{field.name}"
    if field.default_factory is not dataclasses.MISSING:
        names[factory] = field.default_factory
        return name, f"{factory}() if {name} is _FACTORY else {name}" if field.init else f"{factory}()"
    if field.default is not dataclasses.MISSING:
        names[default] = field.default
        return (name, name) if field.init else (name, default) if has_slots else None
    return (name, name) if field.init else None


def _representation(fields: Fields) -> Methods:
    """`__repr__`, with the names and values of fields."""
    names = [name for name, it in fields.items() if it.repr]

    @recursive_repr()
    def shown(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{it}={getattr(self, it)!r}' for it in names)})"

    return {"__repr__": shown}


def _equality(fields: Fields, *, is_frozen: bool) -> Methods:
    """`__eq__`, and `__hash__` if the values cannot change."""
    values = _values([name for name, it in fields.items() if it.compare])
    hashed = _values([name for name, it in fields.items() if (it.compare if it.hash is None else it.hash)])

    def equal(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hash_of(self: object) -> int:
        return hash(hashed(self))

    return {"__eq__": equal, "__hash__": hash_of if is_frozen else None}


def _values(names: list[str]) -> Callable[[object], tuple[object, ...]]:
    """The function that gives the values of these fields."""
    return attrgetter(*names) if len(names) > 1 else lambda it: tuple(getattr(it, name) for name in names)


def _freezing(cls: type, fields: Fields, *, has_slots: bool) -> Methods:
    """The methods that refuse a change, and those by which pickle gives an object without a dictionary its values."""
    names = list(fields)
    known = frozenset(names)

    def set_attribute(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in known:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        _SET(self, name, value)

    def delete_attribute(self: object, name: str) -> None:
        if type(self) is cls or name in known:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        _DELETE(self, name)

    def state(self: object) -> list[object]:
        return [getattr(self, name) for name in names]

    def set_state(self: object, values: list[object]) -> None:
        for name, value in zip(names, values, strict=True):
            _SET(self, name, value)

    methods: Methods = {"__setattr__": set_attribute, "__delattr__": delete_attribute}
    return methods | ({"__getstate__": state, "__setstate__": set_state} if has_slots else {})
