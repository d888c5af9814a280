"""A storage buffer of our own in a module: what a pass writes there, a user's shader neither sees nor binds."""

from __future__ import annotations

from typing import Final

from ...base.errors import InputError
from ...ir.core import nodes
from ...ir.core.builder import Builder
from ...ir.types import U32, Access, AddressSpace, BindingPoint, array, atomic, pointer
from .editing import module_names

_GROUP: Final = 0
_RESERVED: Final = frozenset({255})
"""The binding of `watch_loops`, which may come later."""
_HIGHEST: Final = 999
"""The greatest number of a binding that WebGPU allows by default (`maxBindingsPerBindGroup`)."""


def add_hidden_buffer(module: nodes.Module, name: str, words: int | None) -> nodes.Var:
    """A new variable of `array<atomic<u32>, words>`, at the highest binding of group 0 that the module does not use;
    it is runtime-sized if `words` is None.

    Entry points that use it must list it among their resources. Raises InputError if all bindings are in use.
    """
    type = pointer(AddressSpace.STORAGE, array(atomic(U32), words), Access.READ_WRITE)
    unique = module_names(module).unique(name)
    return Builder(module, module.root).var(type, name=unique, binding=hidden_point(module))


def hidden_point(module: nodes.Module) -> BindingPoint:
    """The highest binding of group 0 that the module does not use. Raises InputError if all are in use."""
    used = {it.binding for it in module.root.instructions if isinstance(it, nodes.Var) and it.binding is not None}
    taken = _RESERVED | {it.binding for it in used if it.group == _GROUP}
    free = next((it for it in range(_HIGHEST, -1, -1) if it not in taken), None)
    if free is None:
        raise InputError(f"all bindings of group {_GROUP} are in use: none is left for a buffer of our own")
    return BindingPoint(_GROUP, free)
