"""Where a compilation starts: a checked WGSL program, or a text of core IR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from .base.cached import cached_property
from .base.errors import InputError
from .base.interpreter_state import paused_collection
from .base.records import dataclass
from .ir.diagnostics import Diagnostic, Severity, ShaderError, render_all
from .ir.entry_points import entry_point
from .ir.source import Source
from .ir.types import Stage

if TYPE_CHECKING:
    from .ir.core.nodes import Module
    from .ir.wgsl.program import Program

_FAULTS_OF_CONSTANTS = frozenset({"unknown-override", "missing-override", "invalid-override-value"})


def core_of(text: str) -> Module:
    """Core IR of WGSL that is valid."""
    from .frontend import load_program
    from .transforms.from_wgsl.build import build

    return build(load_program(Source.from_text(text)))


class Origin(Protocol):
    """Where a compilation starts."""

    @property
    def source(self) -> Source:
        """The text that diagnostics point into."""
        ...

    def core(self) -> Module:
        """A fresh module, which the caller may change. Raises ShaderError."""
        ...

    def check(self, entry: str, constants: Mapping[str, float]) -> None:
        """Raise ShaderError for an entry point that is over a limit, InputError for constants that do not fit."""
        ...

    def workgroup_size(self, entry: str) -> Sequence[int] | None:
        """The sizes that are written, None if only the specialised module has them all."""
        ...


class ProgramOrigin:
    """A checked WGSL program."""

    def __init__(self, program: Program) -> None:
        self._program = program

    @property
    def program(self) -> Program:
        """The program."""
        return self._program

    @property
    def source(self) -> Source:
        """The WGSL text."""
        return self.program.source

    def core(self) -> Module:
        """See `Origin`."""
        from .transforms.from_wgsl.build import build

        return build(self.program)

    def check(self, entry: str, constants: Mapping[str, float]) -> None:
        """See `Origin`."""
        from .frontend import check_pipeline

        found = [diagnostic for diagnostic in check_pipeline(self.program, entry, constants) if diagnostic.is_error]
        given = [diagnostic for diagnostic in found if diagnostic.code in _FAULTS_OF_CONSTANTS]
        if given:
            raise InputError("\n\n".join(_without_head(render_all([diagnostic], self.source)) for diagnostic in given))
        if found:
            raise ShaderError(found, self.source)

    def workgroup_size(self, entry: str) -> Sequence[int] | None:
        """See `Origin`."""
        function = entry_point(self.program.entry_points, entry)
        constants = [self.program.facts.expressions[it].constant for it in function.workgroup_size]
        sizes = [it.value for it in constants if it is not None and isinstance(it.value, int)]
        return sizes if len(sizes) == len(constants) else None


class CheckedText:
    """The text of a module that is valid, which is parsed when the program is first asked for."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.seconds: dict[str, float] = {}
        """What parsing and resolving took."""

    @property
    def is_parsed(self) -> bool:
        """Whether the program was asked for."""
        return "program" in self.__dict__

    @cached_property
    def program(self) -> Program:
        """The checked program. Raises ShaderError if the text is not valid after all."""
        with paused_collection():  # classes and functions are not garbage
            from .frontend import load_program

        return load_program(self.source, seconds=self.seconds)


class TextOrigin(ProgramOrigin):
    """A text that is known to be valid. `sizes` has the workgroup size of each entry point, as the API shows it."""

    def __init__(self, text: CheckedText, sizes: Mapping[str, Sequence[int | str]]) -> None:
        self._text = text
        self._sizes = sizes

    @property
    def program(self) -> Program:
        """See `CheckedText.program`."""
        return self._text.program

    @property
    def source(self) -> Source:
        """The WGSL text."""
        return self._text.source

    def workgroup_size(self, entry: str) -> Sequence[int] | None:
        """See `Origin`."""
        sizes = [it for it in self._sizes[entry] if isinstance(it, int)]
        return sizes if len(sizes) == len(self._sizes[entry]) else None


def _without_head(rendered: str) -> str:
    return rendered.partition(": ")[2]


@dataclass(frozen=True, slots=True)
class CoreOrigin:
    """A text of core IR."""

    source: Source

    def entry_points(self) -> list[str]:
        """The names of the compute entry points. Raises ShaderError for a text that is no valid module."""
        return [function.name for function in self.core().functions if function.stage is Stage.COMPUTE]

    def core(self) -> Module:
        """See `Origin`."""
        from .ir.core.text import parse
        from .ir.core.verifier import VerifyError, verify

        module = parse(self.source)
        try:
            verify(module)
        except VerifyError as error:
            raise ShaderError([Diagnostic(Severity.ERROR, "core-rule", str(error))], self.source) from None
        return module

    def check(self, entry: str, constants: Mapping[str, float]) -> None:
        """Do nothing: limits are checked on WGSL, and constants where they are substituted."""

    def workgroup_size(self, entry: str) -> Sequence[int] | None:
        """None: only the specialised module has the sizes."""
