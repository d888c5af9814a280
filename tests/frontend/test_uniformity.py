"""Uniformity analysis: verdicts by rule, and goldens of whole messages."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tinct import frontend
from tinct.ir.builtins import builtin, builtin_names
from tinct.ir.diagnostics import Diagnostic, Severity, render_all
from tinct.ir.source import Source
from tinct.ir.types import Stage

GOLDENS = Path(__file__).parent.parent / "goldens" / "uniformity"


def check(text: str) -> tuple[Diagnostic, ...]:
    return frontend.check(Source.from_text(text, "test.wgsl"))


@pytest.mark.parametrize("path", sorted(GOLDENS.glob("*.wgsl")), ids=lambda path: path.stem)
def test_messages(path: Path, golden: Callable[[Path, str], None]) -> None:
    source = Source(path.name, path.read_bytes())
    golden(path.with_suffix(".txt"), render_all(frontend.check(source), source) + "\n")


HEADER = """
var<private> loose: u32;
var<workgroup> shared_cell: array<u32, 4>;
var<workgroup> counter: atomic<u32>;
@group(0) @binding(0) var<storage> steady: array<u32, 4>;
@group(0) @binding(1) var<storage, read_write> written: array<u32, 4>;
@group(0) @binding(2) var texels: texture_storage_2d<r32uint, read_write>;
override setting: u32 = 1;
"""


def body(statements: str, functions: str = "", enable: str = "") -> str:
    parameters = "@builtin(local_invocation_id) lane: vec3u, @builtin(workgroup_id) group: vec3u"
    main = f"@compute @workgroup_size(16) fn main({parameters}) {{ {statements} }}"
    return f"{enable}{HEADER}{functions}\n{main}\n"


def is_uniform(statements: str, functions: str = "") -> bool:
    codes = [diagnostic.code for diagnostic in check(body(statements, functions))]
    assert set(codes) <= {"barrier-uniformity"}
    return not codes


@pytest.mark.parametrize(
    "value", ["1u", "setting", "steady[0]", "group.x", "arrayLength(&sized)", "workgroupUniformLoad(&shared_cell[1])"]
)
def test_uniform_values(value: str) -> None:
    more = "@group(0) @binding(3) var<storage> sized: array<u32>;"
    assert is_uniform(f"if {value} > 0u {{ workgroupBarrier(); }}", more)


@pytest.mark.parametrize(
    "value",
    [
        "loose",
        "written[0]",
        "shared_cell[0]",
        "lane.x",
        "steady[lane.x]",
        "atomicAdd(&counter, 1u)",
        "textureLoad(texels, vec2u()).x",
        "select(0u, 1u, true || loose > 0u)",
        "workgroupUniformLoad(&shared_cell[loose])",
    ],
)
def test_values_that_differ(value: str) -> None:
    assert not is_uniform(f"if {value} > 0u {{ workgroupBarrier(); }}")


@pytest.mark.parametrize(
    "statements",
    [
        "if loose > 0u {} workgroupBarrier();",
        "if loose > 0u { x = 1u; } else { y = 1u; } workgroupBarrier();",
        "if group.x > 0u { return; } workgroupBarrier();",
        "x = loose; x = 1u; if x > 0u { workgroupBarrier(); }",
        "loop { if loose > 0u { break; } } workgroupBarrier();",
        "loop { if loose > 0u { break; } break; continuing { workgroupBarrier(); } }",
        "switch loose { case 0u: { break; } default: {} } workgroupBarrier();",
        "return; if loose > 0u { workgroupBarrier(); }",
        "for (var i = 0u; i < setting; i++) { workgroupBarrier(); }",
        "while group.x > x { x++; workgroupBarrier(); }",
        "let p = &a[group.x]; *p = 1u; if a[0] > 0u { workgroupBarrier(); }",
        "loop { if group.x > 0u { x = loose; break; } workgroupBarrier(); break; }",
    ],
)
def test_accepted(statements: str) -> None:
    assert is_uniform(f"var x = 0u; var y = 0u; var a: array<u32, 4>; {statements}")


@pytest.mark.parametrize(
    "statements",
    [
        "if loose > 0u { return; } workgroupBarrier();",
        "if loose > 0u { x = 1u; } if x > 0u { workgroupBarrier(); }",
        "loop { workgroupBarrier(); if loose > 0u { break; } }",
        "loop { workgroupBarrier(); continuing { break if loose > 0u; } }",
        "loop { if loose > 0u { continue; } workgroupBarrier(); continuing { break if true; } }",
        "loop { if loose > 0u { return; } if true { break; } } workgroupBarrier();",
        "loop { if x > 0u { workgroupBarrier(); } x = loose; if group.x > 0u { break; } }",
        "switch loose { case 0u: { workgroupBarrier(); } default: {} }",
        "switch loose { case 0u: { return; } default: {} } workgroupBarrier();",
        "for (var i = 0u; i < loose; i++) { workgroupBarrier(); }",
        "while loose > x { workgroupBarrier(); }",
        "let b = loose > 0u && workgroupUniformLoad(&shared_cell[0]) > 0u;",
        "a[loose] = 1u; if a[0] > 0u { workgroupBarrier(); }",
        "a[0] = loose; a[0] = 1u; if a[1] > 0u { workgroupBarrier(); }",
        "let p = &a; (*p)[0] = loose; if a[1] > 0u { workgroupBarrier(); }",
        "x = loose; let p = &a[x]; x = 0u; if *p > 0u { workgroupBarrier(); }",
        "x += loose; if x > 0u { workgroupBarrier(); }",
    ],
)
def test_refused(statements: str) -> None:
    assert not is_uniform(f"var x = 0u; var y = 0u; var a: array<u32, 4>; {statements}")


SET = "fn put(p: ptr<function, u32>, value: u32) { *p = value; }"
GET = "fn peek(p: ptr<function, u32>) -> u32 { return *p; }"
ASK = "fn ask(p: ptr<function, u32>) { if *p > 0u { workgroupBarrier(); } *p = 1u; }"


@pytest.mark.parametrize(
    ("functions", "statements", "expected"),
    [
        (SET, "x = loose; put(&x, 1u); if x > 0u { workgroupBarrier(); }", True),
        (SET, "put(&x, loose); if x > 0u { workgroupBarrier(); }", False),
        (SET, "put(&a[1], 1u); if a[0] > 0u { workgroupBarrier(); }", True),
        (SET, "a[0] = loose; put(&a[1], 1u); if a[0] > 0u { workgroupBarrier(); }", False),
        (SET, "if loose > 0u { put(&x, 1u); } if x > 0u { workgroupBarrier(); }", False),
        (SET, "loop { if x > 0u { workgroupBarrier(); } put(&x, loose); break if_; }", False),
        (GET, "if peek(&x) > 0u { workgroupBarrier(); }", True),
        (GET, "x = loose; if peek(&x) > 0u { workgroupBarrier(); }", False),
        (GET, "if peek(&a[loose]) > 0u { workgroupBarrier(); }", False),
        (ASK, "ask(&x);", True),
        (ASK, "x = loose; ask(&x);", False),
        ("fn f(p: ptr<workgroup, u32>) { _ = workgroupUniformLoad(p); }", "f(&shared_cell[loose]);", False),
        ("fn f() { workgroupBarrier(); }", "if loose > 0u { f(); }", False),
        ("fn f(v: u32) -> u32 { return v; }", "if f(1u) > 0u { _ = f(loose); workgroupBarrier(); }", True),
    ],
)
def test_functions(functions: str, statements: str, expected: bool) -> None:
    statements = statements.replace("break if_;", "if group.x > 0u { break; }")
    assert is_uniform(f"var x = 0u; var a: array<u32, 4>; {statements}", functions) is expected


@pytest.mark.parametrize(
    ("statement", "codes"),
    [
        ("if subgroup > 0u { _ = subgroupAny(true); }", []),
        ("if subgroupAdd(1u) > 0u { _ = subgroupAny(true); }", []),
        ("if subgroupElect() { _ = subgroupAny(true); }", ["subgroup-uniformity"]),
        ("if subgroup > 0u { workgroupBarrier(); }", ["barrier-uniformity"]),
        ("if subgroupAdd(1u) > 0u { workgroupBarrier(); }", ["barrier-uniformity"]),
        ("_ = subgroupShuffleXor(1u, subgroup);", []),
        ("_ = subgroupShuffleXor(1u, loose);", ["subgroup-uniformity"]),
    ],
)
def test_subgroup_scope(statement: str, codes: list[str]) -> None:
    main = f"@compute @workgroup_size(16) fn main(@builtin(subgroup_id) subgroup: u32) {{ {statement} }}"
    found = check(f"enable subgroups;{HEADER}{main}")
    assert [diagnostic.code for diagnostic in found] == codes


@pytest.mark.parametrize(
    ("directive", "attribute", "statement", "severity"),
    [
        ("", "", "", Severity.ERROR),
        ("diagnostic(off, derivative_uniformity);", "", "", None),
        ("diagnostic(off, subgroup_uniformity);", "", "", Severity.ERROR),
        (
            "diagnostic(off, derivative_uniformity);",
            "@diagnostic(warning, derivative_uniformity)",
            "",
            Severity.WARNING,
        ),
        ("", "@diagnostic(off, derivative_uniformity)", "@diagnostic(info, derivative_uniformity)", Severity.INFO),
    ],
)
def test_filters(directive: str, attribute: str, statement: str, severity: Severity | None) -> None:
    """The nearest filter around the call counts, wherever control flow splits."""
    helper = f"{attribute} fn helper() {{ {statement} {{ _ = dpdx(1.0); }} }}"
    found = check(f"{directive}{HEADER}{helper} @fragment fn main() {{ if loose > 0u {{ helper(); }} }}")
    assert [diagnostic.severity for diagnostic in found] == ([] if severity is None else [severity])


def test_builtins_that_ask_are_for_some_stages_only() -> None:
    """`check_module` relies on it to find the functions that it has to look at."""
    asking = [function for name in builtin_names() if (function := builtin(name)) and function.flags.uniformity]
    assert len(asking) > 40
    assert all(len(function.stages) < len(Stage) for function in asking)


def test_a_long_function_is_quick() -> None:
    variables = "".join(f"var v{i} = {i}u;\n" for i in range(300))
    ifs = "".join(f"if v{i % 300} > 1u {{ v{i * 7 % 300} = v{i * 3 % 300}; }}\n" for i in range(2000))
    loops = "".join(f"loop {{ v{i % 300}++; if v{i % 300} > 9u {{ break; }} }}\n" for i in range(1000))
    start = time.perf_counter()
    assert is_uniform(f"{variables}{ifs}{loops} workgroupBarrier();")
    assert not is_uniform(f"{variables}v0 = loose;{ifs}{loops} if v0 > 0u {{ workgroupBarrier(); }}")
    assert time.perf_counter() - start < 20
