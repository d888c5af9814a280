"""Every builtin function and builtin input of a compute shader runs on every device, but for those named here.

Values are compared loosely: `tests/accuracy` and the conformance suite have exact bounds.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tinct
from tinct.backend.gpu import shared_device
from tinct.devices import DEVICES
from tinct.frontend.resolve.stage_io import BUILTIN_VALUES
from tinct.ir.builtins import LARGEST_SUBGROUP, builtin, builtin_names
from tinct.ir.types import U32, Stage

SAMPLING = {
    *("textureGather", "textureGatherCompare", "textureSampleCompareLevel", "textureSampleGrad"),
    *("textureSampleLevel", "textureSampleBaseClampToEdge"),
}
"""Functions that need a sampler; `tests/textures` has what runs of them."""

IN_ITS_OWN_TEST = {"textureNumSamples"}
"""`test_the_samples_of_a_texture` has it."""

FLOATS = """
sin(x) cos(x) tan(x) sinh(x) cosh(x) tanh(x) asin(x) acos(x) atan(x) asinh(x) acosh(x+2) atanh(x) exp(x) exp2(x)
log(x) log2(x) sqrt(x) inverseSqrt(x) radians(x) degrees(x) abs(x) sign(x) floor(x) ceil(x) round(x) trunc(x) fract(x)
saturate(x) max(x,0.5) min(x,0.5) clamp(x,0.2,0.6) atan2(x,0.5) pow(x,1.5) fma(x,2,1) mix(x,2,0.25) step(0.5,x)
smoothstep(0,1,x) ldexp(x,3) quantizeToF16(x) select(x,-x,x>0.5) dot(v,v) length(v) distance(v,v*2) cross(v,v.yzx).y
normalize(v).z faceForward(v,-v,v).x reflect(v,v).x refract(v,vec3f(0,0,1),0.5).x frexp(x).fract modf(x*9).whole
determinant(mat2x2f(x,1,2,3)) transpose(mat2x3f(v,v*2))[1].y unpack4x8snorm(n).y unpack4x8unorm(n).y
unpack2x16snorm(n).x unpack2x16unorm(n).x unpack2x16float(n&0x3fff).x
"""
WORDS = """
countLeadingZeros(n) countOneBits(n) countTrailingZeros(n) firstLeadingBit(n) firstTrailingBit(n) reverseBits(n)
extractBits(n,3,9) insertBits(n,i,4,8) bitcast<u32>(x) pack4x8snorm(v.xyzz) pack4x8unorm(v.xyzz) pack2x16snorm(v.xy)
pack2x16unorm(v.xy) pack2x16float(v.xy) pack4xI8(vec4i(i32(n))) pack4xU8(vec4u(n)) pack4xI8Clamp(vec4i(i32(n)))
pack4xU8Clamp(vec4u(n)) u32(unpack4xI8(n).y) unpack4xU8(n).y u32(dot4I8Packed(n,n+9)) dot4U8Packed(n,n+9)
u32(all(v>vec3f(0.4))) u32(any(v>vec3f(0.9))) subgroupAdd(i) subgroupExclusiveAdd(i) subgroupInclusiveAdd(i)
subgroupMul(i|1) subgroupExclusiveMul(i|1) subgroupInclusiveMul(i|1) subgroupMax(n) subgroupMin(n) subgroupAnd(n)
subgroupOr(n) subgroupXor(n) u32(subgroupAll(i<40)) u32(subgroupAny(i==2)) subgroupBallot(i%3==0).x
u32(subgroupElect()) subgroupBroadcastFirst(n) subgroupBroadcast(n,2) subgroupShuffle(n,i&3) subgroupShuffleXor(n,1)
subgroupShuffleDown(n,0) subgroupShuffleUp(n,0) quadSwapDiagonal(n) quadSwapX(n) quadSwapY(n) quadBroadcast(n,1)
arrayLength(&words) workgroupUniformLoad(&first) bufferLength(&raw) *bufferView<u32>(&raw,4)
(*bufferArrayView<array<u32>>(&raw,0,8))[i&1] textureDimensions(t).y u32(textureLoad(t,vec2u(i&1),0).y*8)
textureNumLayers(layers) textureNumLevels(t)
"""
STATEMENTS = """
atomicStore(&counts[0], 5); workgroupBarrier(); atomicAdd(&counts[0], 1); atomicSub(&counts[1], 1);
atomicMax(&counts[2], i); atomicMin(&counts[3], i); atomicAnd(&counts[4], ~i); atomicOr(&counts[5], i);
atomicXor(&counts[6], i); atomicExchange(&counts[7], 9); atomicCompareExchangeWeak(&counts[8], 0, 3);
storageBarrier(); textureBarrier(); textureStore(picture, vec2u(i, 0), vec4f(x)); workgroupBarrier();
words[i * COUNT] = atomicLoad(&counts[i % 9]);
"""
HEAD = """
enable subgroups; requires buffer_view;
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> floats: array<f32>;
@group(0) @binding(2) var t: texture_2d<f32>;
@group(0) @binding(3) var layers: texture_2d_array<f32>;
@group(0) @binding(4) var picture: texture_storage_2d<r32float, write>;
@group(0) @binding(5) var<uniform> raw: buffer<16>;
var<workgroup> counts: array<atomic<u32>, 9>;
var<workgroup> first: u32;
"""
LANES = LARGEST_SUBGROUP
"""The invocations of the workgroup, which are whole subgroups of any size."""
GIVEN: dict[str, Any] = {
    "t": np.arange(16, dtype=np.float32).reshape(2, 2, 4) / 16,
    "layers": np.zeros((3, 1, 1, 4), np.float32),
    "picture": np.zeros((1, LANES), np.float32),
    "raw": np.arange(16, dtype=np.uint8),
}


def _source(inputs: list[str], subgroup_size: int | None) -> str:
    """A kernel that stores each value, one row for each invocation. It may demand subgroups of a size."""
    words, floats = [*WORDS.split(), *inputs], FLOATS.split()
    parameters = [f"@builtin({it}) {it}: {BUILTIN_VALUES[it].type}" for it in INPUTS]
    body = [f"floats[i * {len(floats)} + {number}] = {text};" for number, text in enumerate(floats)]
    count = len(words) + 1
    body += [f"words[i * {count} + {number}] = {text};" for number, text in enumerate(words, 1)]
    enable, demand = "", ""
    if subgroup_size is not None:
        enable, demand = "enable subgroup_size_control;", f"@subgroup_size({subgroup_size})"
    return f"""{enable}{HEAD}@compute @workgroup_size({LANES}) {demand} fn main({", ".join(parameters)}) {{
    let i = local_invocation_index;
    let n = i * 0x9E3779B9;
    let x = (f32(i) + 0.5) * {1 / LANES};
    let v = vec3f(x, 0.25, 1 - x);
    {STATEMENTS.replace("COUNT", str(count))}
    {" ".join(body)}
}}"""


INPUTS = [
    name for name, value in BUILTIN_VALUES.items() if ("compute", "input") in {(a.value, b) for a, b in value.uses}
]


def _texts() -> list[str]:
    return [name if BUILTIN_VALUES[name].type is U32 else f"{name}.x+9*{name}.y+99*{name}.z" for name in INPUTS]


@cache
def _answer(device: str, subgroup_size: int | None) -> dict[str, npt.NDArray[Any]]:
    rows = LANES * (len(WORDS.split()) + len(INPUTS) + 1)
    given = {**GIVEN, "words": np.zeros(rows, np.uint32), "floats": np.zeros(LANES * len(FLOATS.split()), np.float32)}
    run = tinct.load(_source(_texts(), subgroup_size))["main"].run(given, workgroups=(1, 1, 1), device=device)
    return {name: run[name] for name in ("words", "floats", "picture")}


def test_every_function_is_named() -> None:
    used = set(re.findall(r"\w+", FLOATS + WORDS + STATEMENTS))
    wanted = {name for name in builtin_names() if (it := builtin(name)) is not None and Stage.COMPUTE in it.stages}
    assert wanted - used == SAMPLING | IN_ITS_OWN_TEST


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.usefixtures("needs_device")
def test_every_function_runs(device: str) -> None:
    """The interpreter's subgroups have the size that those of the GPU are found to have."""
    size = shared_device().subgroup_size if device == "gpu" else None
    _check(_answer("interp", size), _answer(device, size))


