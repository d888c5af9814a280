"""The methods of a builder that only construct, as Python text."""

from __future__ import annotations

import keyword
from collections.abc import Iterator

from .emit_classes import declaration, element_type, literal
from .emit_text import call, docstring, signature
from .model import Field, Flag, Kind, Role, SchemaModule, camel_case, snake_case
from .runtime import Category, Count


def builder_class(module: SchemaModule) -> str:
    """The class `OperationBuilder`, and the type variable that it needs."""
    assert module.operations is not None
    operation = camel_case(module.operations)
    lines = [f'{operation}T = TypeVar("{operation}T", bound={operation})', "", "", "class OperationBuilder:"]
    lines += docstring(
        "A method for each kind of operation that only constructs it; `add` says what a builder does with each.", "    "
    )
    lines += [
        "",
        f"    def add(self, operation: {operation}T, /) -> {operation}T:",
        "        raise NotImplementedError",
    ]
    for kind in module.members(module.operations):
        if Flag.COMPOSED not in kind.flags:
            lines += _method(module, kind)
    return "\n".join(lines)


def _method(module: SchemaModule, kind: Kind) -> Iterator[str]:
    word = kind.word or snake_case(kind.name)
    name = f"{word}_" if keyword.iskeyword(word) else word
    given = [spec for spec in kind.fields if _is_given(module, kind, spec)]
    parameters = [_parameter(module, spec) for spec in given if spec.role is not Role.NOTE and spec.required]
    named = [_parameter(module, spec) for spec in given if spec.role is Role.NOTE or not spec.required]
    yield ""
    parameters = ["self", *parameters, *(["*", *named] if named else [])]
    yield "    " + signature(f"def {name}", parameters, 4, f" -> {kind.name}:")
    yield from docstring(f"`{declaration(kind)}`", "        ")
    required = [_argument(module, kind, spec) for spec in kind.fields if spec.required]
    defaults = [f"{spec.name}={_argument(module, kind, spec)}" for spec in given if not spec.required]
    made = call(kind.name, [*required, *defaults], 8 + len("return self.add()"))
    yield f"        return self.add({made})"


def _is_given(module: SchemaModule, kind: Kind, spec: Field) -> bool:
    """Whether the field is a parameter of the method. `add` sets the type of a tracked value, and notes other than
    text.
    """
    if spec.role is Role.NOTE:
        return module.category(spec.type) is Category.SCALAR
    return not module.in_base(kind, spec)


def _parameter(module: SchemaModule, spec: Field) -> str:
    element = element_type(module, spec)
    if spec.count is Count.MANY:
        return f"{spec.name}: Iterable[{element}]"
    annotation = f"{element} | None" if spec.count is Count.OPTIONAL else element
    return f"{spec.name}: {annotation}" + _default(spec)


def _default(spec: Field) -> str:
    if not spec.required:
        return f" = {literal(spec)}"
    return " = None" if spec.role is Role.NOTE and spec.count is Count.OPTIONAL else ""


def _argument(module: SchemaModule, kind: Kind, spec: Field) -> str:
    if not _is_given(module, kind, spec):
        return "UNTYPED"
    is_list = spec.count is Count.MANY and not module.derives_from_user(kind)
    return f"list({spec.name})" if is_list else spec.name
