"""Errors that a user can fix; `ir.diagnostics` adds those of shaders."""

from __future__ import annotations


class TinctError(Exception):
    """Base of the errors that a user can fix."""


class InputError(TinctError, ValueError):
    """Buffers, sizes, names or options that do not fit the shader."""


class DeviceError(TinctError, RuntimeError):
    """A device that is missing, refused the work, or died."""


class CompileTimeError(DeviceError):
    """A compilation that was stopped because it took too long."""
