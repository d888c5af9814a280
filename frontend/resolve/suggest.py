"""Near-miss names for hints, and counts in words."""

from __future__ import annotations

from collections.abc import Iterable

from ...ir.diagnostics import Note


def edit_distance(left: str, right: str, limit: int) -> int:
    """Insertions, deletions, substitutions and swaps of neighbours between two words; at most `limit + 1`."""
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    previous = list(range(len(right) + 1))
    for row, char in enumerate(left, 1):
        current = [row]
        for column, other in enumerate(right, 1):
            cost = min(previous[column] + 1, current[-1] + 1, previous[column - 1] + (char != other))
            if row > 1 and column > 1 and char == right[column - 2] and left[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        if min(current) > limit:
            return limit + 1
        before, previous = previous, current
    return previous[-1]


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like `name`, if one is like it at all. Very long names are not compared."""
    if len(name) > 64:
        return None
    limit = max(len(name) > 1, len(name) // 3)
    names = set(candidates)
    scored = ((edit_distance(name.lower(), candidate.lower(), limit), candidate) for candidate in names)
    distance, best = min(scored, default=(limit + 1, None))
    return best if distance <= limit else _longer(name, names)


def _longer(name: str, candidates: Iterable[str]) -> str | None:
    """The shortest candidate that `name` abbreviates: `warn` for `warning`, `global_id` for `global_invocation_id`."""
    if len(name) < 4:
        return None
    found = [other for other in candidates if len(other) <= 3 * len(name) and _abbreviates(name, other)]
    return min(found, key=lambda other: (len(other), other), default=None)


def _abbreviates(name: str, other: str) -> bool:
    """Whether the parts of a name between underscores begin the parts of another, in order."""
    parts = iter(other.split("_"))
    return all(any(part.startswith(short) for part in parts) for short in name.split("_"))


def did_you_mean(name: str, candidates: Iterable[str]) -> tuple[Note, ...]:
    """A hint to put into a diagnostic's notes, or nothing."""
    best = closest(name, candidates)
    return () if best is None else (Note(f"did you mean '{best}'?"),)


def are(count: int) -> str:
    """`1 is` or `2 are`."""
    return "1 is" if count == 1 else f"{count} are"


def counted(least: int, most: int, what: str) -> str:
    """`1 argument`, `1 or 2 arguments`, `1 to 3 arguments`."""
    if least == most:
        return f"{least} {what}" + ("" if least == 1 else "s")
    return f"{least} {'or' if most == least + 1 else 'to'} {most} {what}s"
