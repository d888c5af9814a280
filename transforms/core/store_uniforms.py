"""Puts uniform variables that are laid out like other memory in read-only storage buffers.

naga, wgpu's compiler, lacks the extension `uniform_buffer_standard_layout`, which allows that layout: it refuses arrays
and structures that do not begin at multiples of 16 bytes. Who binds the buffers of a kernel for naga decides as this
pass does, by `is_in_rows`. What is read only is as uniform as a uniform variable (WGSL, "Uniformity Analysis").
"""

from __future__ import annotations

from ...base.records import dataclass
from ...ir.core import nodes
from ...ir.layout_sizes import is_in_rows
from ...ir.types import Access, AddressSpace, Pointer, Type, pointer


@dataclass(frozen=True)
class StoreUniforms:
    """Binds uniform variables that are not laid out in rows as read-only storage. Pointers to these must not be passed
    to functions: run `direct_variable_access` before.
    """

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "store_uniforms"

    def run(self, module: nodes.Module) -> bool:
        """Whether a variable moved."""
        variables = [it for it in module.root.instructions if isinstance(it, nodes.Var) and _is_tight(it.type)]
        for variable in variables:
            _move(variable)
        return bool(variables)


def _is_tight(type: Type) -> bool:
    return isinstance(type, Pointer) and type.space is AddressSpace.UNIFORM and not is_in_rows(type.store)


def _move(memory: nodes.Var | nodes.Access) -> None:
    """Give a pointer, and those to parts of its memory, the type of a pointer to storage."""
    assert isinstance(memory.type, Pointer)
    memory.type = pointer(AddressSpace.STORAGE, memory.type.store, Access.READ)
    for use in memory.uses:
        if isinstance(use.user, nodes.Access):
            _move(use.user)
