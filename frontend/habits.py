"""Hints for users of other languages, such as HLSL, GLSL and C."""

from __future__ import annotations

import re

from ..ir.diagnostics import Note

_NAMES = {
    "bool2": "vec2<bool>",
    "bool3": "vec3<bool>",
    "bool4": "vec4<bool>",
    "ddx": "dpdx",
    "ddy": "dpdy",
    "dFdx": "dpdx",
    "dFdy": "dpdy",
    "double": "f32",
    "float": "f32",
    "frac": "fract",
    "half": "f16",
    "int": "i32",
    "inversesqrt": "inverseSqrt",
    "lerp": "mix",
    "long": "i32",
    "rsqrt": "inverseSqrt",
    "texture2D": "textureSample",
    "uint": "u32",
    "unsigned": "u32",
}
_PREFIXES = {"float": "f", "half": "h", "int": "i", "uint": "u", "ivec": "i", "uvec": "u", "vec": "f"}
_SIZED = r"(float|half|int|uint|ivec|uvec|vec)([234])"
_MATRIX = r"(?:mat|float)([234])(?:x([234]))?"
_OPERATORS = {"fmod": "%", "mod": "%", "mul": "*"}

_CHARACTERS = {
    "?": "WGSL has no conditional operator: write 'select(if_false, if_true, condition)'",
    '"': "WGSL has no strings",
    "'": "WGSL has no strings and characters",
    "#": "WGSL has no preprocessor",
}
QUOTES = frozenset("\"'")
"""Quotation marks, which usually come in pairs."""

_AFTER = {
    "do": "WGSL has no 'do': write 'loop { … continuing { break if …; } }'",
    "else": "'else' stands behind the block of an 'if'",
    "goto": "WGSL has no 'goto'",
}
_STRUCT = rb"struct\s+\w+\s*\{[^{}]*$"
_WORD_BEFORE = rb"(\w+)\s+$"
_FARTHEST = 4096


def name_hint(name: str) -> tuple[Note, ...]:
    """The WGSL name of a type or function of another language."""
    if name in _OPERATORS:
        return (Note(f"WGSL has the operator '{_OPERATORS[name]}'"),)
    found = _NAMES.get(name)
    if sized := re.fullmatch(_SIZED, name):
        found = f"vec{sized[2]}{_PREFIXES[sized[1]]}"
    elif matrix := re.fullmatch(_MATRIX, name):
        found = f"mat{matrix[1]}x{matrix[2] or matrix[1]}f"
    return () if found is None else (Note(f"WGSL calls it '{found}'"),)


def character_hint(character: str) -> tuple[Note, ...]:
    """The reason why no token starts with this character."""
    return (Note(_CHARACTERS[character]),) if character in _CHARACTERS else ()


def token_hint(data: bytes, start: int, token: str, *, is_declaration: bool, is_statement: bool) -> tuple[Note, ...]:
    """The probable intention behind a token in the wrong place.

    `is_declaration`: a declaration was expected; `is_statement`: what stands before it could begin a statement.
    """
    before = data[max(0, start - _FARTHEST) : start]
    word = re.search(_WORD_BEFORE, before)
    if token.startswith('"'):
        return character_hint('"')
    if is_declaration and token == "let":
        return (Note("at module scope, write 'const', 'override' or 'var<private>'"),)
    if token == ";" and re.search(_STRUCT, before):
        return (Note("the members of a structure end with ','"),)
    if not is_statement or word is None:
        return ()
    if word[1].decode() in _AFTER:
        return (Note(_AFTER[word[1].decode()]),)
    is_name = token.isidentifier()
    return (Note("a variable is declared as 'var name: type = value;'"),) if is_name else ()
