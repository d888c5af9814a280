"""`dataclass` of the standard library, made ready sooner: a process makes hundreds of them before its first call.

The standard library writes each method of a class as text and compiles the text when the class is made, which takes
most of the time of importing a module: a frozen class has six such methods. Here each method is made when it is first
wanted. Only `__init__` is compiled, once for all classes with the same number of fields (see `record_shapes`): their
code differs in names alone. The other methods take the values of the fields from the object. The standard library is
imported and asked about the fields when somebody else asks about them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, cast

from ..base.cached import cached_property
from .record_shapes import renamed, shape

if TYPE_CHECKING:
    import dataclasses

_SET: Final = object.__setattr__
_DELETE: Final = object.__delattr__
_OF_CLASS: Final = ("ClassVar", "typing.ClassVar")
_RECORD: Final = "__record__"


class _Mark:
    """A value that stands for another one."""

    def __init__(self, shown: str) -> None:
        self._shown = shown

    def __repr__(self) -> str:
        return self._shown


_MISSING: Final = _Mark("<missing>")
"""In place of an option that is not given."""
_FACTORY: Final = _Mark("<factory>")
"""The default of a parameter whose value a function makes."""


class Field:
    """The options of a field, as in the standard library."""

    __slots__ = ("compare", "default", "default_factory", "hash", "init", "kw_only", "repr")

    def __init__(
        self,
        *,
        default: object = _MISSING,
        default_factory: Callable[[], object] | None = None,
        init: bool = True,
        repr: bool = True,
        hash: bool | None = None,
        compare: bool = True,
        kw_only: bool | None = None,
    ) -> None:
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.hash = hash
        self.compare = compare
        self.kw_only = kw_only

    @property
    def has_default(self) -> bool:
        """Whether a value need not be given."""
        return self.default is not _MISSING or self.default_factory is not None

    def standard(self) -> dataclasses.Field[Any]:
        """The same options for the standard library."""
        import dataclasses

        names = ("init", "repr", "hash", "compare")
        options: dict[str, Any] = {name: getattr(self, name) for name in names}
        options |= {} if self.default is _MISSING else {"default": self.default}
        options |= {} if self.default_factory is None else {"default_factory": self.default_factory}
        options |= {} if self.kw_only is None else {"kw_only": self.kw_only}
        return cast("dataclasses.Field[Any]", dataclasses.field(**options))


_PLAIN: Final = Field()
"""A field without options."""


def with_methods(
    cls: type, *, frozen: bool = False, slots: bool = False, eq: bool = True, repr: bool = True, kw_only: bool = False
) -> type:
    """The class that `dataclasses.dataclass` makes with these options, but for the docstring of one that has none.

    A field without a default after one that has one is an error when the first object is made, and so is a default
    that can change. Fields have options of `field` in this module.
    """
    kinds: Mapping[str, object] = cls.__annotations__
    if not _is_plain(cls, kinds.values(), is_frozen=frozen, is_by_name=kw_only):
        return _made_by_standard(cls, frozen=frozen, slots=slots, eq=eq, repr=repr, kw_only=kw_only)
    given = cls.__dict__
    names = [name for name, kind in kinds.items() if not cast("str", kind).startswith(_OF_CLASS)]
    defaults = {name: given[name] for name in names if name in given}
    record = _Record(names, defaults, is_frozen=frozen, has_slots=slots, has_eq=eq, has_repr=repr, is_by_name=kw_only)
    added: dict[str, object] = {_RECORD: record}
    for name, make in _makers(frozen, slots, eq, repr):
        if given.get(name) is None:  # `__hash__` is None in a class with its own `__eq__`
            added[name] = None if make is None else _Late(record, name, make)
    if given["__doc__"] is None:
        added["__doc__"] = cls.__name__
    record.cls = _with_slots(cls, names, added) if slots else _with_attributes(cls, defaults, added)
    return record.cls


if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace
else:
    field = Field

    def dataclass(cls=None, /, **options):
        """The decorator: see `with_methods` for the options."""
        return with_methods(cls, **options) if cls is not None else lambda cls: with_methods(cls, **options)

    def replace(value, /, **changes):
        """A copy of an object with other values of some fields, given by name."""
        record = getattr(type(value), _RECORD)
        if record is None:
            from dataclasses import replace

            return replace(value, **changes)
        for name, it in record.fields.items():
            if it.init and name not in changes:
                changes[name] = getattr(value, name)
        return type(value)(**changes)


__all__ = ["dataclass", "field", "replace", "with_methods"]


def _is_plain(cls: type, kinds: Iterable[object], *, is_frozen: bool, is_by_name: bool) -> bool:
    """Whether all annotations are texts of ordinary ones, and each base with fields is of ours, and like the class.

    InitVar and KW_ONLY change what fields mean. Classes that are derived from one another must agree in whether they
    are frozen, and in whether `__init__` takes fields by name.
    """
    for base in cls.__mro__[1:-1]:
        known: _Record | None = base.__dict__.get(_RECORD)
        if known is None and "__dataclass_fields__" in base.__dict__:
            return False
        if known is not None and (known.is_frozen is not is_frozen or known.is_by_name is not is_by_name):
            return False
    return all(isinstance(it, str) and "InitVar" not in it and "KW_ONLY" not in it for it in kinds)


def _made_by_standard(cls: type, **options: bool) -> type:
    import dataclasses

    for name, value in list(vars(cls).items()):
        if isinstance(value, Field):
            setattr(cls, name, value.standard())
    made = cast("Callable[..., type[Any]]", dataclasses.dataclass)(cls, **options)
    setattr(made, _RECORD, None)  # in place of that of a base
    return made


def _with_slots(cls: type, names: Sequence[str], added: Mapping[str, object]) -> type:
    """The class anew, with slots for its fields, and more attributes."""
    namespace = {**cls.__dict__, **added}
    for name in (*names, "__dict__", "__weakref__"):
        namespace.pop(name, None)
    inherited = {name for base in cls.__mro__[1:-1] for name in _slots_of(base)}
    namespace["__slots__"] = tuple(name for name in names if name not in inherited) if inherited else tuple(names)
    made = type(cls)(cls.__name__, cls.__bases__, namespace)
    made.__qualname__ = cls.__qualname__
    return made


def _slots_of(base: type) -> Sequence[str]:
    slots: str | Sequence[str] = base.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else slots


def _with_attributes(cls: type, defaults: Mapping[str, object], added: Mapping[str, object]) -> type:
    """The class, whose attributes are the defaults of its fields, with more attributes."""
    for name, default in defaults.items():
        options = _options_of(default)
        if options is None:
            continue
        if options.default is _MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, options.default)
    for name, value in added.items():
        setattr(cls, name, value)
    return cls


def _options_of(default: object) -> Field | None:
    """The options that stand in place of a field's default; None for a default."""
    if isinstance(default, Field):
        return default
    return _from_standard(default) if type(default).__module__ == "dataclasses" else None


