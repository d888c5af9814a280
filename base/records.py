"""`dataclass` of the standard library, made ready sooner: a process makes hundreds of them before its first call.

The standard library writes each method of a class as text and compiles the text when the class is made, which takes
most of the time of importing a module: a frozen class has six such methods. Here only `__init__` is compiled, when the
first object is made. The other methods are functions that are the same for all classes, and take the values of the
fields from the object. The standard library is asked about the fields when somebody else asks about them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, TypeGuard, cast

Fields = Mapping[str, dataclasses.Field[Any]]
Methods = dict[str, Callable[..., object] | None]

_SET: Final = object.__setattr__
_DELETE: Final = object.__delattr__
_OF_CLASS: Final = ("ClassVar", "typing.ClassVar")
_SPECIAL: Final = ("InitVar", "KW_ONLY")
"""Annotations that change what fields mean, which are left to the standard library."""
_PLAIN: Final[dataclasses.Field[Any]] = dataclasses.field()
"""A field without options."""


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

    A field without a default after one that has one is an error when the first object is made.
    """
    if not _is_plain(cls):
        return _standard(cls, frozen=frozen, slots=slots, eq=eq, repr=repr, kw_only=kw_only)
    given, kinds = vars(cls), cls.__annotations__
    fields = {name: _field(name, given) for name, kind in kinds.items() if not kind.startswith(_OF_CLASS)}
    own = {name for name, value in given.items() if name != "__hash__" or value is not None}
    by_name = {name for name, it in fields.items() if (kw_only if it.kw_only is dataclasses.MISSING else it.kw_only)}
    made = _with_slots(cls, fields) if slots else _with_defaults(cls, fields)
    made.__doc__ = cls.__doc__ or cls.__name__
    methods: dict[str, object] = {
        "__match_args__": tuple(name for name, it in fields.items() if it.init and name not in by_name),
        "__init__": _Late(made, "__init__", lambda: _init(made, fields, by_name, is_frozen=frozen, has_slots=slots)),
        **_known(made, fields, kinds, {"frozen": frozen, "eq": eq, "repr": repr, "kw_only": kw_only}),
    }
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
    """Whether no base of a class has fields, and all annotations are texts of ordinary ones."""
    if any("__dataclass_fields__" in vars(base) for base in cls.__mro__[1:]):
        return False
    return all(isinstance(it, str) and not any(word in it for word in _SPECIAL) for it in cls.__annotations__.values())


def _is_field(value: object) -> TypeGuard[dataclasses.Field[Any]]:
    return isinstance(value, dataclasses.Field)


def _field(name: str, given: Mapping[str, object]) -> dataclasses.Field[Any]:
    default = given.get(name, dataclasses.MISSING)
    if _is_field(default):
        return default
    if default is dataclasses.MISSING:
        return _PLAIN
    if type(default).__hash__ is None:
        raise ValueError(f"mutable default {type(default)} for field {name} is not allowed: use default_factory")
    return cast("dataclasses.Field[Any]", dataclasses.field(default=default))


def _with_slots(cls: type, fields: Fields) -> type:
    """The class anew, with slots for its fields."""
    left_out = {*fields, "__dict__", "__weakref__"}
    namespace = {name: value for name, value in vars(cls).items() if name not in left_out}
    inherited = {name for base in cls.__mro__[1:] for name in _slots_of(base)}
    slots = tuple(name for name in fields if name not in inherited)
    made = type(cls)(cls.__name__, cls.__bases__, namespace | {"__slots__": slots})
    made.__qualname__ = cls.__qualname__
    return made


def _slots_of(base: type) -> Sequence[str]:
    slots: str | Sequence[str] = vars(base).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else slots


def _with_defaults(cls: type, fields: Fields) -> type:
    """The class, whose attributes are the defaults of its fields."""
    for name, options in fields.items():
        if options.default is not dataclasses.MISSING:
            setattr(cls, name, options.default)
        elif options is not _PLAIN:
            delattr(cls, name)
    return cls


class _Late:
    """An attribute of a class that is made when it is first wanted, of the class or of an object."""

    def __init__(self, cls: type, name: str, make: Callable[[], object]) -> None:
        self._cls = cls
        self._name = name
        self._make = make

    def __get__(self, instance: object, owner: type) -> object:
        setattr(self._cls, self._name, self._make())
        return getattr(owner if instance is None else instance, self._name)


def _known(cls: type, fields: Fields, kinds: Mapping[str, str], options: Mapping[str, bool]) -> Mapping[str, _Late]:
    """What the standard library knows of a class, which its functions and derived classes look at."""

    def twin() -> type[Any]:
        declared = {name: it for name, it in fields.items() if it is not _PLAIN}
        names = {"__doc__": cls.__doc__, "__module__": cls.__module__, "__annotations__": kinds}
        made = _standard(
            type(cls.__name__, (), names | declared), init=False, eq=False, repr=False, kw_only=options["kw_only"]
        )
        known = made.__dataclass_params__
        known.init, known.frozen, known.eq, known.repr = True, options["frozen"], options["eq"], options["repr"]
        return made

    names = ("__dataclass_fields__", "__dataclass_params__")
    return {name: _Late(cls, name, partial(_attribute_of, twin, name)) for name in names}


def _attribute_of(make: Callable[[], type[Any]], name: str) -> object:
    return getattr(make(), name)


def _init(cls: type, fields: Fields, by_name: Collection[str], *, is_frozen: bool, has_slots: bool) -> FunctionType:
    """`__init__`, with the fields as parameters, some of them only by name."""
    names: dict[str, Any] = {"_set": _SET, "_FACTORY": _FACTORY}
    body = [_assignment(name, it, names, has_slots=has_slots) for name, it in fields.items()]
    lines = [
        f"_set(self, '{name}', {value})" if is_frozen else f"self.{name} = {value}"
        for name, value in filter(None, body)
    ]
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    given = {name: it for name, it in fields.items() if it.init}
    positional = [_parameter(name, it) for name, it in given.items() if name not in by_name]
    named = [_parameter(name, it) for name, it in given.items() if name in by_name]
    parameters = ", ".join(["self", *positional, *(["*", *named] if named else [])])
    exec(f"def __init__({parameters}):\n " + "\n ".join(lines or ["pass"]), names)
    method: FunctionType = names["__init__"]
    method.__module__, method.__qualname__ = cls.__module__, f"{cls.__qualname__}.__init__"
    kinds = cls.__annotations__
    method.__annotations__ = {name: kinds[name] for name in given} | {"return": None}
    return method


def _parameter(name: str, field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f"{name}=_default_{name}"
    return name if field.default_factory is dataclasses.MISSING else f"{name}=_FACTORY"


def _assignment(
    name: str, field: dataclasses.Field[Any], names: dict[str, Any], *, has_slots: bool
) -> tuple[str, str] | None:
    """The field and its value in the text of `__init__`, which needs the `names`; None for a field without a value."""
    default, factory = f"_default_{name}", f"_factory_{name}"
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
