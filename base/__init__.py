"""Shared by every layer: errors, time limits, forks that leave no lock held, and settings of the interpreter."""

from .fork_imports import wait_at_forks

wait_at_forks()
