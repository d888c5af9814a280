"""The rules of the ASDL dialect that its grammar cannot express."""

from __future__ import annotations

import keyword
from collections.abc import Iterator

from .check_operations import check_operations
from .model import (
    RESERVED_CLASSES,
    RESERVED_FIELDS,
    RESERVED_FOR_USERS,
    Definition,
    EnumDefault,
    Extern,
    Field,
    Kind,
    Product,
    Reference,
    SchemaError,
    SchemaModule,
    SchemaPosition,
    Sum,
    TextForm,
    camel_case,
)
from .runtime import REQUIRED, Count


def check(module: SchemaModule) -> None:
    """Raise `SchemaError` at the first broken rule."""
    _check_definition_names(module)
    for definition in module.sums:
        _check_alternatives(module, definition)
    _check_class_names(module)
    for kind in module.kinds:
        _check_fields(module, kind)
    for text in module.texts:
        _check_text(module, text)
    if module.tracked is not None:
        _check_tracked(module, module.tracked)
    check_operations(module)


def _check_definition_names(module: SchemaModule) -> None:
    seen: set[str] = set()
    named: list[Extern | Definition] = [*module.externs, *module.definitions]
    for definition in named:
        if not definition.name[:1].islower():
            raise SchemaError(definition.place, f"the type '{definition.name}' must begin with a lower-case letter")
        if definition.name in seen:
            raise SchemaError(definition.place, f"'{definition.name}' is declared twice")
        seen.add(definition.name)


def _check_text(module: SchemaModule, text: TextForm) -> None:
    if all(module.text_form(kind) is None for kind in module.members(camel_case(text.name))):
        raise SchemaError(text.place, f"'{text.name}' is no kind of node, so it has no text")
    if [it.name for it in module.texts].count(text.name) > 1:
        raise SchemaError(text.place, f"'{text.name}' has two texts")


def _check_class_names(module: SchemaModule) -> None:
    """Every Python name that the output binds is bound once; in `sum = Sum(…)` sum and constructor share one."""
    seen = {it.python_class for it in module.externs} | RESERVED_CLASSES
    if module.tracked is not None:
        seen |= {"User", "Value", "AnyValue"}
    for name, place in _class_names(module):
        if name in seen or keyword.iskeyword(name):
            raise SchemaError(place, f"the class name '{name}' is already taken")
        seen.add(name)


def _class_names(module: SchemaModule) -> Iterator[tuple[str, SchemaPosition]]:
    yield from ((kind.name, kind.place) for kind in module.kinds)
    yield from ((camel_case(it.name), it.place) for it in module.enums)
    yield from ((camel_case(it.name), it.place) for it in module.sums if has_alias(module, it))
    for group in module.groups:
        yield from ((name, module.place) for name in (group.name, f"Any{group.name}"))


def has_alias(module: SchemaModule, definition: Sum) -> bool:
    """Whether the sum gets a union alias: not the tracked sum, nor one that is named like its only constructor."""
    named_like_its_kind = [kind.name for kind in module.members(definition.name)] == [camel_case(definition.name)]
    return definition.name != module.tracked and not named_like_its_kind


def _check_alternatives(module: SchemaModule, definition: Sum, inside: tuple[str, ...] = ()) -> None:
    if definition.name in inside:
        raise SchemaError(definition.place, f"the sum '{definition.name}' contains itself")
    for alternative in definition.alternatives:
        if isinstance(alternative, Reference):
            _check_reference(module, alternative)
            for sum_ in module.sums:
                if sum_.name == alternative.name:
                    _check_alternatives(module, sum_, (*inside, definition.name))


def _check_reference(module: SchemaModule, reference: Reference) -> None:
    known = {it.name for it in module.definitions if isinstance(it, (Sum, Product))}
    known |= {kind.name for kind in module.kinds}
    if reference.name in known:
        return
    if module.category(reference.name) is not None:
        raise SchemaError(reference.place, f"'{reference.name}' is not a node type, so it cannot be part of a sum")
    raise SchemaError(reference.place, f"unknown type '{reference.name}'")


def _check_fields(module: SchemaModule, kind: Kind) -> None:
    seen: set[str] = set()
    reserved = RESERVED_FIELDS | RESERVED_FOR_USERS if module.tracked is not None else RESERVED_FIELDS
    for spec in kind.fields:
        if spec.name in reserved or keyword.iskeyword(spec.name) or spec.name.startswith("_"):
            raise SchemaError(spec.place, f"the field name '{spec.name}' is reserved")
        if spec.name in seen:
            raise SchemaError(spec.place, f"'{kind.name}' has two fields named '{spec.name}'")
        seen.add(spec.name)
        if module.category(spec.type) is None:
            raise SchemaError(spec.place, f"unknown type '{spec.type}'")
        _check_default(module, spec)


def _check_default(module: SchemaModule, spec: Field) -> None:
    if not _default_fits(module, spec):
        raise SchemaError(spec.place, f"the default of '{spec.name}' does not fit its type")


def _default_fits(module: SchemaModule, spec: Field) -> bool:
    if spec.default is REQUIRED:
        return True
    if spec.count is Count.MANY:
        return spec.default == ()
    if spec.default is None:
        return spec.count is Count.OPTIONAL
    if isinstance(spec.default, EnumDefault):
        enum = module.enum(spec.type)
        return enum is not None and spec.default.constructor in enum.constructors
    return type(spec.default).__name__ == spec.type


def _check_tracked(module: SchemaModule, tracked: str) -> None:
    members = module.members(tracked)
    if not any(it.name == tracked for it in module.sums):
        raise SchemaError(module.place, f"the tracked sum '{tracked}' is not declared")
    if module.immutable:
        raise SchemaError(module.place, "an immutable schema cannot track uses")
    for kind in members:
        if not kind.identity:
            raise SchemaError(kind.place, f"'{kind.name}' is part of the tracked sum, so it needs an @")
    for kind in module.kinds:
        _check_operands(module, kind, tracked)


def _check_operands(module: SchemaModule, kind: Kind, tracked: str) -> None:
    operands = [spec for spec in kind.fields if spec.type == tracked]
    for spec in operands:
        if not kind.identity:
            raise SchemaError(spec.place, f"'{kind.name}' holds an operand, so it needs an @")
        if spec.hidden:
            raise SchemaError(spec.place, f"the operand '{spec.name}' cannot be hidden")
        if spec.count is not Count.ONE and spec is not operands[-1]:
            raise SchemaError(spec.place, f"'{spec.name}' is not of fixed length, so it must be the last operand")
