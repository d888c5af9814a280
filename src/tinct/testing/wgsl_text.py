"""From the text of a file with tests to a shader: see `wgsl_tests`.

What only tests have is taken out (markers, imports), the types of the values that are compared are found, and each
`expect…` becomes what it stands for (`expectations`). Each test has an entry point with one invocation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from .. import frontend
from ..base.cached import cached_property
from ..ir.diagnostics import Diagnostic, Severity, ShaderError
from ..ir.schema.traverse import walk
from ..ir.source import Source, Span
from ..ir.types import BOOL, F16, F32, I32, VOID, Scalar, Type, Vector
from ..ir.wgsl import ast
from ..ir.wgsl.program import Program
from ..shader import Shader
from ..wgsl_functions.signature import number_type_of
from .edits import Edit, Edited, edited
from .expectations import (
    NAMES,
    Expectation,
    arguments_of,
    components,
    count_of_numbers,
    family_of,
    is_fitting,
    misfit,
    ulps_text,
    word,
)

_MARKER: Final = re.compile(rb"@\s*test\b(?!\s*_)")
_COMMENT: Final = re.compile(r"^\s*//\s*@test\s*$")
_IMPORT: Final = re.compile(rb"^[ \t]*import\s+([^;]*);", re.MULTILINE)
_RESOURCE: Final = re.compile(rb"@\s*buffer\b")
_COMMENTS: Final = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_FOREIGN: Final = re.compile(rb"@\s*(test_texture|sampler|snapshot|extent)\b")


@dataclass(frozen=True, slots=True)
class Names:
    """Names that no declaration of the text has: all begin with a prefix that is nowhere in it."""

    prefix: str

    @property
    def report(self) -> str:
        """The variable that failures are written to."""
        return f"{self.prefix}_report"

    def entry(self, test: str) -> str:
        """The entry point of a test."""
        return f"{self.prefix}_{test}"

    def ulps(self, scalar: Scalar) -> str:
        """The function that counts how many floats two numbers are apart."""
        return f"{self.prefix}_ulps_{scalar}"


@dataclass(slots=True)
class Site:
    """A call of an `expect…` function in the text."""

    source: Source
    call: ast.Call
    span: Span
    """That of the statement, with its semicolon."""
    expectation: Expectation | None = None

    @property
    def words(self) -> int:
        """The words of a report of it, without its number."""
        if self.expectation is None or self.expectation.family == "expect":
            return 0
        return 2 * count_of_numbers(self.expectation.type)


@dataclass
class TestText:
    """The text of a file on its way to a shader. Raises ShaderError."""

    __test__ = False  # no test of pytest's

    source: Source
    folder: Path | None
    sites: list[Site] = field(default_factory=list[Site])

    def __post_init__(self) -> None:
        self.lines: dict[str, int] = {}
        self.names = Names(_free_prefix(self.plain.source.data))
        self.shader = self._shader()

    @cached_property
    def plain(self) -> Edited:
        """The text without what only tests have, and with what it imports."""
        data = _without_comments(self.source)
        foreign = _FOREIGN.search(data)
        if foreign is not None:
            raise _error(f"not supported: {foreign[0].decode()} of wgsl-test", Span(*foreign.span()), self.source)
        imports = list(_IMPORT.finditer(data))
        edits = [Edit(Span(*it.span()), " " * (it.end() - it.start())) for it in imports]
        edits += [Edit(Span(*it.span()), " " * (it.end() - it.start())) for it in _MARKER.finditer(data)]
        places = [re.search(rb"@\s*binding\s*\(\s*(\d+)", it[0]) for it in re.finditer(rb"@\s*binding[^)]*", data)]
        first = max((int(it[1]) for it in places if it is not None), default=-1) + 1
        for number, it in enumerate(_RESOURCE.finditer(data), first):
            edits.append(Edit(Span(*it.span()), f"@group(0) @binding({number})"))
        return edited(self.source, edits, [part for it in self._imported(imports) for part in ("\n", it)])

    def _imported(self, imports: Sequence[re.Match[bytes]]) -> Iterator[Source]:
        """The texts of the files that the imports name, each once."""
        seen: set[Path] = set()
        for it in imports:
            words = it[1].decode("utf-8", "replace").split()
            path = "".join(words)
            if path.startswith("wgsl_test::"):
                continue
            file = None if "as" in words else self._file(path)
            if file is None:
                raise _error(
                    f"not supported: import {path}: only wgsl_test, and items of files beside the tests, "
                    "as in package::file::item",
                    Span(*it.span()),
                    self.source,
                )
            if file not in seen:
                seen.add(file)
                yield Source.from_file(file)

    def _file(self, path: str) -> Path | None:
        """The file of `package::a::b::item`: a/b.wgsl or a/b.wesl in the folder of the tests or one around it."""
        parts = path.split("::")
        if self.folder is None or len(parts) < 3 or parts[0] not in ("package", "super"):
            return None
        if "*" in path or any("{" in it for it in parts[:-1]):
            return None
        relative = Path(*parts[1:-1])
        for folder in (self.folder, *self.folder.parents[:3]):
            for around in (folder, folder / "shaders", folder / "src"):
                for suffix in (".wgsl", ".wesl"):
                    if (found := (around / relative).with_suffix(suffix)).is_file():
                        return found.resolve()
        return None

    # The tests

    def _shader(self) -> Shader:
        unit = frontend.parse(self.plain.source)
        if unit.has_errors:
            raise self.plain.error_before(ShaderError(unit.diagnostics, self.plain.source))
        tests = self._tests(unit.unit)
        self.sites = list(self._found_sites(unit.unit))
        self._find_types()
        edits = [edit for number, it in enumerate(self.sites) for edit in self._block(number, it)]
        made = edited(self.plain.source, edits, [self._added(tests)])
        try:
            shader = Shader(made.source)
        except ShaderError as error:
            raise self.plain.error_before(made.error_before(error)) from None
        for site in self.sites:
            site.source, site.span = self.source, self._before(site.span)
        return shader

    def _before(self, span: Span) -> Span:
        found = self.plain.span_before(span)
        assert found is not None
        return found

    def _tests(self, unit: ast.TranslationUnit) -> list[ast.Function]:
        """The functions that are tests. Raises ShaderError for what cannot be one."""
        data = _without_comments(self.source)
        marks = [it.start() for it in _MARKER.finditer(data)]
        functions = [it for it in unit.declarations if isinstance(it, ast.Function)]
        found: list[ast.Function] = []
        for function in functions:
            span = self._before(function.name_span)
            start = self._before(function.span).start
            own = [it for it in marks if it < span.start and not re.search(rb"[};]", data[it : span.start])]
            is_marked = bool(own) or self._has_comment(min([start, *own]))
            marks = [it for it in marks if it not in own]
            if not is_marked:
                continue
            if any(it.name in ("compute", "vertex", "fragment") for it in function.attributes):
                raise _error("a test is a function that is no entry point", span, self.source)
            if function.parameters:
                raise _error("a test takes no parameters", span, self.source)
            found.append(function)
            self.lines[function.name] = self.source.position(span.start).line
        if marks:
            raise _error("only functions are tests", Span(marks[0], marks[0] + 5), self.source)
        return found

    def _has_comment(self, start: int) -> bool:
        """Whether one of the comments directly above a declaration marks a test."""
        line = self.source.position(start).line - 1
        while line > 0 and self.source.line_text(line).lstrip().startswith("//"):
            if _COMMENT.match(self.source.line_text(line)):
                return True
            line -= 1
        return False

    def _found_sites(self, unit: ast.TranslationUnit) -> Iterator[Site]:
        """The calls of `expect…`, unless the text declares such a function itself."""
        own = {it.name for it in unit.declarations if isinstance(it, ast.Function)}
        statements = {id(it.call): it for it in walk(unit) if isinstance(it, ast.CallStatement)}
        in_loops = {id(it.update) for it in walk(unit) if isinstance(it, ast.For)}
        for call in (it for it in walk(unit) if isinstance(it, ast.Call)):
            name = call.callee.name
            if name not in NAMES or name in own:
                continue
            statement = statements.get(id(call))
            if statement is None or id(statement) in in_loops:
                raise self._error(f"{name} is a statement of its own", call.span)
            if len(call.arguments) != arguments_of(name):
                count = arguments_of(name)
                raise self._error(f"{name} takes {count} argument{'s' if count > 1 else ''}", call.span)
            yield Site(self.plain.source, call, statement.span)

    def _error(self, message: str, span: Span) -> ShaderError:
        return _error(message, self._before(span), self.source)

    # The types of what is compared

    def _find_types(self) -> None:
        prefix = self.names.prefix
        edits = [
            edit
            for number, site in enumerate(self.sites)
            for edit in _around_arguments(
                site, [f"let {prefix}_{number}_{it} = " for it in range(len(site.call.arguments))]
            )
        ]
        made = edited(self.plain.source, edits)
        try:
            program = frontend.load_program(made.source)
        except ShaderError as error:
            raise self.plain.error_before(made.error_before(error)) from None
        for test in (it for it in program.functions if it.name in self.lines):
            if test.return_type not in (VOID, BOOL):
                raise self._error(f"a test returns nothing or a bool, not {test.return_type}", test.node.name_span)
        declared = {it.name: it for it in program.facts.declared.values()}
        for number, site in enumerate(self.sites):
            types = [declared[f"{prefix}_{number}_{it}"].type for it in range(min(len(site.call.arguments), 2))]
            abstract = [
                _is_abstract(program, declared[f"{prefix}_{number}_{it}"].initializer) for it in range(len(types))
            ]
            site.expectation = self._expectation(site, types, abstract)

    def _expectation(self, site: Site, types: Sequence[Type], abstract: Sequence[bool]) -> Expectation:
        name = site.call.callee.name
        family = family_of(name)
        left, right = types[0], types[-1]
        if family == "expect":
            if left is not BOOL:
                raise self._error(f"expect takes a bool, not {left}", site.span)
            return Expectation(name, left)
        if left is not right and abstract[1]:
            right = left
        elif left is not right and abstract[0]:
            left = right
        if family != "expectEq":
            left, right = (
                _as_float(it) if is_free else it for it, is_free in ((left, abstract[0]), (right, abstract[1]))
            )
        if left is not right:
            raise self._error(f"{name} compares values of one type, not {left} and {right}", site.span)
        reason = misfit(family, left) or _suffix_misfit(name, left)
        if reason is not None:
            raise self._error(reason, site.span)
        return Expectation(name, left)

    # What is written

    def _block(self, number: int, site: Site) -> Sequence[Edit]:
        """The edits that make a block of the statement for an expectation. Its values are computed once."""
        expectation, prefix = site.expectation, self.names.prefix
        assert expectation is not None
        family, type = expectation.family, expectation.type
        if family == "expect":
            last = f"if !{prefix}_left {{ {prefix}_fail({number}u, 0u); }}"
            return _around_arguments(site, [f"let {prefix}_left: bool = "], last)
        scalar = number_type_of(type)
        assert scalar is not None
        left, right = f"{prefix}_left", f"{prefix}_right"
        bounds = [f"{prefix}_bound_{it}" for it in range(len(site.call.arguments) - 2)]
        kind = "u32" if family == "expectUlp" else "f32"
        lets = [f"let {left}: {type} = ", f"let {right}: {type} = ", *(f"let {it}: {kind} = " for it in bounds)]
        pairs = list(zip(components(type, left), components(type, right), strict=True))
        ulps = self.names.ulps(scalar)
        holds = " && ".join(is_fitting(family, scalar, a, b, bounds=bounds, ulps=ulps) for a, b in pairs)
        words = [word(scalar, it) for it in (*components(type, left), *components(type, right))]
        stores = " ".join(f"{prefix}_report.words[{prefix}_at + {at}u] = {it};" for at, it in enumerate(words))
        report = f"let {prefix}_at = {prefix}_fail({number}u, {len(words)}u); if {prefix}_at > 0u {{ {stores} }}"
        return _around_arguments(site, lets, f"if !({holds}) {{ {report} }}")

    def _added(self, tests: Sequence[ast.Function]) -> str:
        prefix, lines = self.names.prefix, [""]
        used = {number_type_of(it.expectation.type) for it in self.sites if it.expectation is not None}
        lines += [ulps_text(self.names.ulps(it), it) for it in (F32, F16) if it in used]
        lines += [
            f"struct {prefix}_Report {{ used: u32, lost: u32, words: array<u32> }}",
            f"@group(3) @binding(999) var<storage, read_write> {prefix}_report: {prefix}_Report;",
            f"fn {prefix}_fail(site: u32, size: u32) -> u32 {{",
            f"  let at = {prefix}_report.used;",
            f"  if at + size + 1u > arrayLength(&{prefix}_report.words) {{ {prefix}_report.lost++; return 0u; }}",
            f"  {prefix}_report.used = at + size + 1u; {prefix}_report.words[at] = site; return at + 1u;",
            "}",
        ]
        for test in tests:
            call = f"{test.name}();"
            if test.return_type is not None:
                site = Site(
                    self.plain.source,
                    ast.Call(ast.Identifier(test.name, (), test.name_span), (), test.name_span),
                    test.name_span,
                )
                self.sites.append(site)
                call = f"if !{test.name}() {{ {prefix}_fail({len(self.sites) - 1}u, 0u); }}"
            lines.append(f"@compute @workgroup_size(1) fn {self.names.entry(test.name)}() {{ {call} }}")
        return "\n".join(lines)


def has_tests(data: bytes) -> bool:
    """Whether a text may have tests: a quick look, without parsing."""
    return _MARKER.search(data) is not None


def _without_comments(source: Source) -> bytes:
    """The text with blanks for comments, so that places stay what they are."""
    return _COMMENTS.sub(lambda it: re.sub(rb"[^\n]", b" ", it[0]), source.data)


def _around_arguments(site: Site, before: Sequence[str], last: str = "") -> list[Edit]:
    """The edits that make a block of a call statement: each argument stays where it is, after its text of `before`, and
    ends a statement.
    """
    spans = [it.span for it in site.call.arguments]
    starts = [site.span.start, *(it.end for it in spans)]
    texts = [f"{{ {before[0]}", *(f"; {it}" for it in before[1:]), f"; {last} }}"]
    ends = [*(it.start for it in spans), site.span.end]
    return [Edit(Span(start, end), text) for start, end, text in zip(starts, ends, texts, strict=True)]


def _free_prefix(data: bytes) -> str:
    prefix = "test"
    while prefix.encode() in data:
        prefix += "_t"
    return prefix


def _is_abstract(program: Program, expression: ast.Expression | None) -> bool:
    facts = None if expression is None else program.facts.expressions.get(expression)
    scalar = None if facts is None else number_type_of(facts.type)
    return scalar is not None and scalar.is_abstract


def _as_float(type: Type) -> Type:
    """The type of a value of abstract integers among floats."""
    if type is I32:
        return F32
    return type


def _suffix_misfit(name: str, type: Type) -> str | None:
    """Why a value is not of the type in the name."""
    suffix = name.removeprefix(family_of(name)).removeprefix("Vec")
    if suffix and not (isinstance(type, Vector) and type.width == int(suffix)):
        return f"{name} compares vectors of {suffix}, not {type}"
    return None


def _error(message: str, span: Span, source: Source) -> ShaderError:
    code = "unsupported" if message.startswith("not supported") else "wgsl-test"
    return ShaderError([Diagnostic(Severity.ERROR, code, message, span)], source)
