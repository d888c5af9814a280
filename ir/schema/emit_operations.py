"""The methods of operations, as Python text: edges, attributes, copies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .emit_text import call, entries
from .model import Field, Flag, Kind, Role, SchemaModule, camel_case
from .runtime import Count

_BODY = 8


def operation_methods(module: SchemaModule, kind: Kind) -> Iterator[str]:
    """The lines of the methods of an operation, or of a part of operations that may hold edges."""
    if module.is_operation(kind):
        if module.tracked is None:
            yield from _inputs(module, kind)
            yield from _map_inputs(module, kind)
            yield from _control_inputs(module, kind)
            yield from _pinned_to(module, kind)
        yield from _attributes(module, kind)
        yield from _is_commutative(module, kind)
        yield from _copy(module, kind)
    elif module.is_holder(kind):
        yield from _inputs(module, kind)
        yield from _mapped(module, kind)
        yield from _attributes(module, kind)


def _method(head: str, body: Iterable[str], decorator: str = "") -> Iterator[str]:
    yield from ("", *([f"    {decorator}"] if decorator else []), f"    {head}", *(f"        {line}" for line in body))


def _nodes(module: SchemaModule) -> str:
    assert module.operations is not None
    return camel_case(module.operations)


def _tuple(items: list[str]) -> str:
    """A tuple of the items, some of which may be starred."""
    if len(items) == 1 and items[0].startswith("*"):
        return f"tuple({items[0][1:]})"
    return entries("(", items, ")", _BODY, before=len("return "))


# Edges


def _inputs(module: SchemaModule, kind: Kind) -> Iterator[str]:
    parts = [_edges(module, spec) for spec in kind.fields]
    body = f"return {_tuple([it for it in parts if it])}"
    yield from _method(f"def inputs(self) -> tuple[{_nodes(module)}, ...]:", [body])


def _edges(module: SchemaModule, spec: Field) -> str:
    """The nodes that a field refers to, as items of a tuple; empty if the field holds no nodes."""
    is_many = spec.count is Count.MANY
    if module.is_edge(spec) and spec.count is Count.OPTIONAL:
        return f"*(() if self.{spec.name} is None else (self.{spec.name},))"
    if module.is_edge(spec):
        return f"*self.{spec.name}" if is_many else f"self.{spec.name}"
    if not module.leads_to_edges(spec):
        return ""
    return f"*[node for it in self.{spec.name} for node in it.inputs()]" if is_many else f"*self.{spec.name}.inputs()"


def _map_inputs(module: SchemaModule, kind: Kind) -> Iterator[str]:
    node = _nodes(module)
    body = [f"self.{spec.name} = {value}" for spec in kind.fields if (value := _changed(module, spec))]
    yield from _method(f"def map_inputs(self, change: Callable[[{node}], {node}]) -> None:", body or ["pass"])


def _mapped(module: SchemaModule, kind: Kind) -> Iterator[str]:
    """The method that maps edges. A part of an operation is immutable, so the method returns a new part."""
    node = _nodes(module)
    fields = [_changed(module, spec) or f"self.{spec.name}" for spec in kind.fields]
    result = f"{kind.name}({', '.join(fields)})" if module.holds_edges(kind) else "self"
    yield from _method(f"def mapped(self, change: Callable[[{node}], {node}]) -> {kind.name}:", [f"return {result}"])


def _changed(module: SchemaModule, spec: Field) -> str:
    """The new value of a field with all edges mapped; empty if the field has no edges."""
    is_many = spec.count is Count.MANY
    if module.is_edge(spec) and spec.count is Count.OPTIONAL:
        return f"None if self.{spec.name} is None else change(self.{spec.name})"
    if module.is_edge(spec):
        return f"[change(it) for it in self.{spec.name}]" if is_many else f"change(self.{spec.name})"
    if not module.leads_to_edges(spec):
        return ""
    return f"[it.mapped(change) for it in self.{spec.name}]" if is_many else f"self.{spec.name}.mapped(change)"


def _control_inputs(module: SchemaModule, kind: Kind) -> Iterator[str]:
    if Flag.CONTROL in kind.flags:
        parts = [_edges(module, spec) for spec in kind.fields if spec.role is Role.CONTROL]
        yield from _method(f"def control_inputs(self) -> tuple[{_nodes(module)}, ...]:", [f"return {_tuple(parts)}"])


def _pinned_to(module: SchemaModule, kind: Kind) -> Iterator[str]:
    for spec in kind.fields:
        if spec.role is Role.PINNED:
            yield from _method(f"def pinned_to(self) -> {_nodes(module)}:", [f"return self.{spec.name}"])


# Value numbers


def _attributes(module: SchemaModule, kind: Kind) -> Iterator[str]:
    parts = [] if module.is_operation(kind) else [kind.name]
    lists = [spec for spec in kind.fields if spec.count is Count.MANY and module.is_used(kind, spec)]
    for spec in kind.fields:
        if spec in lists[:-1]:
            parts.append(f"len(self.{spec.name})")  # separates one list of operands from the next
        elif spec.count is Count.OPTIONAL and module.is_edge(spec):
            parts.append(f"self.{spec.name} is not None")
        elif spec.role is not Role.NOTE and not module.is_used(kind, spec):
            parts.append(_attribute(module, spec))
    yield from _method("def attributes(self) -> tuple[Hashable, ...]:", [f"return {_tuple(parts)}"])


def _attribute(module: SchemaModule, spec: Field) -> str:
    is_many = spec.count is Count.MANY
    if module.leads_to_edges(spec):
        return f"tuple([it.attributes() for it in self.{spec.name}])" if is_many else f"self.{spec.name}.attributes()"
    return f"tuple(self.{spec.name})" if is_many else f"self.{spec.name}"


def _is_commutative(module: SchemaModule, kind: Kind) -> Iterator[str]:
    operators = [spec for spec in kind.fields if (enum := module.enum(spec.type)) and enum.commutative]
    tests = ["True"] if Flag.COMMUTATIVE in kind.flags else [f"self.{it.name}.is_commutative" for it in operators]
    if tests:
        yield from (
            "",
            "    @property",
            "    def is_commutative(self) -> bool:",
            f"        return {' or '.join(tests)}",
        )


# Copies


def _copy(module: SchemaModule, kind: Kind) -> Iterator[str]:
    arguments = [
        ("" if spec.required else f"{spec.name}=") + _copied(module, kind, spec)
        for spec in sorted(kind.fields, key=lambda it: not it.required)
    ]
    yield from _method(f"def copy(self) -> {kind.name}:", [call(f"return {kind.name}", arguments, _BODY)])


def _copied(module: SchemaModule, kind: Kind, spec: Field) -> str:
    """The field's value; a list is copied, by the constructor where operands are tracked."""
    is_list = spec.count is Count.MANY and not module.derives_from_user(kind)
    return f"list(self.{spec.name})" if is_list else f"self.{spec.name}"
