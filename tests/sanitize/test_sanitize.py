"""The sanitizer: every planted bug is found, with its report; sound kernels are clean.

Each `.wgsl` file here says in comments how it is dispatched: `// workgroups: 2`, and for each binding, in order, the
number of its 4-byte words, `// data: 16`. The report is the golden file of the same name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tinct.cases import Case, load_cases
from tinct.frontend import load_program
from tinct.ir.core import parse, verify
from tinct.ir.core.sanitizer import sanitize
from tinct.ir.diagnostics import Diagnostic, render_all
from tinct.ir.source import Source
from tinct.ir.types import BindingPoint
from tinct.shader import Shader
from tinct.transforms.from_wgsl import build

HERE = Path(__file__).parent
GOLDENS = HERE.parent / "goldens" / "sanitize"
PLANTED = sorted(GOLDENS.glob("*.wgsl"))
SHADERS = HERE.parents[1] / "shaders"
CASES = [case for kernel in load_cases(SHADERS) for case in kernel.cases if case.interp]


def findings_of(source: Source) -> tuple[Diagnostic, ...]:
    given = re.findall(r"^// (\w+): (\d+)$", source.data.decode(), re.MULTILINE)
    (_, workgroups), *buffers = given
    bindings = {BindingPoint(0, n): bytearray(4 * int(words)) for n, (_, words) in enumerate(buffers)}
    module = build(load_program(source))
    verify(module)
    return sanitize(module, "main", bindings, (int(workgroups), 1, 1))


@pytest.mark.parametrize("path", PLANTED, ids=lambda path: path.stem)
def test_report(path: Path, golden: Callable[[Path, str], None]) -> None:
    source = Source(path.name, path.read_bytes())
    report = render_all(findings_of(source), source)
    golden(GOLDENS / f"{path.stem}.txt", report + "\n" if report else "")


BARRIERS = """
    @compute @workgroup_size(4u)
    fn @main(%i: u32 @builtin(local_invocation_index), %w: vec3<u32> @builtin(workgroup_id)) -> void {{
      b0: {{
        %c: bool = less %i, 2u
        if %c [true: b1, false: b2, merge: b3]
      }}
        b1: {{ builtin workgroupBarrier()
              branch b3 }}
        b2: {{ {other}
              branch b3 }}
      b3: {{ return }}
    }}"""


@pytest.mark.parametrize(
    ("other", "second"),
    [
        ("", "invocation (2, 0, 0) of workgroup (0, 0, 0) has ended"),
        ("builtin workgroupBarrier()", "invocation (2, 0, 0) of workgroup (0, 0, 0) waits here"),
    ],
)
def test_non_uniform_barrier(other: str, second: str) -> None:
    """WGSL's rules about uniformity refuse these shaders, so they are core IR."""
    module = parse(BARRIERS.format(other=other))
    verify(module)
    (found,) = sanitize(module, "main", {}, (2, 1, 1))
    assert found.code == "non-uniform-barrier"
    first = "invocation (0, 0, 0) of workgroup (0, 0, 0) waits"
    assert [note.message for note in found.notes] == [first, second, "1 more like this"]


TURNS = """
    @compute @workgroup_size(4u)
    fn @main(%i: u32 @builtin(local_invocation_index)) -> void {
      b0: {
        %k: ptr<function, u32> = var 0u
        loop [start: b1, continuing: b5, merge: b6]
      }
        b1: {
          %0: u32 = load %k
          %1: bool = less %0, %i
          if %1 [true: b2, false: b3, merge: b4]
        }
          b2: { builtin workgroupBarrier()
                branch b4 }
          b3: { branch b6 }
        b4: { branch b5 }
        b5: {
          %2: u32 = load %k
          %3: u32 = add %2, 1u
          store %k, %3
          branch b1
        }
      b6: { return }
    }"""


def test_a_barrier_in_a_loop_that_turns_unequally_often() -> None:
    module = parse(TURNS)
    verify(module)
    (found,) = sanitize(module, "main", {}, (1, 1, 1))
    assert found.code == "non-uniform-barrier"
    first, second = [note.message for note in found.notes][:2]
    assert "has ended" in first + second
    assert "waits" in first + second


def test_findings_are_bounded() -> None:
    statements = "\n".join(f"data[{n} + i % 2] = f32(i);" for n in range(200))
    text = f"""// workgroups: 1
// data: 300
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {{ {statements} }}"""
    found = findings_of(Source.from_text(text))
    assert len(found) == 101
    assert found[-1].message.endswith("more findings at other places are left out")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kernel}-{case.name}".replace(" ", "_"))
def test_our_kernels_are_clean(case: Case) -> None:
    kernel = Shader(Source.from_file(case.kernel_path)).kernel(case.entry)
    inputs = case.inputs_of(kernel.bindings)
    result = kernel.sanitize(
        {**inputs, **case.samplers}, workgroups=case.workgroups, threads=case.threads, constants=case.constants
    )
    assert result.findings == ()