def _from_standard(default: object) -> Field | None:
    import dataclasses

    if not isinstance(default, dataclasses.Field):
        return None
    names = ("default", "default_factory", "init", "repr", "hash", "compare", "kw_only")
    options = cast("object", default)
    given = {name: getattr(options, name) for name in names}
    return Field(**{name: value for name, value in given.items() if value is not dataclasses.MISSING})


class _Record:
    """What is known of a class: the names of its own fields, their defaults or options, and the decorator's options."""

    cls: type

    def __init__(
        self,
        own: Sequence[str],
        defaults: Mapping[str, object],
        *,
        is_frozen: bool,
        has_slots: bool,
        has_eq: bool,
        has_repr: bool,
        is_by_name: bool,
    ) -> None:
        self.own = own
        self.defaults = defaults
        self.is_frozen = is_frozen
        self.has_slots = has_slots
        self.has_eq = has_eq
        self.has_repr = has_repr
        self.is_by_name = is_by_name

    @cached_property
    def bases(self) -> list[_Record]:
        """The records of the class and its bases, first those whose fields come first."""
        found = [it.__dict__.get(_RECORD) for it in reversed(self.cls.__mro__)]
        return [it for it in found if it is not None]

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """The options of each field."""
        return {name: it._field(name) if it.defaults else _PLAIN for it in self.bases for name in it.own}

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """The annotation of each field."""
        return {name: it.cls.__annotations__[name] for it in self.bases for name in it.own}

    def _field(self, name: str) -> Field:
        if name not in self.defaults:
            return _PLAIN
        default = self.defaults[name]
        options = _options_of(default)
        if options is not None:
            return options
        if type(default).__hash__ is None:
            raise ValueError(f"mutable default {type(default)} for field {name} is not allowed: use default_factory")
        return Field(default=default)

    @cached_property
    def parameters(self) -> tuple[list[str], list[str]]:
        """The fields that `__init__` takes by position, and by name only."""
        positional: list[str] = []
        by_name: list[str] = []
        for name, it in self.fields.items():
            is_by_name = self.is_by_name if it.kw_only is None else it.kw_only
            if it.init:
                (by_name if is_by_name else positional).append(name)
        return positional, by_name

    @cached_property
    def twin(self) -> type[Any]:
        """A class with the same fields that the standard library made, which has what it knows of them."""
        import dataclasses

        declared = {name: it.standard() for name, it in self.fields.items() if it is not _PLAIN}
        names: dict[str, object] = {"__doc__": self.cls.__doc__, "__module__": self.cls.__module__}
        bare = type(self.cls.__name__, (), names | {"__annotations__": self.kinds} | declared)
        standard = cast("Callable[..., type[Any]]", dataclasses.dataclass)
        made = standard(bare, init=False, eq=False, repr=False, kw_only=self.is_by_name)
        known = made.__dataclass_params__
        known.init, known.frozen = True, self.is_frozen
        known.eq, known.repr = self.has_eq, self.has_repr
        return made


Maker = Callable[[_Record], object]
"""Makes an attribute of a class."""


