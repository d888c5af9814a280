"""Names for unnamed values, and new names for those that would shadow a builtin that the module uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...ir.core import nodes
from ...ir.core.names import NameScope
from ...ir.core.structure import blocks_of
from ...ir.types import Pointer, Struct, Type, Vector, element_type
from .analysis import Analysis

COMPONENTS = "xyzw"
_TYPE_WORDS = ("bool", "i32", "u32", "f32", "f16", "array", "atomic", "ptr", "vec2", "vec3", "vec4", "bitcast")


class ModuleNames:
    """The names of module scope. Others than entry points, overrides and bindings change if they shadow a builtin."""

    def __init__(self, module: nodes.Module) -> None:
        words = builtin_words(module)
        kept = [function.name for function in module.functions if function.stage is not None]
        kept += [value.name for value in module.root.instructions if value.name is not None and _is_interface(value)]
        self._scope = NameScope({*words, *kept, *_declared(module)})
        self._names: dict[object, str] = {}
        for function in module.functions:
            self._give(function, function.name, is_free=function.stage is not None or function.name not in words)
        for struct in module.structs:
            self._give(struct, struct.name, is_free=struct.name not in words)
        for value in module.root.instructions:
            if value.name is not None:
                self._give(value, value.name, is_free=_is_interface(value) or value.name not in words)
            elif isinstance(value, (nodes.Var, nodes.Override)):
                self._give(value, "v", is_free=False)

    def _give(self, item: object, wanted: str, *, is_free: bool) -> None:
        self._names[item] = wanted if is_free else self._scope.unique(wanted)

    def of(self, item: nodes.Function | nodes.Instruction | Struct) -> str:
        """The name of a function, variable, override or structure."""
        return self._names[item]

    @property
    def structs(self) -> dict[Struct, str]:
        """The names of the structures."""
        return {item: name for item, name in self._names.items() if isinstance(item, Struct)}

    @property
    def all(self) -> set[str]:
        """Every name of module scope."""
        return set(self._names.values())

    def unique(self, wanted: str) -> str:
        """A new name at module scope."""
        return self._scope.unique(wanted)

    def function_scope(self, function: nodes.Function, analysis: Analysis) -> FunctionNames:
        """The names inside of a function."""
        return FunctionNames(self._scope, function, analysis)


class FunctionNames:
    """Assigns names inside a function. A value without a name is named after the member that it is read from, or `t`,
    `t_1` ….
    """

    def __init__(self, module_scope: NameScope, function: nodes.Function, analysis: Analysis) -> None:
        named = [it for it in _named_values(function) if analysis.is_live(it) or it in function.parameters]
        outer = module_scope.nested()
        self._given = {value: outer.unique(value.name) for value in named if value.name is not None}
        self._scope = outer

    def name(self, value: nodes.AnyValue, otherwise: str = "t") -> str:
        """The name of a value, which gets one if it has none."""
        if value not in self._given:
            self._given[value] = self._scope.unique(_origin(value) or otherwise)
        return self._given[value]

    def unique(self, wanted: str) -> str:
        """A new name."""
        return self._scope.unique(wanted)


def _named_values(function: nodes.Function) -> Iterator[nodes.AnyValue]:
    yield from function.parameters
    for block in blocks_of(function):
        yield from block.arguments
        yield from block.instructions


def _origin(value: nodes.AnyValue) -> str | None:
    """The member, or the component of something with a name, that a value is read from."""
    access = value.pointer if isinstance(value, nodes.Load) else value
    if not isinstance(access, nodes.Access):
        return None
    type: Type | None = access.object.type
    type = type.store if isinstance(type, Pointer) else type
    name = access.object.name
    for index in access.indices:
        number = index.value.value if isinstance(index, nodes.Constant) else None
        match type:
            case Struct(members=members) if isinstance(number, int):
                name = members[number].name
            case Vector() if isinstance(number, int) and name is not None:
                name = f"{name.rstrip('_')}_{COMPONENTS[number]}"
            case _:
                name = None
        type = None if type is None else element_type(type, number if isinstance(number, int) else 0)
    return name


def _is_interface(value: nodes.Instruction) -> bool:
    return isinstance(value, nodes.Override) or (isinstance(value, nodes.Var) and value.binding is not None)


def _declared(module: nodes.Module) -> Iterable[str]:
    return [
        *(function.name for function in module.functions),
        *(struct.name for struct in module.structs),
        *(value.name for value in module.root.instructions if value.name is not None),
    ]


def builtin_words(module: nodes.Module) -> set[str]:
    """The builtin functions and types that the module's text may name."""
    words: set[str] = set(_TYPE_WORDS)
    for function in module.functions:
        for block in blocks_of(function):
            words.update(it.function for it in block.instructions if isinstance(it, nodes.BuiltinCall))
    return words
