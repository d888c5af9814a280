"""The class of one kind, as Python text: a dataclass, or, where operands are tracked, a class with properties."""

from __future__ import annotations

from collections.abc import Iterator

from .emit_operations import operation_methods
from .emit_text import call, docstring, entries, signature
from .model import EnumDefault, Field, Kind, Role, SchemaModule, camel_case, snake_case
from .runtime import REQUIRED, Category, Count


def kind_class(module: SchemaModule, kind: Kind) -> Iterator[str]:
    """The lines of the class."""
    if module.derives_from_user(kind):
        yield from _tracked_class(module, kind)
    else:
        yield from _dataclass(module, kind)


def _dataclass(module: SchemaModule, kind: Kind) -> Iterator[str]:
    frozen = [] if module.is_mutable(kind) else ["frozen=True"]
    own_equality = kind.identity or module.holds_floats(kind)
    equality = ["eq=False"] if own_equality else []
    yield f"@dataclass({', '.join([*frozen, 'slots=True', *equality, 'repr=False'])})"
    yield f"class {kind.name}({', '.join(_bases(module, kind))}):"
    yield from _class_head(module, kind)
    if kind.fields:
        yield ""
    for spec in kind.fields:
        yield f"    {spec.name}: {_annotation(module, kind, spec)}{field_call(module, kind, spec)}"
    yield from operation_methods(module, kind)
    yield from _text_method(module, kind)


def _text_method(module: SchemaModule, kind: Kind) -> Iterator[str]:
    """`__str__`, which imports the printer when it is called: that module imports the nodes."""
    text = module.text_form(kind)
    if text is not None:
        yield from ("", "    def __str__(self) -> str:", f"        from {text.module} import {text.function}")
        yield from ("", f"        return {text.function}(self)")


def _bases(module: SchemaModule, kind: Kind) -> list[str]:
    """The base classes: `Value` or `User` where operands are tracked, then the groups of an operation."""
    tracked = ["Value" if module.is_value(kind) else "User"] if module.derives_from_user(kind) else []
    if module.is_operation(kind):
        return tracked + ([it.name for it in module.groups_of(kind)] or ["Operation"])
    return tracked or ["ExactNode" if module.holds_floats(kind) else "SchemaNode"]


def _class_head(module: SchemaModule, kind: Kind) -> Iterator[str]:
    yield from docstring(_doc(module, kind), "    ")
    yield ""
    if module.derives_from_user(kind):
        yield from _slots(module, kind)
    infos = [_field_info(module, kind, spec) for spec in kind.fields]
    head = "    FIELDS: ClassVar[tuple[FieldInfo, ...]] = "
    yield head + entries("(", infos, ")", 4, before=len(head) - 4)
    if kind.word:
        yield f'    WORD: ClassVar[str] = "{kind.word}"'
    if kind.identity:
        yield "    IDENTITY: ClassVar[bool] = True"
    if module.is_mutable(kind):
        yield "    MUTABLE: ClassVar[bool] = True"


def _doc(module: SchemaModule, kind: Kind) -> str:
    """The kind's own comment, or its sum's where it is the sum's only constructor, or its declaration."""
    if kind.doc:
        return kind.doc
    for definition in module.sums:
        if definition.alternatives == (kind,) and definition.doc:
            return definition.doc
    return f"`{declaration(kind)}`"


def declaration(kind: Kind) -> str:
    """The kind's declaration in the schema, without hidden fields."""
    fields = ", ".join(f"{it.type}{it.count.value} {it.name}" for it in kind.fields if not it.hidden)
    return f"{kind.name}({fields})" if fields else kind.name


def _field_info(module: SchemaModule, kind: Kind, spec: Field) -> str:
    category = module.category(spec.type)
    assert category is not None
    arguments = [f'"{spec.name}"', f'"{spec.type}"', f"Category.{category.name}"]
    if spec.count is not Count.ONE:
        arguments.append(f"Count.{spec.count.name}")
    if spec.hidden:
        arguments.append("hidden=True")
    if module.is_operand(kind, spec):
        arguments.append("operand=True")
    if spec.default is not REQUIRED:
        arguments.append(f"default={literal(spec)}")
    if spec.role is Role.NOTE:
        arguments.append("note=True")
    if kind.is_word(spec):
        arguments.append("is_word=True")
    return call("FieldInfo", arguments, 8)


def literal(spec: Field) -> str:
    """The field's default."""
    if isinstance(spec.default, EnumDefault):
        return f"{camel_case(spec.type)}.{snake_case(spec.default.constructor).upper()}"
    if isinstance(spec.default, str):
        return '"' + spec.default.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(spec.default)


def element_type(module: SchemaModule, spec: Field) -> str:
    """The Python type of one value of the field."""
    if spec.type == module.tracked:
        return "Value"
    if module.category(spec.type) is Category.SCALAR:
        return spec.type
    for it in module.externs:
        if it.name == spec.type:
            return it.python_class
    return camel_case(spec.type)


