"""What core IR can say of a shader, and no device can do yet."""

from __future__ import annotations

from ..diagnostics import ShaderError, not_supported
from ..source import Source
from ..types import AddressSpace, Buffer, Pointer
from . import nodes


def check_runnable(entry: nodes.Function, source: Source | None = None) -> None:
    """Raise ShaderError where an entry point uses immediate data, views of buffers, or demands a subgroup size."""
    found = [
        not_supported(what, resource.span)
        for resource in entry.resources
        if (what := _unsupported(resource)) is not None
    ]
    if entry.subgroup_size is not None:
        found.append(not_supported("running with a 'subgroup_size' that the shader demands", entry.span))
    if found:
        raise ShaderError(found, source)


def _unsupported(resource: nodes.ValueDeclaration) -> str | None:
    type = resource.type
    if isinstance(type, Pointer) and type.space is AddressSpace.IMMEDIATE:
        return f"running with immediate data ('{resource.name}')"
    if isinstance(type, Pointer) and isinstance(type.store, Buffer):
        return f"running with a variable of type '{type.store}' ('{resource.name}')"
    return None
