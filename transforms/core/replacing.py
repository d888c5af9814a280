"""Replacing one value by another."""

from __future__ import annotations

from ...ir.core import nodes
from ...ir.core.builder import u32
from ...ir.core.values import Value
from ...ir.scalars import wrap_u32
from ...ir.types import Pointer, Struct, Type, element_count, element_type


def replace(old: Value, new: Value) -> None:
    """Put `new` wherever `old` is used: of a constant a new one each time. A name is passed on where `new` has none."""
    if isinstance(new, nodes.Constant):
        for use in old.uses:
            use.user.set_operand(use.index, copy_constant(new))
            if isinstance(use.user, nodes.Access):
                settle_indices(use.user)
        return
    old.replace_all_uses_with(new)
    if new.name is None and old.name is not None:
        new.name, old.name = old.name, None


def copy_constant(constant: nodes.Constant) -> nodes.Constant:
    """Another operand with the same value."""
    return nodes.Constant(constant.value, constant.type, None, span=constant.span)


def settle_indices(access: nodes.Access) -> bool:
    """Bring constant indices into range; whether one was not.

    At run time such an index is the last element's (or, in an array without fixed count, a large one); written as it
    is, it would be an error.
    """
    type: Type = access.object.type.store if isinstance(access.object.type, Pointer) else access.object.type
    changed = False
    for position, index in enumerate(access.indices):
        raw = index.value.value if isinstance(index, nodes.Constant) else None
        if isinstance(raw, int) and not isinstance(type, Struct) and _settled(type, raw) != raw:
            access.set_operand(position + 1, u32(_settled(type, raw)))
            changed = True
        part = element_type(type, raw if isinstance(raw, int) and isinstance(type, Struct) else 0)
        assert part is not None
        type = part
    return changed


def _settled(type: Type, index: int) -> int:
    count = element_count(type)
    if isinstance(count, int):
        return index if 0 <= index < count else count - 1
    return wrap_u32(index)
