"""What a kernel is compiled from, and what the cache on disk knows of its runs.

This is apart from `kernel_cache`, whose imports take longer than running a small kernel on the interpreter.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...base.records import dataclass
from ...ir.handle_facts import NO_FACTS, HandleFacts
from .compiler_files import compiler_files
from .disk_cache import default_cache, digest


@dataclass(frozen=True, slots=True)
class KernelIdentity:
    """What a kernel is compiled from: a text in a language, the entry point, the values of its overrides, and the facts
    about textures and samplers that its code relies on.
    """

    language: str
    text: bytes
    entry: str
    constants: Mapping[str, float]
    facts: HandleFacts = NO_FACTS

    def name_in_cache(self, kind: str, *more: str) -> str | None:
        """The name in the cache of something that depends on this, the compiler and `more`; None without a cache, or
        if the compiler's files changed.
        """
        compiler = compiler_files()
        if compiler is None or default_cache() is None:
            return None
        return self._digest(kind, compiler, *more)

    @property
    def name_of_note(self) -> str:
        """The name in the cache of what is known of its runs, which is of use to other versions of this compiler."""
        return self._digest("runs")

    def _digest(self, *more: str) -> str:
        values = [[name, type(value).__name__, repr(value)] for name, value in sorted(self.constants.items())]
        settings = repr((values, self.facts))
        return digest(*more, settings, self.language, self.text, self.entry)


@dataclass(frozen=True, slots=True)
class Note:
    """What the cache knows of a kernel: how many processes interpreted it, and whether this compiler compiled it."""

    processes: int = 0
    is_compiled: bool = False


_COMPILED = b"compiled by "


def note_of(identity: KernelIdentity) -> Note:
    """What the cache knows of a kernel. The compiler's files are hashed only for one that was compiled."""
    files = default_cache()
    data = None if files is None else files.get(identity.name_of_note)
    if data is None:
        return Note()
    if not data.startswith(_COMPILED):
        return Note(processes=int(data))
    return Note(is_compiled=data == _COMPILED + (compiler_files() or "").encode())


def note_interpreted(identity: KernelIdentity, note: Note) -> None:
    """Note that one more process interprets a kernel."""
    _put(identity, str(note.processes + 1).encode())


def note_compiled(identity: KernelIdentity) -> None:
    """Note that this compiler compiled a kernel, so that it was checked."""
    compiler = compiler_files()
    if compiler is not None:
        _put(identity, _COMPILED + compiler.encode())


def _put(identity: KernelIdentity, data: bytes) -> None:
    files = default_cache()
    if files is not None:
        files.put(identity.name_of_note, data)
