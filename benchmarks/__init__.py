"""Measures the CPU device and other implementations of the same kernels on the same machine. See README.md."""

from .environment import prepare_environment

prepare_environment()
