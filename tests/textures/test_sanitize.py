"""The sanitizer on textures."""

from __future__ import annotations

import numpy as np
import pytest

from tinct.ir.source import Source
from tinct.kernel import Sanitized
from tinct.shader import Shader

HEAD = """
@group(0) @binding(0) var t: texture_storage_2d<r32float, read_write>;
@group(0) @binding(1) var s: texture_2d<f32>;
"""


def sanitized(body: str) -> Sanitized:
    main = f"@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) l: u32) {{ _ = t; _ = s; {body} }}"
    kernel = Shader(Source.from_text(HEAD + main)).kernel()
    return kernel.sanitize({"t": np.zeros((1, 4), np.float32), "s": np.ones((1, 4, 4), np.float32)}, workgroups=1)


BUGS = {
    "read before a write": (
        "let v = textureLoad(t, vec2u((l + 1) % 4, 0)); textureStore(t, vec2u(l, 0), v + 1);",
        "invocation (1, 0, 0) of workgroup (0, 0, 0) writes (1, 1, 1, 2) to texel (1, 0) of 't', which races",
    ),
    "two writes": ("textureStore(t, vec2u(0, 0), vec4f(f32(l)));", "another invocation's write"),
    "the wrong barrier": (
        "textureStore(t, vec2u(l, 0), vec4f(1)); storageBarrier();"
        " if textureLoad(t, vec2u(3 - l, 0)).x > 5 { textureStore(t, vec2u(l, 0), vec4f(2)); }",
        "a textureBarrier would order them",
    ),
    "a load left of the edge": (
        "textureStore(t, vec2u(l, 0), textureLoad(s, vec2i(i32(l) - 1, 0), 0));",
        "loads texel (-1, 0) of a texture_2d<f32> of 4 x 1 texels",
    ),
    "a mip level too many": (
        "textureStore(t, vec2u(l, 0), textureLoad(s, vec2u(l, 0), 1));",
        "loads mip level 1 of a texture_2d<f32>, which has 1 mip levels",
    ),
    "a store past the edge": ("textureStore(t, vec2u(l + 1, 0), vec4f(1));", "the store is dropped"),
}


@pytest.mark.parametrize("name", BUGS)
def test_planted_bugs_are_found(name: str) -> None:
    body, message = BUGS[name]
    found = sanitized(body)
    assert len(found.findings) == 1
    assert message in str(found)


def test_a_barrier_orders_texels() -> None:
    body = "let v = textureLoad(t, vec2u((l + 1) % 4, 0)); textureBarrier(); textureStore(t, vec2u(l, 0), v + 1);"
    assert sanitized(body).findings == ()
