"""The findings of the sanitizer as diagnostics; each pair of places in the source is reported once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from ...constants import RawValue
from ...diagnostics import Diagnostic, Note, Severity
from ...types import AddressSpace
from .paths import path_to, scalar_of, texel_text, value_text
from .shadow import Touch, Variable

LIMIT = 100
"""Maximum number of findings that are kept; further ones are only counted."""


@dataclass(slots=True)
class _Seen:
    diagnostic: Diagnostic
    times: int = 1


class Findings:
    """Collects findings; those with the same key count as one."""

    def __init__(self) -> None:
        self._seen: dict[Hashable, _Seen] = {}
        self._dropped = 0

    def is_new(self, key: Hashable) -> bool:
        """Whether the finding is to be described and added; otherwise it is counted here."""
        seen = self._seen.get(key)
        if seen is not None:
            seen.times += 1
        elif len(self._seen) >= LIMIT:
            self._dropped += 1
        else:
            return True
        return False

    def add(self, key: Hashable, diagnostic: Diagnostic) -> None:
        """Keep a finding."""
        self._seen[key] = _Seen(diagnostic)

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All findings, in the order in which they were added."""
        found = [_counted(seen) for seen in self._seen.values()]
        if self._dropped:
            message = f"{self._dropped} more findings at other places are left out"
            found.append(Diagnostic(Severity.INFO, "more-findings", message))
        return tuple(found)


def _counted(seen: _Seen) -> Diagnostic:
    if seen.times == 1:
        return seen.diagnostic
    return replace(seen.diagnostic, notes=(*seen.diagnostic.notes, Note(f"{seen.times - 1} more like this")))


def race_severity(offset: int, touch: Touch, other: Touch) -> Severity:
    """A warning for races that are races only by WGSL's rules, as between writes of equal values or of different
    components of a vector; an error for all others.
    """
    if not (_touches(offset, touch) and _touches(offset, other)):
        return Severity.WARNING
    return Severity.WARNING if _write_the_same(offset, touch, other) else Severity.ERROR


def data_race(variable: Variable, offset: int, touch: Touch, other: Touch) -> Diagnostic:
    """Two accesses to the scalar at `offset` that nothing orders; `touch` came second."""
    verb = "write" if other.site.is_write else "read"
    message = f"{_deed(variable, offset, touch)}, which races with another invocation's {verb}"
    notes = [Note(_deed(variable, offset, other), other.site.node.span)]
    if not (_touches(offset, touch) and _touches(offset, other)):
        notes.append(Note("a write of one component may write the whole vector"))
    elif _write_the_same(offset, touch, other):
        notes.append(Note("both write the same value, which WGSL calls a data race too"))
    notes.append(Note(_advice(touch, other)))
    severity = race_severity(offset, touch, other)
    return Diagnostic(severity, "data-race", message, touch.site.node.span, tuple(notes))


def _deed(variable: Variable, offset: int, touch: Touch) -> str:
    """`invocation (1, 0, 0) of workgroup (0, 0, 0) writes 5 to 'tile[3]'`"""
    place = offset if _touches(offset, touch) else touch.offset
    verb, preposition = ("writes", "to") if touch.site.is_write else ("reads", "from")
    if touch.texel:
        place_text = f"texel {touch.texel} of '{variable.name}'"
        return f"{touch.invocation} {verb} {texel_text(touch.value)} {preposition} {place_text}"
    value = value_text(_scalar(place, touch))
    return f"{touch.invocation} {verb} {value} {preposition} '{path_to(variable.name, variable.type, place)}'"


def _touches(offset: int, touch: Touch) -> bool:
    """Whether an access is to the scalar itself, not to its neighbour in a vector."""
    return offset - touch.offset in touch.site.offsets


def _scalar(offset: int, touch: Touch) -> RawValue:
    """The value that an access reads or writes at an offset."""
    if touch.texel:
        return touch.value
    return scalar_of(touch.value, touch.site.offsets.index(offset - touch.offset))


def _write_the_same(offset: int, touch: Touch, other: Touch) -> bool:
    return touch.site.is_write and other.site.is_write and _scalar(offset, touch) == _scalar(offset, other)


def _advice(touch: Touch, other: Touch) -> str:
    if touch.group != other.group:
        return "nothing orders the workgroups of a dispatch: use atomics, or another dispatch"
    if touch.site.space is AddressSpace.WORKGROUP:
        return "in between, a workgroupBarrier would order them"
    if touch.site.space is AddressSpace.HANDLE:
        return "in between, a textureBarrier would order them"
    return "in between, a storageBarrier would order them; a workgroupBarrier orders workgroup memory alone"


def unready_read(variable: Variable, offset: int, touch: Touch, writer: Touch | None) -> Diagnostic:
    """A read of workgroup memory before anything was written there; `writer` is the first write, which came later."""
    path = path_to(variable.name, variable.type, offset)
    message = f"{touch.invocation} reads '{path}', which nobody has written"
    note = (
        Note("it is zero for the whole workgroup: no invocation ever writes it")
        if writer is None
        else Note(f"{_deed(variable, offset, writer)} later", writer.site.node.span)
    )
    return Diagnostic(Severity.WARNING, "uninitialized-workgroup-read", message, touch.site.node.span, (note,))
