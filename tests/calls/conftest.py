"""Fixtures that the tests of calls share."""

from .support import nothing_inlined

__all__ = ["nothing_inlined"]
