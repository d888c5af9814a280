"""Any text gives diagnostics or an answer, never a traceback."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tinct.backend.wgsl.printer import print_unit
from tinct.base.errors import InputError
from tinct.frontend import check
from tinct.ir.core import parse, print_module, verify
from tinct.ir.diagnostics import ShaderError
from tinct.ir.hercules.verify import verify as verify_hercules
from tinct.ir.source import Source
from tinct.shader import Shader
from tinct.transforms.to_wgsl.unit import to_unit

from .mutations import SHADERS, damaged_shaders

EXAMPLES = int(os.environ.get("TINCT_FUZZ_EXAMPLES", "100"))
BOUNDED = settings(
    deadline=None,
    derandomize="TINCT_FUZZ_EXAMPLES" not in os.environ,
    max_examples=EXAMPLES,
    suppress_health_check=list(HealthCheck),
)


def through_every_stage(shader: Shader) -> None:
    """Core IR, printed, parsed and written back; Hercules IR of every entry point. Only diagnostics are raised."""
    for name, info in shader.entry_points.items():
        compilation = shader.compilation(name, {})
        try:
            verify(compilation.core)
            text = print_module(compilation.core)
            assert print_module(parse(text)) == text
            print_unit(to_unit(compilation.core))
            if info.stage == "compute":
                verify_hercules(compilation.hercules.module)
        except (ShaderError, InputError):
            pass


@BOUNDED
@given(damaged_shaders())
def test_damaged_shaders_are_answered(data: bytes) -> None:
    source = Source("damaged.wgsl", data)
    diagnostics = check(source)
    for diagnostic in diagnostics:
        if diagnostic.span is not None:
            assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(data)
    if not any(diagnostic.is_error for diagnostic in diagnostics):
        through_every_stage(Shader(source))
    else:
        with pytest.raises(ShaderError) as caught:
            Shader(source)
        assert str(caught.value).startswith(("error[", "warning["))


@BOUNDED
@given(st.binary(max_size=200))
def test_binary_garbage_is_answered(data: bytes) -> None:
    check(Source("garbage.wgsl", data))


@BOUNDED
@given(st.sampled_from(SHADERS), st.data())
def test_truncated_shaders_are_answered(path: object, data: st.DataObject) -> None:
    whole = SHADERS[SHADERS.index(path)].read_bytes()  # type: ignore[arg-type]
    check(Source("truncated.wgsl", whole[: data.draw(st.integers(0, len(whole)))]))
