"""Writes the Python module of each schema.

`python -m tinct.ir.schema.generate` writes the files that are out of date. With `--check` it writes nothing, and exits
with status 1 if there are such files.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from .asdl import read_schema
from .check import has_alias
from .emit_builder import builder_class
from .emit_classes import field_call, kind_class
from .emit_text import call, docstring, entries, union
from .model import EnumType, Extern, Group, Reference, SchemaModule, Sum, camel_case, snake_case
from .runtime import Count

FOLDER: Final = Path(__file__).resolve().parent
ROOT: Final = FOLDER.parents[1]


def main(arguments: list[str]) -> int:
    """Write or check all generated modules; returns the exit status."""
    if arguments not in ([], ["--check"]):
        print("usage: python -m tinct.ir.schema.generate [--check]", file=sys.stderr)
        return 2
    outdated = [path for path, text in outputs() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if arguments:
        for path in outdated:
            print(f"{path.relative_to(ROOT)} is out of date: run python -m tinct.ir.schema.generate")
        return 1 if outdated else 0
    for path, text in outputs():
        if path in outdated:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return 0


def outputs() -> Iterator[tuple[Path, str]]:
    """The generated file of each schema in this folder, with the text it should have."""
    for path in sorted(FOLDER.glob("*.asdl")):
        shown = path.relative_to(ROOT).as_posix()
        module = read_schema(path, shown)
        yield ROOT / module.output, python_module(module, shown)


def python_module(module: SchemaModule, source: str) -> str:
    """The Python text for a schema; `source` is the schema file's name for the header line."""
    blocks = [
        *(_enum_class(it) for it in module.enums),
        *(_group_class(it) for it in module.groups),
        *("\n".join(kind_class(module, kind)) for kind in module.kinds),
    ]
    tail = [_alias(module, it) for it in _by_dependency(module) if has_alias(module, it)]
    if module.tracked is not None:
        tail.append(_union("AnyValue", [it.name for it in module.members(module.tracked)], "Every kind of `Value`."))
    for group in module.groups:
        tail.append(_union(f"Any{group.name}", [it.name for it in group.kinds], f"Every kind of `{group.name}`."))
    if module.operations is not None:
        tail.append(_by_word(module, module.operations))
    tail.append(_schema_object(module))
    last = [builder_class(module)] if module.operations is not None else []
    return "\n\n\n".join([_head(module, source), *blocks, "\n\n".join(tail), *last]) + "\n"


def _group_class(group: Group) -> str:
    lines = [f"class {group.name}(Operation):", *docstring(f"{group.doc} A base, for tests and patterns.", "    ")]
    return "\n".join([*lines, "", "    __slots__ = ()"])


def _by_word(module: SchemaModule, operations: str) -> str:
    name = camel_case(operations)
    found = [f'"{word}": {it.name}' for it in module.members(operations) for word in module.words(it)]
    head = f"BY_WORD: Mapping[str, type[{name}]] = "
    return (
        head
        + entries("{", found, "}", 0, before=len(head))
        + "\n"
        + "\n".join(docstring("The operations by their words in the text form, but for words that are externs.", ""))
    )


def _head(module: SchemaModule, source: str) -> str:
    title = module.doc or f"The nodes of the `{module.name}` schema."
    lines = [f"# Written by `python -m tinct.ir.schema.generate` from {source}: change the schema, not this file.", ""]
    if _has_operands(module) or module.operations is not None:
        lines.insert(1, "# ruff: noqa: D102  (the schema documents the operands; methods are as in ir/schema/asdl.py)")
    lines += [*docstring(title, ""), "", "from __future__ import annotations", ""]
    return "\n".join([*lines, *_imports(module)])


def _imports(module: SchemaModule) -> list[str]:
    plain = [it for it in module.kinds if not module.derives_from_user(it)]
    calls = any(field_call(module, kind, spec) for kind in plain for spec in kind.fields)
    aliases = module.tracked is not None or any(has_alias(module, it) for it in module.sums)
    types = ["ClassVar", "TypeAlias"] if aliases else ["ClassVar"]
    types += ["TypeVar"] if module.operations is not None else []
    lines = ["import enum"] if any(True for _ in module.enums) else []
    collections = list(_collections(module))
    lines += [f"from collections.abc import {', '.join(collections)}"] if collections else []
    lines += [f"from typing import {', '.join(['TYPE_CHECKING', *types] if module.externs else types)}", ""]
    records = "dataclass, field" if calls else "dataclass"
    lines += [f"from {_package(module, 'base')}.records import {records}"] if plain else []
    lines.append(f"from {_package(module, 'ir.schema')}.runtime import {', '.join(_runtime_names(module))}")
    if module.tracked is not None:
        lines.append(f"from .values import {'UNTYPED, ' if module.operations is not None else ''}User, Value")
    if module.externs:
        lines += ["", "if TYPE_CHECKING:", *_extern_imports(module.externs)]
    return lines


