"""Declares the extension modules: the generated WGSL parser, and the CPU's worker threads. Everything else is in
pyproject.toml.
"""

from setuptools import Extension, setup

GRAMMAR = "src/tinct/frontend/grammar"
POOL = "src/tinct/backend/cpu/pool"
SOURCES = (
    *("module", "interrupts", "sequence", "crew", "copies", "kinds", "processors", "stop"),
    *("code", "code_type", "identity"),
)


def extension(name: str, *sources: str, depends: tuple[str, ...] = (), options: tuple[str, ...] = ()) -> Extension:
    """An extension in C that runs on any Python from 3.11 on."""
    return Extension(
        name,
        sources=list(sources),
        depends=list(depends),
        extra_compile_args=["-std=c11", "-fvisibility=hidden", *options],
        extra_link_args=[it for it in options if it == "-pthread"],
        define_macros=[("Py_LIMITED_API", "0x030B0000")],
        py_limited_api=True,
    )


setup(
    ext_modules=[
        extension(
            "tinct.frontend.grammar._binding",
            f"{GRAMMAR}/binding.c",
            f"{GRAMMAR}/src/parser.c",
            f"{GRAMMAR}/src/scanner.c",
            depends=(f"{GRAMMAR}/src/tree_sitter/parser.h",),
            options=("-O2", f"-I{GRAMMAR}/src"),
        ),
        extension(
            "tinct.backend.cpu._pool",
            *(f"{POOL}/{name}.c" for name in SOURCES),
            depends=tuple(f"{POOL}/{name}.h" for name in (*SOURCES[1:], "clock")),
            options=("-O3", "-pthread"),
        ),
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
