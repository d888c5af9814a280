"""`dataclass` of the standard library, made ready sooner: a process makes hundreds of them before its first call.

The standard library writes each method of a class as text and compiles the text when the class is made, which takes
most of the time of importing a module: a frozen class has six such methods. Here each method is made when it is first
wanted. Only `__init__` is compiled, once for all classes whose fields have the same options: their code differs in
names alone. The other methods take the values of the fields from the object. The standard library is asked about the
fields when somebody else asks about them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from operator import attrgetter
from reprlib import recursive_repr
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Final, TypeGuard, cast

_SET: Final = object.__setattr__
_DELETE: Final = object.__delattr__
_OF_CLASS: Final = ("ClassVar", "typing.ClassVar")
_SPECIAL: Final = ("InitVar", "KW_ONLY")
"""Annotations that change what fields mean, which are left to the standard library."""
_INHERITED: Final = ("frozen", "kw_only")
"""Options in which classes that are derived from one another agree, else they are left to the standard library."""
_RECORD: Final = "__record__"
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

    A field without a default after one that has one is an error when the first object is made, and so is a default
    that can change.
    """
    options = {"frozen": frozen, "slots": slots, "eq": eq, "repr": repr, "kw_only": kw_only}
    if not _is_plain(cls, options):
        return _standard(cls, **options)
    given = vars(cls)
    names = [name for name, kind in cls.__annotations__.items() if not kind.startswith(_OF_CLASS)]
    record = _Record(cls, names, {name: given[name] for name in names if name in given}, options)
    makers = _KNOWN | (_SHOWN if repr else {}) | (_EQUAL if eq else {}) | (_FROZEN if frozen else {})
    makers |= _STATE if frozen and slots else {}
    methods: dict[str, object] = {name: _Late(record, name, make) for name, make in makers.items()}
    if eq and not frozen:
        methods["__hash__"] = None
    own = {name for name in methods if name in given and (name != "__hash__" or given[name] is not None)}
    added = {name: method for name, method in methods.items() if name not in own} | {_RECORD: record}
    record.cls = _with_slots(cls, names, added) if slots else _with_attributes(cls, record.defaults, added)
    if record.cls.__doc__ is None:
        record.cls.__doc__ = cls.__name__
    return record.cls


if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, **options):
        """The decorator: see `with_methods` for the options."""
        return with_methods(cls, **options) if cls is not None else lambda cls: with_methods(cls, **options)


__all__ = ["dataclass", "with_methods"]


def _is_plain(cls: type, options: Mapping[str, bool]) -> bool:
    """Whether all annotations are texts of ordinary ones, and each base with fields is of ours, and like the class."""
    for base in cls.__mro__[1:-1]:
        known: _Record | None = vars(base).get(_RECORD)
        if known is None and "__dataclass_fields__" in vars(base):
            return False
        if known is not None and any(known.options[name] != options[name] for name in _INHERITED):
            return False
    kinds = cls.__annotations__.values()
    if not all(isinstance(it, str) for it in kinds):
        return False
    text = " ".join(kinds)
    return not any(word in text for word in _SPECIAL)


def _is_field(value: object) -> TypeGuard[dataclasses.Field[Any]]:
    return isinstance(value, dataclasses.Field)


def _with_slots(cls: type, names: Sequence[str], added: Mapping[str, object]) -> type:
    """The class anew, with slots for its fields, and more attributes."""
    namespace = {**vars(cls), **added}
    for name in (*names, "__dict__", "__weakref__"):
        namespace.pop(name, None)
    inherited = {name for base in cls.__mro__[1:-1] for name in _slots_of(base)}
    namespace["__slots__"] = tuple(name for name in names if name not in inherited)
    made = type(cls)(cls.__name__, cls.__bases__, namespace)
    made.__qualname__ = cls.__qualname__
    return made


def _slots_of(base: type) -> Sequence[str]:
    slots: str | Sequence[str] = vars(base).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else slots


def _with_attributes(cls: type, defaults: Mapping[str, object], added: Mapping[str, object]) -> type:
    """The class, whose attributes are the defaults of its fields, with more attributes."""
    for name, default in defaults.items():
        if _is_field(default) and default.default is dataclasses.MISSING:
            delattr(cls, name)
        elif _is_field(default):
            setattr(cls, name, default.default)
    for name, value in added.items():
        setattr(cls, name, value)
    return cls


