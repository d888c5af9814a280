"""Files of functions of Hercules IR."""

from __future__ import annotations

import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from ..arguments import name_of, path_of
from ..base.errors import InputError
from ..ir.diagnostics import Diagnostic, Severity, ShaderError
from ..ir.hercules import nodes as h
from ..ir.hercules.rules.context import Mistake
from ..ir.hercules.text import parse
from ..ir.hercules.verify import verify
from ..ir.hints import unknown_name
from ..ir.source import Source, Span
from ..ir.tokens import TextError
from .function import HerculesFunction


class HerculesFile:
    """A valid module of Hercules IR. Index it by the name of a function."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.module: h.Module = verified(source)
        self._functions = {it.name: HerculesFunction(it) for it in self.module.functions}

    def __repr__(self) -> str:
        return f"<HerculesFile {self.source.name}: {', '.join(self.functions) or 'no function'}>"

    @property
    def functions(self) -> dict[str, HerculesFunction]:
        """All functions by name, in the order of the source."""
        return dict(self._functions)

    def __getitem__(self, name: str) -> HerculesFunction:
        """The function of that name. Raises InputError, which is no KeyError."""
        return self.function(name_of(name, "a function", next(iter(self._functions), "main")))

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __bool__(self) -> bool:
        return True

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._functions)

    def function(self, name: str | None = None) -> HerculesFunction:
        """The function of that name; without one, the last, which may call all others. Raises InputError."""
        if not self._functions:
            raise InputError(f"{self.source.name} has no function")
        if name is None:
            return next(reversed(self._functions.values()))
        if name not in self._functions:
            raise InputError(unknown_name(f"no function is named {name!r}", name, self._functions))
        return self._functions[name]


def load_hercules(file: str | PathLike[str]) -> HerculesFile:
    """Functions from a file, or from text (a str with a line break or `{` is text).

    Raises ShaderError, which lists everything that is wrong, InputError for what is neither text nor a path, and
    OSError for a file that cannot be read.
    """
    if isinstance(file, str) and any(char in file for char in "\n{"):
        return HerculesFile(Source.from_text(file))
    path: Path = path_of(file)
    try:
        return HerculesFile(Source.from_file(path))
    except UnicodeEncodeError as error:  # a path that the system cannot have
        raise InputError(f"{str(path)!r} is not the path of a file: {error}") from error


def verified(source: Source) -> h.Module:
    """The module of a source, verified. Raises ShaderError."""
    try:
        text = source.data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = Span(error.start, error.end)
        raise ShaderError([_diagnostic("invalid-utf-8", "the text is not UTF-8", place)], source) from None
    try:
        module = parse(text)
    except TextError as error:
        raise ShaderError([_diagnostic("syntax", error.message, error.span)], source) from None
    mistakes = verify(module)
    if mistakes:
        raise ShaderError([_mistake(it, source) for it in mistakes], source)
    return module


def _mistake(mistake: Mistake, source: Source) -> Diagnostic:
    function = mistake.function.name
    if mistake.node is None:
        found = re.search(rf"\bfn\s+({re.escape(function)})\b".encode(), source.data)
        span = None if found is None else Span(*found.span(1))
        return _diagnostic(mistake.rule, f"{function}: {mistake.message}", span)
    name = f"{mistake.node.label}: " if mistake.node.label else ""
    return _diagnostic(mistake.rule, f"{name}{mistake.message}", mistake.node.span)


def _diagnostic(code: str, message: str, span: Span | None) -> Diagnostic:
    return Diagnostic(Severity.ERROR, code, message, span)