class _Late:
    """An attribute of a class that is made when it is first wanted, of the class or of an object.

    What is made is bound to what was asked for, without a second look-up: `super()` asks for the attribute of this
    class and an object of a derived one, and `inspect.signature`, from Python 3.12.3 on, for one bound to the class.
    """

    __slots__ = ("_make", "_name", "_record")

    def __init__(self, record: _Record, name: str, make: Maker) -> None:
        self._record = record
        self._name = name
        self._make = make

    def __get__(self, instance: object, owner: type) -> object:
        made = self._make(self._record)
        setattr(self._record.cls, self._name, made)
        bind = getattr(type(made), "__get__", None)
        return made if bind is None else bind(made, instance, owner)


# The construction of objects


def _init(record: _Record) -> FunctionType:
    """`__init__`, with the fields as parameters, some of them only by name.

    Its code is that of numbered fields, in which the numbers are replaced by names.
    """
    fields, (positional, by_name) = record.fields, record.parameters
    names = [*positional, *by_name]
    complete = _completion(record)
    code = shape(len(names), is_frozen=record.is_frozen, is_complete=complete is None)
    code = renamed(code, "__init__", {f"field{number}": name for number, name in enumerate(names)}, len(by_name))
    method = FunctionType(code, {"_set": _SET, "_complete": complete}, "__init__", _defaults(fields, positional))
    method.__kwdefaults__ = {name: _default(fields[name]) for name in by_name if fields[name].has_default}
    method.__module__, method.__qualname__ = record.cls.__module__, f"{record.cls.__qualname__}.__init__"
    method.__annotations__ = {name: record.kinds[name] for name in fields if fields[name].init} | {"return": None}
    return method


def _completion(record: _Record) -> Callable[[Any], None] | None:
    """What follows after the parameters were assigned; None if nothing does.

    Fields get the values that functions make, or that no parameter has, and `__post_init__` is called.
    """
    fields = record.fields.items()
    factories = [(name, it.default_factory) for name, it in fields if it.default_factory is not None and it.init]
    made = [(name, it.default_factory) for name, it in fields if it.default_factory is not None and not it.init]
    fixed = [(name, it.default) for name, it in fields if not it.init and it.default is not _MISSING]
    fixed = fixed if record.has_slots else []  # else the class has the default
    has_more = hasattr(record.cls, "__post_init__")
    if not (factories or made or fixed or has_more):
        return None

    def complete(self: Any) -> None:
        for name, make in factories:
            if getattr(self, name) is _FACTORY:
                _SET(self, name, make())
        for name, make in made:
            _SET(self, name, make())
        for name, value in fixed:
            _SET(self, name, value)
        if has_more:
            self.__post_init__()

    return complete


def _defaults(fields: Mapping[str, Field], positional: Sequence[str]) -> tuple[object, ...]:
    """The defaults of the last parameters. Raises TypeError for a parameter without one after them."""
    found: list[object] = []
    for name in positional:
        if fields[name].has_default:
            found.append(_default(fields[name]))
        elif found:
            raise TypeError(f"non-default argument {name!r} follows default argument")
    return tuple(found)


def _default(field: Field) -> object:
    return _FACTORY if field.default is _MISSING else field.default


def _match_args(record: _Record) -> tuple[str, ...]:
    return tuple(record.parameters[0])


# The other methods


def _representation(record: _Record) -> object:
    """`__repr__`, with the names and values of fields."""
    names = [name for name, it in record.fields.items() if it.repr]

    from reprlib import recursive_repr

    @recursive_repr()
    def shown(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{it}={getattr(self, it)!r}' for it in names)})"

    return shown


def _equal(record: _Record) -> object:
    """`__eq__`, of objects of one class: whether the tuples of their fields are equal.

    So two objects with the same object for a NaN are equal. The standard library compares field by field from Python
    3.13 on, where they are not.
    """
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
            raise _is_frozen(f"cannot assign to field {name!r}")
        _SET(self, name, value)

    return set_attribute


def _delete_attribute(record: _Record) -> object:
    """`__delattr__`, which refuses a change."""
    cls, known = record.cls, frozenset(record.fields)

    def delete_attribute(self: object, name: str) -> None:
        if type(self) is cls or name in known:
            raise _is_frozen(f"cannot delete field {name!r}")
        _DELETE(self, name)

    return delete_attribute


def _is_frozen(message: str) -> Exception:
    from dataclasses import FrozenInstanceError

    return FrozenInstanceError(message)


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


@cache
def _makers(frozen: bool, slots: bool, eq: bool, repr: bool) -> tuple[tuple[str, Maker | None], ...]:
    """The methods of a class with these options, and what makes them; nothing makes a hash of what can change."""
    makers: dict[str, Maker | None] = {
        "__init__": _init,
        "__match_args__": _match_args,
        "__dataclass_fields__": _known_fields,
        "__dataclass_params__": _known_options,
    }
    if repr:
        makers["__repr__"] = _representation
    if eq:
        makers |= {"__eq__": _equal, "__hash__": _hash if frozen else None}
    if frozen:
        makers |= {"__setattr__": _set_attribute, "__delattr__": _delete_attribute}
    if frozen and slots:
        makers |= {"__getstate__": _state, "__setstate__": _set_state}
    return tuple(makers.items())