class _Record:
    """What is known of a class: the names of its own fields, their defaults or options, and the decorator's options."""

    def __init__(
        self, cls: type, own: Sequence[str], defaults: Mapping[str, object], options: Mapping[str, bool]
    ) -> None:
        self.cls = cls
        self.own = own
        self.options = options
        self.defaults = defaults

    @cached_property
    def bases(self) -> list[_Record]:
        """The records of the class and its bases, first those whose fields come first."""
        found = [vars(it).get(_RECORD) for it in reversed(self.cls.__mro__)]
        return [it for it in found if it is not None]

    @cached_property
    def fields(self) -> Mapping[str, dataclasses.Field[Any]]:
        """The options of each field."""
        return {name: it._field(name) for it in self.bases for name in it.own}

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """The annotation of each field."""
        return {name: it.cls.__annotations__[name] for it in self.bases for name in it.own}

    def _field(self, name: str) -> dataclasses.Field[Any]:
        if name not in self.defaults:
            return _PLAIN
        default = self.defaults[name]
        if _is_field(default):
            return default
        if type(default).__hash__ is None:
            raise ValueError(f"mutable default {type(default)} for field {name} is not allowed: use default_factory")
        return cast("dataclasses.Field[Any]", dataclasses.field(default=default))

    def is_by_name(self, name: str) -> bool:
        """Whether `__init__` takes a field by its name only."""
        wanted = self.fields[name].kw_only
        return self.options["kw_only"] if wanted is dataclasses.MISSING else bool(wanted)

    @cached_property
    def parameters(self) -> tuple[list[str], list[str]]:
        """The fields that `__init__` takes by position, and by name only."""
        given = [name for name, it in self.fields.items() if it.init]
        by_name = [name for name in given if self.is_by_name(name)]
        return [name for name in given if name not in by_name], by_name

    @cached_property
    def twin(self) -> type[Any]:
        """A class with the same fields that the standard library made, which has what it knows of them."""
        declared = {name: it for name, it in self.fields.items() if it is not _PLAIN}
        names: dict[str, object] = {"__doc__": self.cls.__doc__, "__module__": self.cls.__module__}
        bare = type(self.cls.__name__, (), names | {"__annotations__": self.kinds} | declared)
        made = _standard(bare, init=False, eq=False, repr=False, kw_only=self.options["kw_only"])
        known = made.__dataclass_params__
        known.init, known.frozen = True, self.options["frozen"]
        known.eq, known.repr = self.options["eq"], self.options["repr"]
        return made


Maker = Callable[[_Record], object]
"""Makes an attribute of a class."""


class _Late:
    """An attribute of a class that is made when it is first wanted, of the class or of an object."""

    __slots__ = ("_make", "_name", "_record")

    def __init__(self, record: _Record, name: str, make: Maker) -> None:
        self._record = record
        self._name = name
        self._make = make

    def __get__(self, instance: object, owner: type) -> object:
        setattr(self._record.cls, self._name, self._make(self._record))
        return getattr(owner if instance is None else instance, self._name)


# The construction of objects


def _init(record: _Record) -> FunctionType:
    """`__init__`, with the fields as parameters, some of them only by name.

    Its code is that of numbered fields, in which the numbers are replaced by names.
    """
    numbered = {name: f"field{number}" for number, name in enumerate(record.fields)}
    names: dict[str, object] = {"_set": _SET, "_FACTORY": _FACTORY}
    for name, it in record.fields.items():
        names[f"_default_{numbered[name]}"], names[f"_factory_{numbered[name]}"] = it.default, it.default_factory
    text = "\n ".join(_lines_of_init(record, numbered))
    code = _renamed(_compiled(text), {number: name for name, number in numbered.items()})
    positional, by_name = record.parameters
    method = FunctionType(code, names, "__init__", _defaults(record, positional))
    method.__kwdefaults__ = {name: _default(record, name) for name in by_name if _has_default(record, name)}
    method.__module__, method.__qualname__ = record.cls.__module__, f"{record.cls.__qualname__}.__init__"
    method.__annotations__ = {name: record.kinds[name] for name, it in record.fields.items() if it.init}
    method.__annotations__["return"] = None
    return method


@cache
def _compiled(text: str) -> CodeType:
    """The code of a function `__init__`."""
    names: dict[str, Any] = {}
    exec(text, names)
    code: CodeType = names["__init__"].__code__
    return code


def _renamed(code: CodeType, names: Mapping[object, str]) -> CodeType:
    """The code with other names of parameters and attributes."""
    parameters, used = ([names.get(it, it) for it in old] for old in (code.co_varnames, code.co_names))
    constants = tuple(names.get(it, it) for it in code.co_consts)
    return code.replace(co_varnames=tuple(parameters), co_names=tuple(used), co_consts=constants)