def _runtime_names(module: SchemaModule) -> Iterator[str]:
    kinds = list(module.kinds)
    counts = {spec.count for kind in kinds for spec in kind.fields}
    if any(kind.fields for kind in kinds):
        yield "Category"
    if counts - {Count.ONE}:
        yield "Count"
    if any(module.holds_floats(kind) for kind in kinds):
        yield "ExactNode"
    yield "FieldInfo"
    if module.operations is not None:
        yield "Operation"
    yield "Schema"
    others = (kind for kind in kinds if not module.is_operation(kind))
    if not all(module.derives_from_user(kind) or module.holds_floats(kind) for kind in others):
        yield "SchemaNode"


def _collections(module: SchemaModule) -> Iterator[str]:
    has_operations = module.operations is not None
    if has_operations and module.tracked is None:
        yield "Callable"
    if has_operations:
        yield "Hashable"
    if has_operations or _has_operands(module):
        yield "Iterable"
    if has_operations:
        yield "Mapping"


def _has_operands(module: SchemaModule) -> bool:
    return any(module.is_operand(kind, spec) for kind in module.kinds for spec in kind.fields)


def _extern_imports(externs: tuple[Extern, ...]) -> Iterator[str]:
    """The imports of extern types, for type checkers only, so that the modules of the externs may import the nodes."""
    classes: dict[str, set[str]] = {}
    for it in externs:
        classes.setdefault(it.module, set()).add(it.python_class)
    for name in sorted(classes, key=_import_order):
        yield f"    from {name} import {', '.join(sorted(classes[name]))}"


def _import_order(module: str) -> tuple[int, str]:
    """The sort key of an import: more distant packages come first, as ruff sorts them."""
    path = module.lstrip(".")
    return len(path) - len(module), path


def _package(module: SchemaModule, name: str) -> str:
    """A package of ours as the generated module imports it."""
    parts = Path(module.output).parts
    if parts[0] != "ir":
        return f"tinct.{name}"
    return "." * (len(parts) - 1) + name.removeprefix("ir.") if name.startswith("ir.") else "." * len(parts) + name


def _enum_class(definition: EnumType) -> str:
    lines = [f"class {camel_case(definition.name)}(enum.Enum):"]
    lines += docstring(definition.doc or f"`{definition.name}` of the schema.", "    ")
    lines.append("")
    for name in definition.constructors:
        lines.append(f'    {snake_case(name).upper()} = "{snake_case(name)}"')
    if definition.commutative:
        lines += ["", "    @property", "    def is_commutative(self) -> bool:"]
        lines += docstring("Whether the operands may be exchanged.", "        ")
        members = [f"{camel_case(definition.name)}.{snake_case(it).upper()}" for it in definition.commutative]
        lines.append("        return self in " + entries("(", members, ")", 8, before=len("return self in ")))
    return "\n".join(lines)


def _by_dependency(module: SchemaModule) -> list[Sum]:
    """The sums, each after those that it contains."""
    sums = {it.name: it for it in module.sums}
    ordered: dict[str, Sum] = {}

    def place(definition: Sum) -> None:
        for alternative in definition.alternatives:
            if isinstance(alternative, Reference) and alternative.name in sums:
                place(sums[alternative.name])
        ordered.setdefault(definition.name, definition)

    for definition in sums.values():
        place(definition)
    return list(ordered.values())


def _alias(module: SchemaModule, definition: Sum) -> str:
    names = [_python_name(module, it.name) for it in definition.alternatives]
    return _union(camel_case(definition.name), list(dict.fromkeys(names)), definition.doc)


def _python_name(module: SchemaModule, name: str) -> str:
    return "AnyValue" if name == module.tracked else camel_case(name)


def _union(name: str, members: list[str], doc: str) -> str:
    lines = [union(f"{name}: TypeAlias", members)]
    return "\n".join([*lines, *(docstring(doc, "") if doc else [])])


def _schema_object(module: SchemaModule) -> str:
    enums = [f'"{it.name}": {camel_case(it.name)}' for it in module.enums]
    sums = [f'"{it.name}": {_tuple(module, it.name)}' for it in module.definitions if not isinstance(it, EnumType)]
    arguments = [
        f'name="{module.name}"',
        "kinds=" + entries("(", [kind.name for kind in module.kinds], ")", 4, before=len("kinds=")),
        "enums=" + entries("{", enums, "}", 4, before=len("enums=")),
        "sums=" + entries("{", sums, "}", 4, before=len("sums=")),
        "externs=" + entries("(", [f'"{it.name}"' for it in module.externs], ")", 4, before=len("externs=")),
    ]
    return call("SCHEMA = Schema", arguments, 0)


def _tuple(module: SchemaModule, name: str) -> str:
    members = [kind.name for kind in module.members(name)]
    return entries("(", members, ")", 8, before=len(name) + 4)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
