"""Shared by every layer: errors, time limits, forks that leave no lock held, settings of the interpreter, arithmetic
modulo 2^64.
"""

from . import forks as forks  # forks wait for imports as soon as there are any of ours
