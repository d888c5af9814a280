"""Damaged JSON and ATerms of core IR give a CodecError, a VerifyError, or a module that can be printed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinct.ir.core import print_module, verify
from tinct.ir.core.codec import codec
from tinct.ir.core.nodes import Module
from tinct.ir.core.verifier import VerifyError
from tinct.ir.schema.codec import CodecError
from tinct.ir.source import Source
from tinct.shader import Shader

from .mutations import SHADERS
from .test_mutations import BOUNDED

_TOKEN = re.compile(r'"[^"]*"|\w+|\S')
_STRANGE = ["-1", "0", str(1 << 70), "1e400", "NaN", "null", "true", "{}", "[]", '""', '"x"', ",", "@", "Module"]


def form(name: str, language: str) -> str:
    """The core IR of a shader, written down."""
    path = next(it for it in SHADERS if it.stem == name)
    shader = Shader(Source.from_file(path))
    core = shader.compilation(next(iter(shader.entry_points)), {}).core
    written = codec(core.structs)
    return written.to_json(core) if language == "json" else written.to_aterm(core)


NAMES = ("saxpy", "reduce", "particles")
FORMS = {
    (language, name): form(name, language)
    for language in ("json", "aterm")
    for name in ("saxpy", "reduce", "particles")
}


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    """The text with one to three tokens deleted, copied or replaced."""
    parts = _TOKEN.findall(text)
    for _ in range(draw(st.integers(1, 3))):
        at, other = draw(st.integers(0, len(parts) - 1)), draw(st.integers(0, len(parts) - 1))
        new = draw(st.sampled_from([[], [parts[other]], [parts[other], parts[at]], [draw(st.sampled_from(_STRANGE))]]))
        parts[at : at + 1] = new
        parts = parts or ["null"]
    return " ".join(parts)


@pytest.mark.parametrize("key", FORMS, ids="-".join)
@BOUNDED
@given(data=st.data())
def test_damaged_forms_are_answered(key: tuple[str, str], data: st.DataObject) -> None:
    text = data.draw(damaged(FORMS[key]))
    read = codec().from_json if key[0] == "json" else codec().from_aterm
    try:
        module = read(text, Module)
        verify(module)
        print_module(module)
    except (CodecError, VerifyError):
        pass
