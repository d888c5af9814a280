"""What a kernel is compiled from, and whether the cache on disk knows that it was run.

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
        values = [[name, type(value).__name__, repr(value)] for name, value in sorted(self.constants.items())]
        settings = repr((values, self.facts))
        return digest(kind, compiler, *more, settings, self.language, self.text, self.entry)


def is_known(identity: KernelIdentity) -> bool:
    """Whether a kernel was noted, by this process or another: it was checked, and has run."""
    name, files = identity.name_in_cache("known"), default_cache()
    return files is not None and name is not None and files.has(name)


def note_known(identity: KernelIdentity) -> None:
    """Note a kernel in the cache on disk."""
    name, files = identity.name_in_cache("known"), default_cache()
    if files is not None and name is not None:
        files.put(name, b"")
