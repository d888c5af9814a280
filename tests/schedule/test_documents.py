"""The page on schedules lists all rules for decisions, with their sentences."""

from __future__ import annotations

from pathlib import Path

from tinct.transforms.schedule.legality import RULES

PAGE = Path(__file__).parents[2] / "docs" / "schedules.md"


def test_rules() -> None:
    rows = [f"| {rule.name} | {rule.sentence} |" for group in RULES for rule in group]
    assert "\n".join(rows) in PAGE.read_text(encoding="utf-8")