def _annotation(module: SchemaModule, kind: Kind, spec: Field) -> str:
    element = element_type(module, spec)
    match spec.count:
        case Count.ONE:
            return element
        case Count.OPTIONAL:
            return f"{element} | None"
        case Count.MANY:
            return f"list[{element}]" if module.is_mutable(kind) else f"tuple[{element}, ...]"


def field_call(module: SchemaModule, kind: Kind, spec: Field) -> str:
    """What follows the annotation of a field of a dataclass; empty for a plain field."""
    arguments: list[str] = []
    if spec.default is not REQUIRED:
        is_list = spec.count is Count.MANY and module.is_mutable(kind)
        default = f'default_factory=list["{element_type(module, spec)}"]' if is_list else f"default={literal(spec)}"
        arguments += [default, "kw_only=True"]
    if spec.hidden and not kind.identity and not module.holds_floats(kind):
        arguments.append("compare=False")
    return f" = field({', '.join(arguments)})" if arguments else ""


def _slots(module: SchemaModule, kind: Kind) -> Iterator[str]:
    own = (it for it in kind.fields if not module.is_operand(kind, it) and not module.in_base(kind, it))
    stored = [f'"{it.name}"' for it in own]
    required = [f'"{it.name}"' for it in kind.fields if it.required]
    yield "    __slots__ = " + entries("(", sorted(stored), ")", 4, before=len("__slots__ = "))
    yield "    __match_args__ = " + entries("(", required, ")", 4, before=len("__match_args__ = "))


def _tracked_class(module: SchemaModule, kind: Kind) -> Iterator[str]:
    yield f"class {kind.name}({', '.join(_bases(module, kind))}):"
    yield from _class_head(module, kind)
    yield from _init(module, kind)
    operands = [spec for spec in kind.fields if module.is_operand(kind, spec)]
    for index, spec in enumerate(operands):
        yield from _property(spec, index)
    yield from operation_methods(module, kind)
    yield from _text_method(module, kind)


def _init(module: SchemaModule, kind: Kind) -> Iterator[str]:
    required = [_parameter(module, kind, it) for it in kind.fields if it.required]
    named = [_parameter(module, kind, it) for it in kind.fields if not it.required]
    if not kind.fields:
        return
    yield ""
    parameters = ["self", *required, *(["*", *named] if named else [])]
    yield "    " + signature("def __init__", parameters, 4, " -> None:")
    operands = [spec for spec in kind.fields if module.is_operand(kind, spec)]
    yield f"        super().__init__({_operand_tuple(operands) if operands else ''})"
    for spec in kind.fields:
        if not module.is_operand(kind, spec):
            yield f"        self.{spec.name} = {_stored(spec)}"


def _parameter(module: SchemaModule, kind: Kind, spec: Field) -> str:
    annotation = _annotation(module, kind, spec)
    if spec.count is Count.MANY:
        annotation = f"Iterable[{element_type(module, spec)}]"
    return f"{spec.name}: {annotation}" + ("" if spec.required else f" = {literal(spec)}")


def _stored(spec: Field) -> str:
    return f"list({spec.name})" if spec.count is Count.MANY else spec.name


def _operand_tuple(operands: list[Field]) -> str:
    last = operands[-1]
    fixed = [spec.name for spec in operands if spec.count is Count.ONE]
    match last.count:
        case Count.ONE:
            return f"({', '.join(fixed)},)" if len(fixed) == 1 else f"({', '.join(fixed)})"
        case Count.MANY:
            return f"({', '.join([*fixed, '*' + last.name])})" if fixed else last.name
        case Count.OPTIONAL:
            present = f"({', '.join([*fixed, last.name])})" if fixed else f"({last.name},)"
            absent = f"({', '.join(fixed)},)" if len(fixed) == 1 else f"({', '.join(fixed)})"
            return f"{absent} if {last.name} is None else {present}"


def _property(spec: Field, index: int) -> Iterator[str]:
    """Getter and setter of an operand field. The values of an `optional` or `many` field begin at `index`."""
    annotation, getter = "Value", f"self._operands[{index}]"
    parameter, setter = "value: Value", f"self.set_operand({index}, value)"
    if spec.count is Count.OPTIONAL:
        annotation, parameter = "Value | None", "value: Value | None"
        getter = f"self._operands[{index}] if len(self._operands) > {index} else None"
        setter = f"self._set_tail({index}, () if value is None else (value,))"
    elif spec.count is Count.MANY:
        annotation, parameter = "tuple[Value, ...]", "values: Iterable[Value]"
        getter = f"tuple(self._operands[{index}:])" if index else "tuple(self._operands)"
        setter = f"self._set_tail({index}, values)"
    yield from ("", "    @property", f"    def {spec.name}(self) -> {annotation}:", f"        return {getter}")
    yield from ("", f"    @{spec.name}.setter", f"    def {spec.name}(self, {parameter}) -> None:", f"        {setter}")
