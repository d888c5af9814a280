"""The trees of all three stages come back from JSON and from ATerms."""

from __future__ import annotations

import json
import lzma
import os
from pathlib import Path

import pytest

from tinct.frontend import load_program
from tinct.ir.core import nodes as core
from tinct.ir.core import print_module
from tinct.ir.core.codec import codec
from tinct.ir.diagnostics import ShaderError
from tinct.ir.hercules import codec as hercules_codec
from tinct.ir.hercules import nodes as hercules
from tinct.ir.hercules import text as hercules_text
from tinct.ir.schema.codec import CodecError
from tinct.ir.schema.traverse import same
from tinct.ir.source import Source
from tinct.ir.wgsl import ast
from tinct.ir.wgsl import codec as wgsl_codec
from tinct.shader import load
from tinct.transforms.from_wgsl import build

ROOT = Path(__file__).parents[2]
SHADERS = sorted((ROOT / "shaders").glob("*/*.wgsl"))
FOLDER = Path(os.environ.get("TINCT_CONFORMANCE", ROOT.parent / "shared" / "conformance"))
VECTORS = FOLDER / "validation-smoke.jsonl.xz"
EVERY = 30


def check_text(text: str) -> None:
    program = load_program(Source.from_text(text))
    syntax = wgsl_codec.CODEC
    for again in (
        syntax.from_json(syntax.to_json(program.unit), ast.TranslationUnit),
        syntax.from_aterm(syntax.to_aterm(program.unit), ast.TranslationUnit),
    ):
        assert same(again, program.unit)
        assert again.span == program.unit.span
    module = build(program)
    check_core(module, codec(module.structs).from_json(codec().to_json(module), core.Module))
    check_core(module, codec(module.structs).from_aterm(codec().to_aterm(module), core.Module))


def check_core(module: core.Module, again: core.Module) -> None:
    assert same(again, module)
    assert print_module(again) == str(again) == print_module(module)
    assert codec().to_json(again) == codec().to_json(module)


@pytest.mark.parametrize("path", SHADERS, ids=lambda path: path.stem)
def test_kernels(path: Path) -> None:
    check_text(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", SHADERS, ids=lambda path: path.stem)
def test_kernels_in_hercules(path: Path) -> None:
    shader = load(path)
    for name in shader:
        module = shader.compilation(name, {}).hercules.module
        terms = hercules_codec.CODEC
        assert str(module) == hercules_text.print_module(module)
        assert [str(it) for it in module.functions] == [hercules_text.print_function(it) for it in module.functions]
        assert same(terms.from_json(terms.to_json(module), hercules.Module), module)
        assert same(terms.from_aterm(terms.to_aterm(module), hercules.Module), module)


@pytest.mark.skipif(not VECTORS.exists(), reason="no conformance vectors on this machine")
def test_sample() -> None:
    with lzma.open(VECTORS, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    count = 0
    for record in [it for it in records if it["expected"] and it["kind"] == "module"][::EVERY]:
        try:
            check_text(record["code"])
        except ShaderError:  # the front end's matter, and counted by its own tests
            continue
        count += 1
    assert count > 50


def test_new_structures_without_known_ones() -> None:
    module = build(load_program(Source.from_text("struct S { a: f32 } var<private> s: S;")))
    again = codec().from_aterm(codec().to_aterm(module), core.Module)
    assert again.structs[0] is not module.structs[0]
    assert print_module(again) == print_module(module)


def test_a_type_that_is_not_declared() -> None:
    module = build(load_program(Source.from_text("struct S { a: f32 } var<private> s: S;")))
    term = codec().to_aterm(module).replace("ptr<private, S>", "ptr<private, T>")
    with pytest.raises(CodecError, match=r"Var\.type: expected type, found 'ptr<private, T>'"):
        codec().from_aterm(term, core.Module)
