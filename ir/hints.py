"""Suggestions for unknown names: the names that were probably meant, and the messages with them."""

from __future__ import annotations

from collections.abc import Iterable

from ..base.records import dataclass

MOST_WORK = 400_000
"""Maximum number of pairs of letters that are compared for one program or one message, which takes 0.1 to 0.2 seconds
(AMD EPYC, Zen 4). Later errors get no suggestion.
"""
_NAME = 16
"""The fixed cost of comparing two names, in pairs of letters."""


def edit_distance(left: str, right: str, limit: int) -> int:
    """The number of insertions, deletions, substitutions and swaps of neighbours between two words; at most `limit +
    1`.
    """
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    left, right = _without_common_ends(left, right)
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


def _without_common_ends(left: str, right: str) -> tuple[str, str]:
    start = _common(left, right)
    left, right = left[start:], right[start:]
    end = _common(left[::-1], right[::-1])
    return left[: len(left) - end], right[: len(right) - end]


def _common(left: str, right: str) -> int:
    """The length of the common prefix of two words."""
    pairs = zip(left, right, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))


@dataclass(slots=True)
class Work:
    """The remaining budget for comparisons, in pairs of letters."""

    left: int = MOST_WORK

    def take(self, pairs: int) -> bool:
        """Subtract `pairs` from the budget; returns whether the budget was sufficient."""
        self.left -= pairs
        return self.left >= 0


def closest(name: str, candidates: Iterable[str], work: Work | None = None) -> str | None:
    """The candidate most similar to `name`, if one is similar enough. Very long names are not compared, nor candidates
    that come after the budget `work` is spent.
    """
    if len(name) > 64:
        return None
    work = work or Work()
    names = list(dict.fromkeys(candidates))
    work.take(len(names))
    word = name.lower()
    letters = set(word)
    limit = max(len(name) > 1, len(name) // 3)
    best: str | None = None
    for candidate in names:
        if abs(len(candidate) - len(name)) > limit:
            continue
        other = candidate.lower()
        if len(letters.symmetric_difference(other)) > 2 * limit:  # an edit changes at most two letters
            continue
        left, right = _without_common_ends(word, other)
        if not work.take(_NAME + len(left) * len(right)):
            return None
        distance = edit_distance(left, right, limit)
        if distance < limit or (distance == limit and (best is None or candidate < best)):
            best, limit = candidate, distance
    return best or _longer(name, names)


def _longer(name: str, candidates: Iterable[str]) -> str | None:
    """The shortest candidate that `name` abbreviates: `warn` for `warning`, `global_id` for `global_invocation_id`."""
    if len(name) < 4:
        return None
    first = name.split("_", 1)[0]
    found = [
        other for other in candidates if first in other and len(other) <= 3 * len(name) and _abbreviates(name, other)
    ]
    return min(found, key=lambda other: (len(other), other), default=None)


def _abbreviates(name: str, other: str) -> bool:
    """Whether the parts of a name between underscores begin the parts of another, in order."""
    parts = iter(other.split("_"))
    return all(any(part.startswith(short) for part in parts) for short in name.split("_"))


def unknown_name(message: str, name: object, known: Iterable[str]) -> str:
    """The message with the name that was probably meant, or else with all known names."""
    names = list(known)
    close = closest(name, names) if isinstance(name, str) else None
    if close is not None:
        return f"{message}; did you mean {close!r}?"
    return (
        f"{message}; there {'are ' + ', '.join(names) if len(names) > 1 else 'is ' + (names[0] if names else 'none')}"
    )
