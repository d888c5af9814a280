"""The layouts of all types that lie in buffers, for the JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..frontend.resolve.type_rules import is_host_shareable
from ..ir import layout
from ..ir.types import Array, Atomic, Buffer, Matrix, Scalar, Struct, Type, Vector
from ..ir.wgsl.program import Program


def types_of(program: Program) -> dict[str, object]:
    """The layout of each type of a bound variable or a structure in a buffer, and of their parts, by WGSL spelling."""
    roots = [it.type for it in program.variables if it.space is not None and is_host_shareable(it.type)]
    roots += [it for it in program.structs if is_host_shareable(it)]
    return {str(type): _layout(type) for type in _with_parts(roots)}


def _with_parts(types: Iterable[Type]) -> Iterator[Type]:
    """Types, each after its parts."""
    for type in types:
        match type:
            case Array(element=element) | Atomic(element=element) | Vector(element=element):
                yield from _with_parts((element,))
            case Matrix():
                yield from _with_parts((type.column,))
            case Struct(members=members):
                yield from _with_parts(member.type for member in members)
            case _:
                pass
        yield type


def _layout(type: Type) -> dict[str, object]:
    if isinstance(type, Buffer):
        return {"kind": "bytes", "size": type.size, "align": None}
    is_open = layout.runtime_array(type) is not None
    sizes = {"size": None if is_open else layout.size_of(type), "align": layout.align_of(type)}
    match type:
        case Scalar():
            return {"kind": "scalar", **sizes}
        case Atomic(element=element):
            return {"kind": "atomic", **sizes, "element": str(element)}
        case Vector(width=width, element=element):
            return {"kind": "vector", **sizes, "element": str(element), "width": width}
        case Matrix(columns=columns, rows=rows):
            shape = {"columns": columns, "rows": rows, "stride": layout.stride_of(type)}
            return {"kind": "matrix", **sizes, "element": str(type.element), **shape}
        case Array(element=element, count=count):
            return {
                "kind": "array",
                **sizes,
                "element": str(element),
                "count": count,
                "stride": layout.stride_of(type),
            }
        case Struct():
            return {"kind": "struct", **sizes}
        case _:
            raise TypeError(f"{type} has no layout")
