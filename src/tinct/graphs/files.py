"""Graphs in files (`.hpvm`, or JSON): read, verified and linked, with every mistake at its place in the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, assert_never

from ..arguments import mapping_of
from ..base.errors import InputError
from ..base.recent import Recent
from ..ir.dataflow.codec import CODEC
from ..ir.dataflow.nodes import EmbeddedShader, Host, Module, NestShader, ShaderFile
from ..ir.dataflow.nodes import Shader as ShaderDeclaration
from ..ir.dataflow.rules.table import Mistake
from ..ir.dataflow.text import parse
from ..ir.dataflow.verify import verify, verify_heads
from ..ir.diagnostics import Diagnostic, Severity, ShaderError
from ..ir.hints import unknown_name
from ..ir.schema.codec import CodecError
from ..ir.source import Source, Span
from ..ir.tokens import TextError
from ..nests import lowered_nest
from ..shader import Shader, load_source, shader_of
from .host_functions import HostFunction, with_function
from .linking import Links, link_graphs, link_leaves
from .program import GraphProgram


def load_graph(
    graph: str | PathLike[str], *, functions: Mapping[str, Callable[..., Any]] | None = None
) -> GraphProgram:
    """A graph from a `.hpvm` file, from its text, or from the JSON of one (a str with a line break, `;` or `{` is
    text).

    Shaders in files are looked up relative to the folder of the graph's file. `functions` has the Python functions of
    its leaves on the host, by the names of the leaves; the graph runs if it has them all.

    Raises ShaderError, which shows each mistake in its line, InputError for what is neither text nor a path, for
    functions that do not fit, and OSError for a file that cannot be read.
    """
    return read_graph(load_source(graph), {} if functions is None else functions)


def read_graph(source: Source, functions: Mapping[str, Callable[..., Any]] | None = None) -> GraphProgram:
    """The graph of a source. Raises ShaderError, InputError, and OSError for the file of a shader."""
    module = _module(source)
    _raise_if_any(verify_heads(module), source)
    shaders = {it.name: _shader(it, source) for it in module.shaders}
    links = Links(hosts=_hosts(module, functions or {}))
    _link(module, shaders, links, source)
    return GraphProgram(module, shaders, links, source)


_Parts = tuple[Source, "tuple[tuple[str, Source], ...]", "tuple[tuple[str, HostFunction], ...]", bool]

_recent: Recent[_Parts, GraphProgram] = Recent(64)
"""Unpickled graphs. A worker of a cluster gets a graph with each task; what it prepared must outlive the task."""


def unpickled(
    source: Source,
    shaders: tuple[tuple[str, Source], ...],
    functions: tuple[tuple[str, HostFunction], ...],
    has_source: bool,
) -> GraphProgram:
    """The program of a text that was valid when it was pickled: one object for all copies in this process."""

    def make() -> GraphProgram:
        module, links = _module(source), Links(hosts=dict(functions))
        by_name = {name: shader_of(it) for name, it in shaders}
        _link(module, by_name, links, source)
        return GraphProgram(module, by_name, links, source if has_source else None)

    return _recent.get((source, shaders, functions, has_source), make)


def _hosts(module: Module, functions: Mapping[str, Callable[..., Any]]) -> dict[str, HostFunction]:
    """The functions of leaves on the host."""
    leaves = {it.name: it for it in module.functions if isinstance(it, Host)}
    for name in mapping_of(functions, "functions", leaves or ("median",)):
        if name not in leaves:
            raise InputError(unknown_name(f"the graph has no leaf on the host named {name!r}", name, leaves))
    return {name: with_function(leaves[name], it) for name, it in functions.items()}


def _link(module: Module, shaders: Mapping[str, Shader], links: Links, source: Source) -> None:
    """Link the leaves and graphs of a module whose heads are verified. Raises ShaderError."""
    _raise_if_any(link_leaves(module, shaders, links), source)
    _raise_if_any(verify(module), source)
    _raise_if_any(link_graphs(module, links), source)


def _module(source: Source) -> Module:
    try:
        text = source.data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _error("invalid-utf-8", "the text is not UTF-8", Span(error.start, error.end), source) from None
    try:
        return CODEC.from_json(text, Module) if text.lstrip().startswith("{") else parse(text)
    except TextError as error:
        raise _error("syntax", error.message, error.span, source) from None
    except (CodecError, ValueError, RecursionError) as error:
        raise _error("json", f"this is no graph in JSON: {error}", None, source) from None


def _shader(declared: ShaderDeclaration, source: Source) -> Shader:
    match declared.source:
        case EmbeddedShader(text):
            return Shader(Source.from_text(text, f"{source.name}, shader {declared.name}"))
        case NestShader():
            try:
                return lowered_nest(declared.source).shader
            except InputError as error:
                message = f"shader {declared.name!r}: {error}"
                raise _error("shader-nest", message, declared.span, source) from None
        case ShaderFile(path):
            try:
                return Shader(Source.from_file(Path(source.name).parent / path))
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else str(error)
                message = f"shader {declared.name!r}: cannot read {path!r}: {reason}"
                raise _error("shader-file", message, declared.span, source) from None
        case _:
            assert_never(declared.source)


def _raise_if_any(mistakes: Iterable[Mistake], source: Source) -> None:
    diagnostics = [_diagnostic(it) for it in mistakes]
    if diagnostics:
        raise ShaderError(diagnostics, source)


def _diagnostic(mistake: Mistake) -> Diagnostic:
    """The mistake at its place; without one, as in JSON, it names the function."""
    span = mistake.part.span
    where = f"{mistake.function.name}: " if span is None and mistake.function is not None else ""
    return Diagnostic(Severity.ERROR, mistake.rule, where + mistake.message, span)


def _error(code: str, message: str, span: Span | None, source: Source) -> ShaderError:
    return ShaderError([Diagnostic(Severity.ERROR, code, message, span)], source)
