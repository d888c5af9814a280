"""Replaces samplers by structures, and calls that take a sampler by calls of functions that load texels.

A sampler becomes a storage buffer with `ir.samplers.storage_type`, so that the code is the same for all samplers: their
filters and address modes are values that a whole dispatch shares. Code for a sampler that is known is shorter. A cube
becomes an array of its faces, as which its texels are in memory. The functions are WGSL (`sampling_library`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...ir.builtins.textures import SPREADS
from ...ir.core import nodes
from ...ir.core.builder import Builder, u32
from ...ir.core.sampled_pairs import handle_of, handle_variables, has_samplers
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.handle_facts import NO_FACTS, HandleFacts
from ...ir.ops import BinaryOp
from ...ir.types import Access, AddressSpace, BindingPoint, Pointer, Sampler, Struct, Texture, Type, pointer, sampler
from .editing import add_declarations, module_names
from .replacing import replace
from .retyping import replace_types
from .sampling_helpers import SAMPLER, STRUCTURES
from .sampling_library import SamplingCall, as_faces, library

_SPREAD: Final = {spread: function for function, spread in SPREADS.items()}


@dataclass(frozen=True)
class LowerSamplers:
    """Lowers the samplers and cubes of a specialised module. `build` makes core IR of WGSL. Calls are replaced by code
    that relies on the facts.
    """

    build: Callable[[str], nodes.Module]
    facts: HandleFacts = NO_FACTS

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "lower_samplers"

    def run(self, module: nodes.Module) -> bool:
        """Whether there was a sampler."""
        if not has_samplers(module):
            return False
        sites = [
            (block, position, call)
            for function in module.functions
            for block in blocks_of(function)
            for position, call in enumerate(block.instructions)
            if isinstance(call, nodes.BuiltinCall)
        ]
        variables = handle_variables(module)
        kinds = {call: kind for *_, call in sites if (kind := self._sampling_call(call, variables)) is not None}
        functions, state = self._add_library(module, list(dict.fromkeys(kinds.values())))
        for block, position, call in reversed(sites):  # what follows a call keeps its position until then
            if call in kinds:
                _call_instead(block, position, call, functions[kinds[call]])
            elif call.function == "textureNumLayers":
                _count_cubes(module, block, position, call)
        replace_types(module, _new_types(module, state))
        return True

    def _add_library(
        self, module: nodes.Module, kinds: Sequence[SamplingCall]
    ) -> tuple[Mapping[SamplingCall, nodes.Function], Struct]:
        """Add the library to the module, with names that are free there; returns the functions, and the structure that
        stands for a sampler.
        """
        scope = module_names(module)
        text = library(kinds)
        names = {name: scope.unique(name) for name in STRUCTURES}
        for name, unique in names.items():
            text = text.replace(name, unique)
        added = self.build(text)
        functions = {kind: next(it for it in added.functions if it.name == kind.name) for kind in kinds}
        add_declarations(module, added, scope)
        return functions, next(it for it in added.structs if it.name == names[SAMPLER])

    def _sampling_call(
        self, call: nodes.BuiltinCall, variables: Mapping[Value, Collection[nodes.Var]]
    ) -> SamplingCall | None:
        """What a call with a sampler needs; None for other calls."""
        types = [it.type for it in call.arguments]
        position = next((index for index, type in enumerate(types) if isinstance(type, Sampler)), None)
        if position is None:
            return None
        texture, component = types[position - 1], call.arguments[0]
        assert isinstance(texture, Texture)
        number = component.value.value if isinstance(component, nodes.Constant) else 0
        assert isinstance(number, int)
        bound = [_points(call.arguments[it], variables) for it in (position - 1, position)]
        has_one_level = self.facts.textures(bound[0]).has_one_level
        given = tuple(types[position + 1 :])
        function = _SPREAD.get(call.function, call.function)
        known = self.facts.samplers(bound[1])
        return SamplingCall(function, texture, given, number, has_one_level, known, call.function in _SPREAD)


def _points(handle: Value, variables: Mapping[Value, Collection[nodes.Var]]) -> list[BindingPoint | None]:
    """The bindings that a texture or a sampler may be."""
    source = handle_of(handle)
    return [it.binding for it in ([source] if isinstance(source, nodes.Var) else variables.get(source, ()))]


def _call_instead(block: nodes.Block, position: int, call: nodes.BuiltinCall, function: nodes.Function) -> None:
    has_component = not isinstance(call.arguments[0].type, Texture)
    made = nodes.Call(function, call.arguments[has_component:], call.type, None, span=call.span)
    _put_instead(block, position, call, [made])


def _count_cubes(module: nodes.Module, block: nodes.Block, position: int, call: nodes.BuiltinCall) -> None:
    """The number of cubes is that of faces over six."""
    texture = call.arguments[0].type
    if not isinstance(texture, Texture) or texture.dimension != "cube_array":
        return
    made = nodes.Block([], [], None)
    builder = Builder(module, made)
    builder.span = call.span
    faces = builder.add(call.copy())
    builder.binary(BinaryOp.DIVIDE, faces, u32(6))
    _put_instead(block, position, call, made.instructions)


def _put_instead(
    block: nodes.Block, position: int, call: nodes.BuiltinCall, instructions: Sequence[nodes.Instruction]
) -> None:
    """Put instructions, the last of which has the value, in the place of a call."""
    block.instructions[position : position + 1] = instructions
    replace(call, instructions[-1])
    call.drop_operands()


def _new_types(module: nodes.Module, state: Struct) -> Mapping[Type, Type]:
    """The types of samplers, of pointers to them, and of cubes, with what stands for them."""
    types: dict[Type, Type] = {}
    for kind in (sampler(comparison=False), sampler(comparison=True)):
        types[kind] = state
        types[pointer(AddressSpace.HANDLE, kind, Access.READ)] = pointer(AddressSpace.STORAGE, state, Access.READ)
    for value in _values(module):
        store = _store(value)
        if isinstance(store, Texture):
            types[store] = as_faces(store)
    return types


def _values(module: nodes.Module) -> Iterator[nodes.AnyValue]:
    yield from module.root.instructions
    for function in module.functions:
        yield from function.parameters


def _store(value: nodes.AnyValue) -> Type:
    """The type of a value, or of what a pointer points to."""
    return value.type.store if isinstance(value.type, Pointer) else value.type
