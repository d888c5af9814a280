"""Binds immediate data as read-only storage buffers, which every device has.

The layouts of both are the same, and so is their uniformity: a value that is read only is uniform (WGSL, "Uniformity
Analysis"). wgpu's WGSL compiler knows no immediate data.
"""

from __future__ import annotations

from ...base.records import dataclass
from ...ir.binding_points import free_point
from ...ir.core import nodes
from ...ir.types import Access, AddressSpace, Pointer, Type, pointer


@dataclass(frozen=True)
class BindImmediates:
    """Gives variables of immediate data the binding point `free_point`; an entry point uses one of them at most. Run it
    while the module has all its variables, on which the choice of the binding point depends.
    """

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "bind_immediates"

    def run(self, module: nodes.Module) -> bool:
        """Whether there is immediate data."""
        variables = [it for it in module.root.instructions if isinstance(it, nodes.Var)]
        immediates = [it for it in variables if _is_immediate(it.type)]
        if not immediates:
            return False

        from .retyping import retype_values  # which few modules need

        point = free_point(it.binding for it in variables)
        for variable in immediates:
            variable.binding = point
        retype_values(module, _in_storage)
        return True


def _is_immediate(type: Type) -> bool:
    return isinstance(type, Pointer) and type.space is AddressSpace.IMMEDIATE


def _in_storage(type: Type) -> Type:
    if isinstance(type, Pointer) and _is_immediate(type):
        return pointer(AddressSpace.STORAGE, type.store, Access.READ)
    return type
