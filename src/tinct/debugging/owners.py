"""Which variable a piece of memory belongs to, so that pointers can be shown as what they designate."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..ir.core import nodes
from ..ir.core.interp_frame import Frame, Memory
from ..ir.core.sanitizer.paths import path_to
from ..ir.types import Type
from .launch import Prepared
from .machine import Group, MachineLane


@dataclass(frozen=True, slots=True, eq=False)
class Owner:
    """A variable with its memory."""

    name: str
    type: Type
    memory: Memory


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a variable: what is of type `part` at `offset`."""

    owner: Owner | None
    offset: int
    part: Type

    def __str__(self) -> str:
        """The WGSL expression for the part."""
        if self.owner is None:
            return "(an element of an empty array)"
        return path_to(self.owner.name, self.owner.type, self.offset, self.part)


@dataclass(slots=True, eq=False)
class Owners:
    """The variables that one invocation can reach."""

    _known: dict[int, Owner] = field(default_factory=dict[int, Owner])
    _locals: dict[int, dict[nodes.Var, int]] = field(default_factory=dict[int, dict[nodes.Var, int]])

    def add_module_scope(self, prepared: Prepared, group: Group, lane: MachineLane) -> None:
        """Add the bound, workgroup and private variables."""
        for node, memory in group.memories.items():
            self._add(node, prepared.store_type(node), memory)
        for node, (memory, _) in zip(prepared.compiler.variables, lane.invocation.variables, strict=True):
            self._add(node, prepared.store_type(node), memory)

    def add_local(self, node: nodes.Var, type: Type, frame: Frame, memory: Memory) -> None:
        """Add a variable of a function, in place of the one of an earlier turn of a loop."""
        mine = self._locals.setdefault(id(frame), {})
        if node in mine:
            del self._known[mine[node]]
        mine[node] = id(memory)
        self._add(node, type, memory)

    def drop_locals(self, frame: Frame) -> None:
        """Forget the variables of a call that has returned."""
        for key in self._locals.pop(id(frame), {}).values():
            del self._known[key]

    def place(self, memory: Memory, offset: int, part: Type) -> Place:
        """What a pointer designates."""
        return Place(self._known.get(id(memory)), offset, part)

    def _add(self, node: nodes.Var, type: Type, memory: Memory) -> None:
        self._known[id(memory)] = Owner(node.name or "a variable", type, memory)
