"""Passes of one's own on core IR.

    # add_for_double.py
    from dataclasses import dataclass
    from tinct.passes import BinaryOp, Module, instructions_of, nodes

    @dataclass(frozen=True)
    class AddForDouble:
        name = "add_for_double"
        def run(self, module: Module) -> bool: ...

`tinct opt kernel.wgsl --plugin add_for_double.py --passes add_for_double,dce` runs it, and so does `optimised`. The
names in this module are those that such a pass needs: `nodes` has the kinds of nodes, `Builder` makes new ones, and
`blocks_of` and `instructions_of` walk a module.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from dataclasses import is_dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TypeAlias, cast

from .arguments import path_of
from .backend.wgsl.printer import print_unit
from .base.errors import InputError
from .ir.constants import ConstantValue
from .ir.core import nodes
from .ir.core.builder import Builder
from .ir.core.structure import blocks_of
from .ir.ops import BinaryOp, UnaryOp
from .ir.source import Source
from .transforms.passes import Pass, Stage, parse_pipeline, run_passes
from .transforms.pipelines import CORE
from .transforms.to_wgsl.unit import to_unit

Module: TypeAlias = nodes.Module
CorePass: TypeAlias = Pass[nodes.Module]
CoreStage: TypeAlias = Stage[nodes.Module]

__all__ = [
    "CORE",
    "BinaryOp",
    "Builder",
    "ConstantValue",
    "CorePass",
    "CoreStage",
    "Module",
    "UnaryOp",
    "blocks_of",
    "instructions_of",
    "nodes",
    "optimised",
    "passes_in",
    "wgsl_of",
    "with_passes",
]


def instructions_of(module: Module) -> Iterator[nodes.Instruction]:
    """All instructions of all functions, as they are now: the module may be changed on the way."""
    for function in list(module.functions):
        for block in list(blocks_of(function)):
            yield from list(block.instructions)


def wgsl_of(module: Module) -> str:
    """A module as WGSL."""
    return print_unit(to_unit(module))


def optimised(shader: str | Source, passes: str | Sequence[CorePass], *, plugins: Sequence[type[CorePass]] = ()) -> str:
    """WGSL after passes: a text such as "inline,mem2reg,dce", in which the names of `plugins` may stand, or passes.

    The module is verified before the first and after each pass. Raises ShaderError for an invalid shader, InputError
    for a pipeline that cannot be read, and BrokenPassError for a pass that breaks the module.
    """
    from .frontend import load_program
    from .transforms.from_wgsl.build import build

    stage = with_passes(plugins)
    steps = parse_pipeline(passes, stage) if isinstance(passes, str) else tuple(passes)
    source = shader if isinstance(shader, Source) else Source.from_text(shader)
    module = build(load_program(source))
    run_passes(module, steps, stage, verify_each=True)
    return wgsl_of(module)


def with_passes(kinds: Sequence[type[CorePass]], stage: CoreStage = CORE) -> CoreStage:
    """The stage with more passes. Raises InputError for what is no pass, and for a name that is taken."""
    found = {_name(kind): kind for kind in kinds}
    for name in found:
        if name in stage.passes or name in stage.pipelines:
            raise InputError(f"there is a pass or a pipeline named {name!r} already")
    if not found:
        return stage
    groups = {**stage.groups, "Of plugins": (*stage.groups.get("Of plugins", ()), *found)}
    return replace(stage, passes={**stage.passes, **found}, groups=groups)


def passes_in(file: str | PathLike[str]) -> list[type[CorePass]]:
    """The passes of a Python file: its dataclasses with a `name` and a `run`. Runs the file.

    Raises InputError for a file that cannot be run, or that has no pass.
    """
    path = path_of(file)
    spec = importlib.util.spec_from_file_location(f"tinct_plugin_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever the file raises
        raise InputError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    own = [it for it in vars(module).values() if isinstance(it, type) and it.__module__ == spec.name]
    found = [cast("type[CorePass]", it) for it in own if _is_pass(it)]
    if not found:
        raise InputError(f"{path} has no pass: a frozen dataclass with a name and a method run(module)")
    return found


def _is_pass(kind: type) -> bool:
    return is_dataclass(kind) and hasattr(kind, "name") and callable(getattr(kind, "run", None))


def _name(kind: type[CorePass]) -> str:
    """The name of a pass with its options as they are by default."""
    if not _is_pass(kind):
        raise InputError(f"{kind!r} is no pass: a frozen dataclass with a name and a method run(module)")
    try:
        name = cast("object", kind().name)
    except TypeError as error:
        raise InputError(f"the pass {kind.__name__} has an option without a default value: {error}") from None
    if not isinstance(name, str):
        raise InputError(f"the name of the pass {kind.__name__} is {name!r}, not a text")
    return name


def files_of(paths: Sequence[Path]) -> CoreStage:
    """Core IR's stage with the passes of all these files. Raises InputError."""
    return with_passes([kind for path in paths for kind in passes_in(path)])
