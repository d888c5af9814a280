"""Shared by every layer: errors, time limits, forks that leave no lock held, and settings of the interpreter."""

from . import forks as forks  # forks wait for imports as soon as there are any of ours
