"""The rules of the ASDL dialect for operations: annotations and roles."""

from __future__ import annotations

from itertools import product
from typing import Final

from .model import (
    RESERVED_FOR_OPERATIONS,
    Annotation,
    Field,
    Flag,
    Kind,
    Role,
    SchemaError,
    SchemaModule,
)
from .runtime import Category, Count

_COMPUTES: Final = (Flag.PURE, Flag.INPUT, Flag.SCALAR)
_DOES_MORE: Final = (Flag.CONTROL, Flag.READS, Flag.WRITES, Flag.EXITS)


def check_operations(module: SchemaModule) -> None:
    """Raise `SchemaError` at the first broken rule."""
    _check_sum(module)
    words: set[str] = set()
    for kind in module.kinds:
        if module.is_operation(kind):
            _check_annotations(module, kind)
            _check_word(module, kind, words)
            _check_operation(module, kind)
        else:
            _check_other(module, kind)


def _check_sum(module: SchemaModule) -> None:
    if module.operations is None:
        return
    if not any(it.name == module.operations for it in module.sums):
        raise SchemaError(module.place, f"the sum of operations '{module.operations}' is not declared")
    if module.immutable:
        raise SchemaError(module.place, "an immutable schema has no operations")


def _check_other(module: SchemaModule, kind: Kind) -> None:
    """Annotations and roles are for operations, and edges in parts of operations are plain."""
    for annotation in kind.annotations:
        raise SchemaError(annotation.place, f"'{kind.name}' is no operation, so it has no annotations")
    for spec in kind.fields:
        if spec.role is not Role.DATA:
            raise SchemaError(spec.place, f"'{kind.name}' is no operation, so its fields have no roles")
        if kind.identity:
            continue
        if module.is_edge(spec) and spec.count is not Count.ONE:
            raise SchemaError(spec.place, f"'{spec.name}' must be one operand: '{kind.name}' is a part of operations")
        if module.leads_to_edges(spec):
            raise SchemaError(spec.place, f"'{spec.name}' holds operands, so it must be a field of an operation")


def _check_annotations(module: SchemaModule, kind: Kind) -> None:
    names = {flag.value for flag in Flag} | {spec.name for spec in kind.fields}
    seen: set[str] = set()
    for annotation in kind.annotations:
        if not annotation.is_text and annotation.text not in names:
            raise SchemaError(annotation.place, f"unknown annotation '{annotation.text}'")
        if annotation.text in seen:
            raise SchemaError(annotation.place, f"'{annotation.text}' stands twice")
        seen.add(annotation.text)
    for one, other in product(_COMPUTES, _DOES_MORE):
        if one in kind.flags and other in kind.flags:
            raise SchemaError(kind.place, f"'{kind.name}' cannot be both {one.value} and {other.value}")
    operands = [spec for spec in kind.fields if module.is_used(kind, spec)]
    if Flag.INPUT in kind.flags and operands:
        raise SchemaError(operands[0].place, f"'{kind.name}' is an input, so it has no operands")
    has_two = len(operands) > 1 or any(spec.count is Count.MANY for spec in operands)
    if Flag.COMMUTATIVE in kind.flags and not has_two:
        raise SchemaError(kind.place, f"'{kind.name}' is commutative, so it needs two operands")


def _check_word(module: SchemaModule, kind: Kind, words: set[str]) -> None:
    flags = {flag.value for flag in Flag}
    found = [it for it in kind.annotations if it.is_text or it.text not in flags]
    if not found:
        raise SchemaError(kind.place, f"'{kind.name}' is an operation, so it needs a word")
    if len(found) > 1:
        raise SchemaError(found[1].place, f"'{kind.name}' has a word already")
    _check_word_field(module, kind, found[0])
    for word in module.words(kind):
        if word in words:
            raise SchemaError(found[0].place, f"the word '{word}' is already taken")
        words.add(word)


def _check_word_field(module: SchemaModule, kind: Kind, annotation: Annotation) -> None:
    for spec in kind.fields:
        is_one = spec.count is Count.ONE and module.category(spec.type) in (Category.ENUM, Category.EXTERN)
        if kind.is_word(spec) and not is_one:
            raise SchemaError(annotation.place, f"the field '{spec.name}' cannot be a word")


def _check_operation(module: SchemaModule, kind: Kind) -> None:
    if not kind.identity:
        raise SchemaError(kind.place, f"'{kind.name}' is an operation, so it needs an @")
    for spec in kind.fields:
        if spec.name in RESERVED_FOR_OPERATIONS:
            raise SchemaError(spec.place, f"the field name '{spec.name}' is reserved")
        is_edge = module.is_edge(spec) and module.tracked is not None
        if spec.count is Count.OPTIONAL and (is_edge or module.leads_to_edges(spec)):
            raise SchemaError(spec.place, f"the operand '{spec.name}' cannot be optional")
        _check_role(module, kind, spec)
    pinned = [spec for spec in kind.fields if spec.role is Role.PINNED]
    if len(pinned) > 1 or any(spec.count is not Count.ONE for spec in pinned):
        raise SchemaError(pinned[-1].place, f"'{kind.name}' can be pinned to one node only")


def _check_role(module: SchemaModule, kind: Kind, spec: Field) -> None:
    match spec.role:
        case Role.DATA:
            pass
        case Role.NOTE:
            if module.is_used(kind, spec):
                raise SchemaError(spec.place, f"the operand '{spec.name}' cannot be a note")
        case Role.CONTROL | Role.PINNED:
            if spec.hidden:
                raise SchemaError(spec.place, f"the hidden field '{spec.name}' cannot be {spec.role.value}")
            if not any(Flag.CONTROL in it.flags for it in module.members(spec.type)):
                raise SchemaError(spec.place, f"'{spec.name}' cannot be control: no '{spec.type}' is")
