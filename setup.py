"""Declares the extension module that holds the generated WGSL parser; everything else is in pyproject.toml."""

from setuptools import Extension, setup

GRAMMAR = "src/tinct/frontend/grammar"

setup(
    ext_modules=[
        Extension(
            "tinct.frontend.grammar._binding",
            sources=[f"{GRAMMAR}/binding.c", f"{GRAMMAR}/src/parser.c", f"{GRAMMAR}/src/scanner.c"],
            depends=[f"{GRAMMAR}/src/tree_sitter/parser.h"],
            include_dirs=[f"{GRAMMAR}/src"],
            extra_compile_args=["-std=c11", "-O2", "-fvisibility=hidden"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
