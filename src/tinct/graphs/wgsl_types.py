"""WGSL types and the types of ports, which have them by name; ports of kernels."""

from __future__ import annotations

from collections.abc import Collection

from ..ir import types as wgsl
from ..ir.dataflow.nodes import Access, Port, Type
from ..ir.dataflow.text import parse_type
from ..ir.layout import member_offsets, minimum_size
from ..kernel import Kernel
from ..reflection import BindingInfo


def by_name(type: wgsl.Type) -> Type:
    """A WGSL type as the type of a port."""
    return parse_type(str(type))


def kernel_ports(kernel: Kernel, whole: Collection[str] = ()) -> tuple[Port, ...]:
    """The ports of a kernel: its bindings, and for each uniform structure but those in `whole` its members.

    A binding that the kernel may write is an input, too: what it does not write keeps its value.
    """
    return tuple(port for info in kernel.bindings for port in _binding_ports(kernel, info, whole))


def _binding_ports(kernel: Kernel, info: BindingInfo, whole: Collection[str]) -> list[Port]:
    if has_member_ports(info) and info.name not in whole:
        assert isinstance(info.type, wgsl.Struct)
        return [Port(Access.IN, f"{info.name}.{it.name}", by_name(it.type)) for it in info.type.members]
    return [Port(Access.INOUT if info.is_written else Access.IN, info.name, by_name(info.type))]


def has_member_ports(info: BindingInfo) -> bool:
    """Whether the members of a binding may be ports of their own."""
    return info.space == wgsl.AddressSpace.UNIFORM.value and isinstance(info.type, wgsl.Struct)


def port_type(kernel: Kernel, port: str) -> wgsl.Type:
    """The WGSL type of a kernel's port."""
    binding, _, member = port.partition(".")
    type = kernel.shader.bindings[binding].type
    if not member:
        return type
    assert isinstance(type, wgsl.Struct)
    return next(it.type for it in type.members if it.name == member)


def builtin_type(type: Type) -> wgsl.Type | None:
    """The WGSL type of that name if it has no structure in it and lies in buffers; else None."""
    if type.name in wgsl.SCALARS:
        return wgsl.SCALARS[type.name]
    inner = builtin_type(type.arguments[0]) if type.arguments else None
    if inner is None:
        return None
    if type.name == "array":
        return wgsl.array(inner, int(type.arguments[1].name) if len(type.arguments) > 1 else None)
    if isinstance(inner, wgsl.Scalar):
        return _composite(type.name, inner)
    return None


def _composite(name: str, element: wgsl.Scalar) -> wgsl.Type | None:
    if name == "atomic":
        return wgsl.atomic(element)
    if name in ("vec2", "vec3", "vec4"):
        return wgsl.vector(int(name[3]), element)
    columns, _, rows = name.removeprefix("mat").partition("x")
    if name.startswith("mat") and columns in ("2", "3", "4") and rows in ("2", "3", "4"):
        return wgsl.matrix(int(columns), int(rows), element)
    return None


def fits(target: wgsl.Type, given: wgsl.Type) -> bool:
    """Whether memory of the type `given` may be read as `target`: the same layout, with the same names of members.

    Atomics are the integers that they hold, a runtime-sized array takes any number of elements. Textures are compared
    by name, which the verifier does.
    """
    target, given = _plain(target), _plain(given)
    match target, given:
        case wgsl.Array(element, None), wgsl.Array(other, _):
            return fits(element, other)
        case wgsl.Array(element, count), wgsl.Array(other, other_count):
            return count == other_count and fits(element, other)
        case wgsl.Struct(), wgsl.Struct():
            return _same_structure(target, given)
        case wgsl.Texture(), wgsl.Texture():
            return True
        case _:
            return target is given


def _plain(type: wgsl.Type) -> wgsl.Type:
    return type.element if isinstance(type, wgsl.Atomic) else type


def _same_structure(target: wgsl.Struct, given: wgsl.Struct) -> bool:
    if len(target.members) != len(given.members) or minimum_size(target) != minimum_size(given):
        return False
    pairs = zip(target.members, given.members, strict=True)
    same = all(left.name == right.name and fits(left.type, right.type) for left, right in pairs)
    return same and member_offsets(target) == member_offsets(given)
