"""Gives short names to everything that is not visible from outside.

Entry points and overrides keep theirs, and so do bindings, unless they may be renamed too: WebGPU knows them by
numbers, but tools that bind buffers by name do not.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...ir.builtins import builtin_names
from ...ir.core import nodes
from ...ir.types import Struct, Type
from .regions import values_from
from .retyping import mapped, retype

_FIRST = string.ascii_letters
_WORDS = frozenset(
    ("as", "do", "if", "fn", "or", "is", "in", "of", "on", "to", "no", "i32", "u32", "f32", "f16", "ptr")
)


@dataclass(frozen=True)
class Rename:
    """`bindings` is "keep" or "rename"."""

    bindings: str = "keep"

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "rename"

    def run(self, module: nodes.Module) -> bool:
        """Whether a name changed."""
        before = _all_names(module)
        kept = {it.name for it in module.functions if it.stage is not None}
        kept |= {it.name for it in module.root.instructions if it.name is not None and self._keeps(it)}
        names = _short_names(kept)
        for value in module.root.instructions:
            if value.name is not None and not self._keeps(value):
                value.name = next(names)
        for function in module.functions:
            if function.stage is None:
                function.name = next(names)
        retype(module, _renamed_structs(module, names))
        used = list(itertools.chain(kept, (it.name for it in module.functions), _root_names(module)))
        used += [struct.name for struct in module.structs]
        free: list[str] = []
        more = _short_names(set(used))
        for function in module.functions:
            _rename_locals(function, _from_the_first(free, more))
        return _all_names(module) != before

    def _keeps(self, value: nodes.Instruction) -> bool:
        is_binding = isinstance(value, nodes.Var) and value.binding is not None
        return isinstance(value, nodes.Override) or (is_binding and self.bindings == "keep")


def _short_names(taken: set[str]) -> Iterator[str]:
    """`a`, `b` … `Z`, `aa` …, without what is taken or has a meaning."""
    reserved = {*taken, *_WORDS, *builtin_names()}
    for length in itertools.count(1):
        for letters in itertools.product(_FIRST, repeat=length):
            name = "".join(letters)
            if name not in reserved:
                yield name


def _from_the_first(found: list[str], more: Iterator[str]) -> Iterator[str]:
    """What has been found, and then what `more` has, which is found then."""
    for position in itertools.count():
        if position == len(found):
            found.append(next(more))
        yield found[position]


def _renamed_structs(module: nodes.Module, names: Iterator[str]) -> dict[Struct, Struct]:
    """Structures stand before those that contain them."""
    found: dict[Struct, Struct] = {}
    types: dict[Type, Type] = {}
    for struct in module.structs:
        members = [
            replace(member, name=name, type=mapped(member.type, types))
            for member, name in zip(struct.members, _short_names(set()), strict=False)
        ]
        found[struct] = types[struct] = Struct(next(names), tuple(members))
    return found


def _rename_locals(function: nodes.Function, names: Iterator[str]) -> None:
    """Names of a function are apart from each other, whatever their scope."""
    for value in (*function.parameters, *values_from(function.start_target)):
        if value.name is not None:
            keeps_a_variable = isinstance(value, (nodes.Var, nodes.FunctionParameter, nodes.BlockArgument))
            value.name = next(names) if keeps_a_variable else None


def _root_names(module: nodes.Module) -> list[str]:
    return [it.name for it in module.root.instructions if it.name is not None]


def _all_names(module: nodes.Module) -> list[str | None]:
    found: list[str | None] = [*_root_names(module), *(it.name for it in module.functions)]
    found += [struct.name for struct in module.structs]
    for function in module.functions:
        found += [it.name for it in (*function.parameters, *values_from(function.start_target))]
    return found
