"""The public API: load a shader, inspect it, run its entry points.

shader = tinct.load("saxpy.wgsl")
result = shader["main"].run({"x": x, "y": y, "params": params}, threads=len(x))
result["y"]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, cast

import numpy as np

from .arguments import is_hercules_path, mapping_of, name_of, path_of
from .base.cached import cached_property
from .base.errors import InputError
from .base.recent import Recent
from .compilation import Compilation
from .ir.diagnostics import Diagnostic
from .ir.entry_points import compute_entry_point, missing_entry_point
from .ir.hints import unknown_name
from .ir.language import DEBUG_PRINTF
from .ir.layout_numbers import NumberType, number, shown
from .ir.overrides import override_given_twice, unknown_override
from .ir.source import Source
from .ir.types import Stage
from .kept import kept
from .kernel import Kernel
from .origins import CheckedText, TextOrigin
from .pipeline import Job
from .reflection import (
    BindingInfo,
    EntryPointInfo,
    OverrideInfo,
    StructInfo,
    reflect,
    reflect_bindings,
)
from .sessions.calls import Constants

if TYPE_CHECKING:
    from .counting.kernel import CountedProgram
    from .ir.wgsl.program import Program
    from .printing import PrintingProgram
    from .wgpu_py import Layouts
    from .wgsl_functions import ShaderFunctions
    from .wgsl_functions.expressions import Value


def load(shader: str | PathLike[str]) -> Shader:
    """A shader from a file or from WGSL text (a str with a line break, `;` or `{` is text).

    The path of a `.hir` file gives a `HerculesFile`, as `load_hercules` does: it, too, is indexed by name, and what it
    has can `run`. The type of this function leaves that out, since nearly all files are shaders.

    Raises ShaderError, which lists everything that is wrong with it, InputError for what is neither text nor a path,
    and OSError for a file that cannot be read.
    """
    if is_hercules_path(shader):
        from .functions import load_hercules

        return cast("Shader", load_hercules(shader))
    return Shader(load_source(shader))


def load_source(shader: str | PathLike[str]) -> Source:
    """The source behind `load`. Raises InputError and OSError."""
    if isinstance(shader, str) and any(char in shader for char in "\n;{"):
        return Source.from_text(shader)
    try:
        return Source.from_file(path_of(shader))
    except UnicodeEncodeError as error:  # a path that the system cannot have
        raise InputError(f"{shown(shader)} is not the path of a file: {error}") from error


class Shader:
    """A valid shader. Index it by the name of an entry point. `seconds` is what parsing and resolving it took; it is
    empty as long as the cache on disk has all that was asked for.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self._text = CheckedText(source)
        self._reflection = kept(lambda: reflect(self._text.program), source, "reflection")
        self.seconds = self._text.seconds
        self._kernels: dict[str, Kernel] = {}
        self._compilations: dict[tuple[str, tuple[tuple[str, float], ...]], Compilation] = {}

    def __reduce__(self) -> tuple[Callable[[Source], Shader], tuple[Source]]:
        return shader_of, (Source(self.source.name, self.source.data),)

    def __dask_tokenize__(self) -> tuple[str, bytes]:
        return "tinct.Shader", self.source.data

    def __repr__(self) -> str:
        return f"<Shader {self.source.name}: {', '.join(self.entry_points) or 'no entry point'}>"

    @property
    def program(self) -> Program:
        """The checked program."""
        return self._text.program

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What is suspicious in it but not wrong."""
        return self.program.warnings

    @cached_property
    def entry_points(self) -> dict[str, EntryPointInfo]:
        """All entry points by name, in the order of the source."""
        return {info.name: info for info in self._reflection.entry_points}

    @property
    def bindings(self) -> dict[str, BindingInfo]:
        """All bound variables by name. Once the program is parsed, their types are its own: a structure equals only
        itself.
        """
        return self._own_bindings if self._text.is_parsed else self._kept_bindings

    @cached_property
    def _kept_bindings(self) -> dict[str, BindingInfo]:
        return {info.name: info for info in self._reflection.bindings}

    @cached_property
    def _own_bindings(self) -> dict[str, BindingInfo]:
        return {info.name: info for info in reflect_bindings(self.program)}

    @cached_property
    def overrides(self) -> dict[str, OverrideInfo]:
        """All pipeline constants by name."""
        return {info.name: info for info in self._reflection.overrides}

    @cached_property
    def structs(self) -> dict[str, StructInfo]:
        """All structures that can lie in a buffer, by name."""
        return {info.name: info for info in self._reflection.structs}

    @cached_property
    def functions(self) -> ShaderFunctions:
        """Its functions by name, to be called with arrays; entry points are none."""
        from .wgsl_functions import ShaderFunctions

        return ShaderFunctions(self._text, self._reflection.functions, _runnable)

    @cached_property
    def counted(self) -> CountedProgram:
        """The program with counters."""
        from .counting.kernel import counted_program

        return counted_program(self.program, prints=self.printing is not None)

    @cached_property
    def printing(self) -> PrintingProgram | None:
        """The program with records of what it prints; None if it has no `debugPrintf`."""
        if DEBUG_PRINTF.encode() not in self.source.data:
            return None
        from .printing import PrintingProgram

        return PrintingProgram(self.program)

    def evaluate(self, expression: str) -> Value:
        """The value of a constant expression with the shader's declarations; see `tinct.evaluate`."""
        from .wgsl_functions import evaluate

        return evaluate(expression, self.source)

    def __getitem__(self, name: str) -> Kernel:
        """The compute entry point of that name. Raises InputError, which is no KeyError."""
        return self.kernel(name_of(name, "an entry point", "main"))

    def __iter__(self) -> Iterator[str]:
        return iter(self.entry_points)

    def __len__(self) -> int:
        return len(self.entry_points)

    def __bool__(self) -> bool:
        return True

    def _ipython_key_completions_(self) -> list[str]:
        return [info.name for info in self.entry_points.values() if info.stage == Stage.COMPUTE.value]

    def kernel(self, name: str | None = None) -> Kernel:
        """The compute entry point of that name; without one, the only one there is. Raises InputError."""
        compute = [info.name for info in self.entry_points.values() if info.stage == Stage.COMPUTE.value]
        if name is not None and name_of(name, "an entry point", "main") not in compute:
            compute_entry_point(self.program.entry_points, name)
        chosen = choose_entry(compute, name)
        if chosen not in self._kernels:
            self._kernels[chosen] = Kernel(self, self.entry_points[chosen])
        return self._kernels[chosen]

    def bind_group_layouts(self) -> Layouts:
        """The entries of bind group layouts that all compute entry points can share, by group, as wgpu-py's
        `create_bind_group_layout` takes them.

        Raises InputError if entry points have different variables at one binding (`Kernel.bind_group_layouts` has those
        of each), and for a binding that wgpu-py does not have.
        """
        from .wgpu_py import shared_layouts

        compute = [info.name for info in self.entry_points.values() if info.stage == Stage.COMPUTE.value]
        return shared_layouts([self.kernel(name) for name in compute])

    def compilation(self, entry: str, constants: Constants) -> Compilation:
        """The compilation of an entry point, whose stages are made once. Raises InputError for unknown constants."""
        values = self._constants(constants)
        key = (entry, tuple(sorted(values.items())))
        if key not in self._compilations:
            sizes = {it.name: it.workgroup_size for it in self._reflection.entry_points}
            self._compilations[key] = Compilation(Job(TextOrigin(self._text, sizes), entry, values))
        return self._compilations[key]

    def _constants(self, constants: Constants) -> dict[str, float]:
        """The constants by their keys in a pipeline: the override's `@id` if it has one, else its name."""
        by_key = {key: info for info in self.overrides.values() for key in (info.name, info.key)}
        values: dict[str, float] = {}
        for name, value in mapping_of(constants, "constants", self.overrides or ("n",)).items():
            if name not in by_key:
                raise InputError(unknown_name(unknown_override(str(name)[:80]), name, self.overrides))
            info = by_key[name]
            if info.key in values:
                raise InputError(override_given_twice(name))
            values[info.key] = number(value, _NUMBERS[info.type], f"override {info.name!r}")
        return values


_recent: Recent[Source, Shader] = Recent(256)
"""Unpickled shaders. A worker of a cluster gets a shader with each task; what it compiled must outlive the task."""


def shader_of(source: Source) -> Shader:
    """The shader of a source that was valid when it was pickled: one object for all copies in this process."""
    return _recent.get(source, lambda: Shader(source))


def _runnable(source: Source, entry: str) -> Kernel:
    return Shader(source).kernel(entry)


_NUMBERS = {
    name: NumberType(name, np.dtype(base))
    for name, base in (("bool", "?"), ("i32", "i4"), ("u32", "u4"), ("f32", "f4"), ("f16", "f2"))
}


def choose_entry(names: Sequence[str], name: str | None) -> str:
    """The compute entry point of that name among all; without one, the only one there is. Raises InputError."""
    if name is None and len(names) == 1:
        return names[0]
    if name is None:
        known = f"{', '.join(names)}: name one" if names else "none"
        raise InputError(f"the shader must have one compute entry point, but has {known}")
    if name not in names:
        raise InputError(unknown_name(missing_entry_point(name), name, names))
    return name
