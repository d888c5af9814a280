"""The JSON document of `tinct reflect` and its schema."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema
import pytest

import tinct
from tinct.interface import VERSION, document, schema

from .shaders import EVERYTHING, all_shaders


def closed(part: Any) -> Any:
    """The schema with no members but those that it names."""
    if isinstance(part, list):
        return [closed(it) for it in part]
    if not isinstance(part, dict):
        return part
    parts = {key: closed(it) for key, it in part.items()}
    return {"additionalProperties": False, **parts} if isinstance(part.get("properties"), dict) else parts


@pytest.fixture(scope="module")
def validator() -> Any:
    jsonschema.Draft202012Validator.check_schema(schema())
    return jsonschema.Draft202012Validator(closed(schema()))


def test_documents_fit_the_schema(validator: Any) -> None:
    for shader in all_shaders():
        found = json.loads(json.dumps(document(shader)))
        validator.validate(found)
        assert found["version"] == VERSION
        assert {it["type"] for it in found["bindings"] if it["space"] != "handle"} <= found["types"].keys()
        assert {it["element"] for it in found["types"].values() if "element" in it} <= found["types"].keys()
        assert {it["name"] for it in found["structs"]} <= found["types"].keys()


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("version",), 2),
        (("bindings", 0, "kind"), "buffer"),
        (("structs", 0, "members", 0, "padding"), -1),
        (("types", "vec3<f32>", "width"), 5),
        (("entryPoints", 0, "limits", "maxBindGroups"), None),
        (("structs", 0, "dtype"), 4),
        (("more",), True),
    ],
)
def test_the_schema_refuses(path: tuple[Any, ...], wrong: object, validator: Any) -> None:
    found = copy.deepcopy(document(all_shaders()[0]))
    part: Any = found
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = wrong
    assert not validator.is_valid(found)


def test_entry_points() -> None:
    main, other, shade = document(all_shaders()[0])["entryPoints"]  # type: ignore[misc]
    assert (main["workgroupSize"], main["defaultWorkgroupSize"]) == (["size", 2], [4, 2, 1])
    assert main["bindings"] == ["np", "tail", "rows", "deep", "several", "params"]
    assert main["builtins"] == ["global_invocation_id", "local_invocation_index"]
    assert main["functions"] == ["outer", "inner"]
    assert main["workgroupMemory"] == 128
    assert main["limits"] == {
        "maxBindGroups": 2,
        "maxBindingsPerBindGroup": 7,
        "maxSampledTexturesPerShaderStage": 0,
        "maxSamplersPerShaderStage": 0,
        "maxStorageTexturesPerShaderStage": 0,
        "maxUniformBuffersPerShaderStage": 1,
        "maxStorageBuffersPerShaderStage": 5,
        "maxUniformBufferBindingSize": 16,
        "maxStorageBufferBindingSize": 704,
        "maxImmediateSize": 0,
        "maxComputeWorkgroupStorageSize": 128,
        "maxComputeInvocationsPerWorkgroup": 8,
        "maxComputeWorkgroupSizeX": 4,
        "maxComputeWorkgroupSizeY": 2,
        "maxComputeWorkgroupSizeZ": 1,
    }
    assert other["defaultWorkgroupSize"] is None
    assert other["limits"]["maxComputeInvocationsPerWorkgroup"] is None
    assert other["limits"]["maxSampledTexturesPerShaderStage"] == 5  # an external texture counts as four
    assert (other["limits"]["maxSamplersPerShaderStage"], other["limits"]["maxUniformBuffersPerShaderStage"]) == (2, 1)
    assert (shade["stage"], shade["workgroupSize"], shade["limits"]["maxComputeWorkgroupSizeX"]) == ("fragment", [], 0)


def test_overrides_and_features() -> None:
    found = document(all_shaders()[0])
    overrides: Any = found["overrides"]
    assert [(it["key"], it["type"], it["required"], it["default"], it["defaultText"]) for it in overrides] == [
        ("size", "u32", False, 4, "4"),
        ("needed", "f32", True, None, None),
        ("7", "bool", False, True, "true"),
        ("twice", "u32", False, None, "size * 2"),
        ("half_", "f16", False, 0.5, "0.5h"),
    ]
    assert (found["enables"], found["features"]) == (["f16"], ["shader-f16", "texture-formats-tier1"])


@pytest.mark.parametrize(
    ("type", "features"),
    [
        ("texture_storage_2d<rgba8unorm, write>", []),
        ("texture_storage_2d<rg32float, read>", []),
        ("texture_storage_2d<r32uint, read_write>", []),
        ("texture_storage_2d<bgra8unorm, write>", ["bgra8unorm-storage"]),
        ("texture_storage_2d<rgba8unorm, read_write>", ["texture-formats-tier2"]),
        ("texture_storage_2d<rg8uint, write>", ["texture-formats-tier1"]),
        ("texture_2d<f32>", []),
    ],
)
def test_features_of_textures(type: str, features: list[str]) -> None:
    shader = tinct.load(f"@group(0) @binding(0) var t: {type}; @compute @workgroup_size(1) fn main() {{ _ = t; }}")
    assert document(shader)["features"] == features


def test_bindings_and_members() -> None:
    found: Any = document(tinct.load(EVERYTHING))
    kinds = {it["name"]: it["kind"] for it in found["bindings"]}
    assert kinds["rows"] == "read-only-storage"
    assert [kinds[it] for it in ("np", "params", "smooth_", "compared")] == [
        "storage",
        "uniform",
        "sampler",
        "comparison-sampler",
    ]
    assert [kinds[it] for it in ("picture", "written", "video")] == ["texture", "storage-texture", "external-texture"]
    textures = {it["name"]: it["texture"] for it in found["bindings"]}
    assert textures["np"] is None
    assert textures["depths"] == {
        "viewDimension": "cube-array",
        "sampleType": "depth",
        "format": None,
        "multisampled": False,
    }
    assert textures["many"]["multisampled"]
    structs = {it["name"]: it for it in found["structs"]}
    assert "Private" not in structs
    members = [(it["name"], it["offset"], it["size"], it["padding"]) for it in structs["In"]["members"]]
    assert members[:4] == [("a", 0, 4, 12), ("b", 16, 12, 0), ("c", 28, 32, 0), ("d", 60, 2, 2)]
    assert (structs["Rows"]["size"], structs["Rows"]["minimumSize"], structs["Rows"]["stride"]) == (None, 32, 16)
