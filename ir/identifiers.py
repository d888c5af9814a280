"""Words that cannot be names (WGSL, "Keyword Summary", "Reserved Words", "Identifiers")."""

from __future__ import annotations

import re

_KEYWORDS = """
    alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if
    let loop override requires return struct switch true var while
"""
_RESERVED_WORDS = """
    NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become cast catch class
    co_await co_return co_yield coherent column_major common compile compile_fragment concept const_cast consteval
    constexpr constinit crate debugger decltype delete demote demote_to_helper do dynamic_cast enum explicit export
    extends extern external fallthrough filter final finally friend from fxgroup get goto groupshared highp impl
    implements import inline instanceof interface layout lowp macro macro_rules match mediump meta mod module move
    mut mutable namespace new nil noexcept noinline nointerpolation non_coherent noncoherent noperspective null
    nullptr of operator package packoffset partition pass patch pixelfragment precise precision premerge priv
    protected pub public readonly ref regardless register reinterpret_cast require resource restrict self set shared
    sizeof smooth snorm static static_assert static_cast std subroutine super target template this thread_local
    throw trait try type typedef typeid typename typeof union unless unorm unsafe unsized use using varying virtual
    volatile wgsl where with writeonly yield
"""

KEYWORDS = frozenset(_KEYWORDS.split())
RESERVED_WORDS = frozenset(_RESERVED_WORDS.split())
_IDENTIFIER = re.compile(r"(?!\d)(?:\w|[^\x00-\x7f])+")


def is_identifier(text: str) -> bool:
    """Whether a text can be a name. The check is approximate: any character beyond ASCII is accepted."""
    return _IDENTIFIER.fullmatch(text) is not None and name_fault(text) is None


def name_fault(name: str) -> str | None:
    """The reason why a word cannot be an identifier; None if it can."""
    if name in RESERVED_WORDS:
        return f"'{name}' is a reserved word"
    if name in KEYWORDS:
        return f"'{name}' is a keyword"
    if name == "_":
        return "'_' cannot be used as a name"
    if name.startswith("__"):
        return "a name cannot start with two underscores"
    return None
