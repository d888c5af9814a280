"""Damaged shaders: bytes and tokens of real ones deleted, doubled, swapped, replaced or cut off."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import strategies as st

SHADERS = sorted((Path(__file__).parents[2] / "shaders").rglob("*.wgsl"))
_TOKEN = re.compile(rb"\w+|\s+|//[^\n]*|.", re.DOTALL)
_STRANGE = [
    b"\0", b"\xff", b"\xef\xbb\xbf", "é".encode(), b"/*", b"*/", b"//", b"<", b">", b">>", b"{", b"}", b"(", b")", b";",
    b"@", b"0x", b"1e999", b"99999999999999999999", b"-2147483648", b"0u", b"_", b"__x", b"override", b"const", b"ptr",
    b"atomic<u32>", b"array<f32>", b"vec3h", b"bool", b"workgroupBarrier()", b"discard;", b"return", b"loop", b"&",
]  # fmt: skip


def tokens(data: bytes) -> list[bytes]:
    """The bytes of a text, cut into words and signs."""
    return _TOKEN.findall(data)


@st.composite
def damaged_shaders(draw: st.DrawFn) -> bytes:
    """A shader with one to four changes."""
    parts = tokens(draw(st.sampled_from(SHADERS)).read_bytes())
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(len(parts) - 1, 0)))
        other = draw(st.integers(0, max(len(parts) - 1, 0)))
        parts = _changed(draw, parts, place, other)
    data = b"".join(parts)
    return data[: draw(st.integers(0, len(data)))] if draw(st.integers(0, 9)) == 0 else data


def _changed(draw: st.DrawFn, parts: list[bytes], place: int, other: int) -> list[bytes]:
    if not parts:
        return [draw(st.sampled_from(_STRANGE))]
    match draw(st.sampled_from(["delete", "double", "swap", "replace", "insert", "byte", "move"])):
        case "delete":
            return parts[:place] + parts[place + 1 :]
        case "double":
            return [*parts[:place], parts[place], *parts[place:]]
        case "swap":
            parts[place], parts[other] = parts[other], parts[place]
            return parts
        case "replace":
            return [*parts[:place], parts[other], *parts[place + 1 :]]
        case "insert":
            return [*parts[:place], draw(st.sampled_from(_STRANGE)), *parts[place:]]
        case "byte":
            return [*parts[:place], draw(st.binary(max_size=3)), *parts[place + 1 :]]
        case _:
            return [*parts[:place], *parts[min(place, other) : max(place, other)], *parts[place:]]
