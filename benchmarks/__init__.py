"""Measures the CPU device beside other ways to run the same kernels on the same machine. See README.md."""

from .environment import prepare_environment

prepare_environment()
