"""The result of a search in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from statistics import median
from typing import Final

from .search import Attempt, Found, Point

_FASTEST: Final = 5
_REASONS: Final = 8


def report_text(found: Found[Point] | None, shown: Callable[[Point], str]) -> str:
    """What was tried, the fastest points, and why others were rejected."""
    if found is None:
        return "kept from an earlier search\n"
    counts = found.counts
    words = ", ".join(f"{counts[it]} {it}" for it in ("measured", "pruned", "wrong", "failed"))
    extent = "all points of the space" if found.is_whole else "a part of the space"
    lines = [f"{words}; {extent}{', interrupted' if found.is_interrupted else ''}"]
    lines += compiling_text(found)
    measured = [it for it in found.attempts if it.status == "measured" and it.seconds is not None]
    for attempt in sorted(measured, key=lambda it: it.seconds or 0.0)[:_FASTEST]:
        text = shown(attempt.point).strip().replace("\n", "; ") or "loops"
        lines.append(f"{(attempt.seconds or 0.0) * 1e3:10.4f} ms  {text}")
    reasons = Counter((it.status, it.why) for it in found.attempts if it.status in ("wrong", "failed"))
    lines += [f"{count} {status}: {why}" for (status, why), count in reasons.most_common(_REASONS)]
    return "\n".join(lines) + "\n"


def attempt_json(attempt: Attempt[Point]) -> dict[str, object]:
    """What came of a point, for programs; times in milliseconds."""
    return {
        "status": attempt.status,
        "milliseconds": _milliseconds(attempt.seconds),
        "why": attempt.why,
        "compiling_milliseconds": _milliseconds(attempt.compiling),
    }


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3


def compiling_text(found: Found[Point]) -> list[str]:
    """A line about how long other processes compiled the points, if any did."""
    seconds = [it.compiling for it in found.attempts if it.compiling is not None]
    if not seconds:
        return []
    return [f"compiling {len(seconds)} took {median(seconds):.2g} s each by median, {max(seconds):.2g} s at most"]
