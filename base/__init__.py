"""Shared by every layer: errors, time limits, locks that survive a fork, and settings of the interpreter."""