@pytest.mark.parametrize("size", [4, 32, 128])
def test_every_function_runs_in_subgroups_of_other_sizes(size: int) -> None:
    _check(_answer("interp", size), _answer("cpu", size))


def _check(expected: dict[str, npt.NDArray[Any]], found: dict[str, npt.NDArray[Any]]) -> None:
    words = [*["atomics"], *WORDS.split(), *INPUTS]
    different = (expected["words"] != found["words"]).reshape(LANES, len(words)).any(axis=0)
    assert {word for word, is_wrong in zip(words, different, strict=True) if is_wrong} == set()
    assert np.allclose(found["floats"], expected["floats"], rtol=1e-3, atol=1e-3)
    assert np.array_equal(found["picture"], expected["picture"])


@pytest.mark.parametrize("device", ["interp", "hercules", "cpu", "gpu", "gpu via hercules"])
@pytest.mark.usefixtures("needs_device")
def test_the_samples_of_a_texture(device: str) -> None:
    source = """
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@group(0) @binding(1) var t: texture_multisampled_2d<f32>;
@group(0) @binding(2) var d: texture_depth_multisampled_2d;
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {
    let at = vec2u(i & 1, i >> 1);
    out[i] = textureLoad(t, at, i).z + textureLoad(d, at, 3 - i) + f32(textureNumSamples(t) * textureNumSamples(d));
}"""
    colors, depths = (
        np.arange(64, dtype=np.float32).reshape(2, 2, 4, 4),
        np.arange(16, dtype=np.float32).reshape(2, 2, 4) / 16,
    )
    name, _, way = device.partition(" via ")
    given: dict[str, Any] = {"out": (None, 4), "t": colors, "d": depths}
    found = tinct.load(source)["main"].run(given, workgroups=1, device=name, via=way or None)["out"]
    lane = np.arange(4)
    expected = colors[lane >> 1, lane & 1, lane, 2] + depths[lane >> 1, lane & 1, 3 - lane] + 16
    assert found.tolist() == expected.tolist()