def _lines_of_init(record: _Record, numbered: Mapping[str, str]) -> Iterator[str]:
    positional, by_name = ([numbered[name] for name in part] for part in record.parameters)
    yield f"def __init__({', '.join(['self', *positional, *(['*', *by_name] if by_name else [])])}):"
    for name, number in numbered.items():
        value = _initial(record.fields[name], number, has_slots=record.options["slots"])
        if value is not None:
            yield f"_set(self, '{number}', {value})" if record.options["frozen"] else f"self.{number} = {value}"
    yield "self.__post_init__()" if hasattr(record.cls, "__post_init__") else "pass"


def _initial(field: dataclasses.Field[Any], name: str, *, has_slots: bool) -> str | None:
    """What `__init__` gives a field; None for one that keeps the class's attribute, or has no value."""
    if field.default_factory is not dataclasses.MISSING:
        return f"_factory_{name}() if {name} is _FACTORY else {name}" if field.init else f"_factory_{name}()"
    if field.init:
        return name
    return f"_default_{name}" if has_slots and field.default is not dataclasses.MISSING else None


def _defaults(record: _Record, positional: Sequence[str]) -> tuple[object, ...]:
    """The defaults of the last parameters. Raises TypeError for a parameter without one after them."""
    found: list[object] = []
    for name in positional:
        if _has_default(record, name):
            found.append(_default(record, name))
        elif found:
            raise TypeError(f"non-default argument {name!r} follows default argument")
    return tuple(found)


def _has_default(record: _Record, name: str) -> bool:
    field = record.fields[name]
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def _default(record: _Record, name: str) -> object:
    field = record.fields[name]
    return _FACTORY if field.default is dataclasses.MISSING else field.default


def _match_args(record: _Record) -> tuple[str, ...]:
    return tuple(record.parameters[0])


# The other methods


def _representation(record: _Record) -> object:
    """`__repr__`, with the names and values of fields."""
    names = [name for name, it in record.fields.items() if it.repr]

    @recursive_repr()
    def shown(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{it}={getattr(self, it)!r}' for it in names)})"

    return shown


def _equal(record: _Record) -> object:
    """`__eq__`, of objects of one class."""
    values = _values([name for name, it in record.fields.items() if it.compare])

    def equal(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _hash(record: _Record) -> object:
    """`__hash__`, of values that cannot change."""
    names = [name for name, it in record.fields.items() if (it.compare if it.hash is None else it.hash)]
    values = _values(names)

    def hash_of(self: object) -> int:
        return hash(values(self))

    return hash_of


def _values(names: list[str]) -> Callable[[object], tuple[object, ...]]:
    """The function that gives the values of these fields."""
    return attrgetter(*names) if len(names) > 1 else lambda it: tuple(getattr(it, name) for name in names)


def _set_attribute(record: _Record) -> object:
    """`__setattr__`, which refuses a change."""
    cls, known = record.cls, frozenset(record.fields)

    def set_attribute(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in known:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        _SET(self, name, value)

    return set_attribute


def _delete_attribute(record: _Record) -> object:
    """`__delattr__`, which refuses a change."""
    cls, known = record.cls, frozenset(record.fields)

    def delete_attribute(self: object, name: str) -> None:
        if type(self) is cls or name in known:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        _DELETE(self, name)

    return delete_attribute


def _state(record: _Record) -> object:
    """`__getstate__`, for pickles of objects without a dictionary."""
    names = list(record.fields)

    def state(self: object) -> list[object]:
        return [getattr(self, name) for name in names]

    return state


def _set_state(record: _Record) -> object:
    """`__setstate__`, for objects that refuse a change."""
    names = list(record.fields)

    def set_state(self: object, values: list[object]) -> None:
        for name, value in zip(names, values, strict=True):
            _SET(self, name, value)

    return set_state


def _known_fields(record: _Record) -> object:
    return record.twin.__dataclass_fields__


def _known_options(record: _Record) -> object:
    return record.twin.__dataclass_params__


_KNOWN: Final[dict[str, Maker]] = {
    "__init__": _init,
    "__match_args__": _match_args,
    "__dataclass_fields__": _known_fields,
    "__dataclass_params__": _known_options,
}
_SHOWN: Final[dict[str, Maker]] = {"__repr__": _representation}
_EQUAL: Final[dict[str, Maker]] = {"__eq__": _equal, "__hash__": _hash}
_FROZEN: Final[dict[str, Maker]] = {"__setattr__": _set_attribute, "__delattr__": _delete_attribute}
_STATE: Final[dict[str, Maker]] = {"__getstate__": _state, "__setstate__": _set_state}
