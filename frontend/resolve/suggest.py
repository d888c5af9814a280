"""Hints in diagnostics, and counts in words."""

from __future__ import annotations

from collections.abc import Collection

from ...base.records import dataclass, field
from ...ir.diagnostics import Note
from ...ir.hints import Work, closest


@dataclass(slots=True)
class Hints:
    """Gives hints until `MOST_WORK` is spent, which bounds the cost of a file full of errors."""

    work: Work = field(default_factory=Work)

    @property
    def are_left(self) -> bool:
        """Whether the budget allows more hints."""
        return self.work.left > 0

    def did_you_mean(self, name: str, candidates: Collection[str]) -> tuple[Note, ...]:
        """A hint to put into a diagnostic's notes, or nothing."""
        if not self.are_left:
            return ()
        best = closest(name, candidates, self.work)
        return () if best is None else (Note(f"did you mean '{best}'?"),)


def are(count: int) -> str:
    """`1 is` or `2 are`."""
    return "1 is" if count == 1 else f"{count} are"


def counted(least: int, most: int, what: str) -> str:
    """`1 argument`, `1 or 2 arguments`, `1 to 3 arguments`."""
    if least == most:
        return f"{least} {what}" + ("" if least == 1 else "s")
    return f"{least} {'or' if most == least + 1 else 'to'} {most} {what}s"
