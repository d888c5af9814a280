"""The JSON document of `tinct reflect`: the interface of a shader for programs in any language."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Final, cast

from ..backend.gpu.binding_headers import SAMPLE_TYPES, view_dimension
from ..ir import layout
from ..ir.types import Sampler, Struct, Texture, TextureKind
from ..ir.wgsl.program import FunctionInfo, Program, Variable
from ..reflection import BindingInfo, OverrideInfo, StructInfo
from ..shader import Shader
from ..textures import shape_text
from . import dtypes
from .needs import default_workgroup_size, features_of, limits_of, workgroup_memory
from .types import types_of

VERSION: Final = 1
"""The version of the document. Members may be added within a version; what is there keeps its name and its meaning."""


def schema() -> dict[str, object]:
    """The JSON Schema (draft 2020-12) that each document fits."""
    text = (files("tinct.interface") / "reflect.schema.json").read_text(encoding="utf-8")
    return cast("dict[str, object]", json.loads(text))


def document(shader: Shader) -> dict[str, object]:
    """The interface of a shader: numbers, strings, lists and dicts that JSON has. docs/reflect.md describes it."""
    program = shader.program
    functions = {it.name: it for it in program.entry_points}
    return {
        "version": VERSION,
        "source": shader.source.name,
        "enables": list(program.enables),
        "requires": list(program.requires),
        "features": features_of(program),
        "entryPoints": [_entry_point(shader, functions[name]) for name in shader.entry_points],
        "bindings": [_binding(info, shader) for info in shader.bindings.values()],
        "overrides": [_override(info, program) for info in shader.overrides.values()],
        "structs": [_struct(info, program) for info in shader.structs.values()],
        "types": types_of(program),
    }


def _entry_point(shader: Shader, function: FunctionInfo) -> dict[str, object]:
    info = shader.entry_points[function.name]
    size = default_workgroup_size(shader, function)
    return {
        "name": info.name,
        "stage": info.stage,
        "workgroupSize": list(info.workgroup_size),
        "defaultWorkgroupSize": None if size is None else list(size),
        "bindings": list(info.bindings),
        "overrides": list(info.overrides),
        "builtins": _builtins(function),
        "functions": _called(function),
        "workgroupMemory": workgroup_memory(shader, function),
        "limits": limits_of(shader, function),
    }


def _builtins(function: FunctionInfo) -> list[str]:
    """The builtin inputs of an entry point, by parameters and members of structures that are parameters."""
    inputs = [parameter.io for parameter in function.parameters]
    structs = [parameter.type for parameter in function.parameters if isinstance(parameter.type, Struct)]
    inputs += [member.io for struct in structs for member in struct.members]
    return [it.builtin for it in inputs if it.builtin is not None]


def _called(function: FunctionInfo) -> list[str]:
    """The functions that it calls, directly or through others, in the order of their first calls."""
    found: dict[str, None] = {}
    waiting = list(function.calls)
    while waiting:
        callee = waiting.pop(0)
        if callee.name not in found:
            found[callee.name] = None
            waiting += callee.calls
    return list(found)


def _binding(info: BindingInfo, shader: Shader) -> dict[str, object]:
    return {
        "name": info.name,
        "group": info.group,
        "binding": info.binding,
        "kind": _kind(info),
        "space": info.space,
        "access": info.access,
        "type": str(info.type),
        "size": info.size,
        "minimumSize": info.minimum_size,
        "align": info.align,
        "stride": info.stride,
        "dtype": dtypes.as_json(info.dtype),
        "shape": shape_text(info.type) if isinstance(info.type, Texture) else None,
        "texture": _texture(info.type) if isinstance(info.type, Texture) else None,
        "entryPoints": [it.name for it in shader.entry_points.values() if info.name in it.bindings],
    }


def _kind(info: BindingInfo) -> str:
    """The kind of resource, as the entries of WebGPU's bind group layouts name them."""
    if isinstance(info.type, Sampler):
        return "comparison-sampler" if info.type.comparison else "sampler"
    if not isinstance(info.type, Texture):
        return "uniform" if info.space == "uniform" else "storage" if info.is_written else "read-only-storage"
    if info.type.kind is TextureKind.EXTERNAL:
        return "external-texture"
    return "storage-texture" if info.type.kind is TextureKind.STORAGE else "texture"


def _texture(type: Texture) -> dict[str, object]:
    is_depth = type.kind in (TextureKind.DEPTH, TextureKind.DEPTH_MULTISAMPLED)
    sampled = None if type.sampled is None else SAMPLE_TYPES[str(type.sampled)]
    return {
        "viewDimension": "2d" if type.kind is TextureKind.EXTERNAL else view_dimension(type),
        "sampleType": "depth" if is_depth else sampled,
        "format": type.format,
        "multisampled": type.kind in (TextureKind.MULTISAMPLED, TextureKind.DEPTH_MULTISAMPLED),
    }


def _override(info: OverrideInfo, program: Program) -> dict[str, object]:
    variable = next(it for it in program.variables if it.kind == "override" and it.name == info.name)
    return {
        "name": info.name,
        "id": info.id,
        "key": info.key,
        "type": info.type,
        "required": info.required,
        "default": default_of(variable, program),
        "defaultText": None if variable.initializer is None else program.source.text(variable.initializer.span),
    }


def default_of(variable: Variable, program: Program) -> bool | float | None:
    """The default value of an override; None without one, and for one that depends on other overrides."""
    facts = None if variable.initializer is None else program.facts.expressions.get(variable.initializer)
    value = None if facts is None or facts.constant is None else facts.constant.value
    return value if isinstance(value, (bool, int, float)) else None


def _struct(info: StructInfo, program: Program) -> dict[str, object]:
    struct = next(it for it in program.structs if it.name == info.name)
    tail = layout.runtime_array(struct)
    ends = [*(member.offset for member in info.members[1:]), info.size]
    return {
        "name": info.name,
        "size": None if info.ends_open else info.size,
        "minimumSize": info.size,
        "align": info.align,
        "stride": None if tail is None else layout.stride_of(tail[1]),
        "members": [
            {
                "name": member.name,
                "type": member.type,
                "offset": member.offset,
                "size": member.size,
                "align": member.align,
                "padding": 0 if member.size is None else end - member.offset - member.size,
                "dtype": dtypes.as_json(member.dtype),
            }
            for member, end in zip(info.members, ends, strict=True)
        ],
        "dtype": dtypes.as_json(info.dtype),
    }
