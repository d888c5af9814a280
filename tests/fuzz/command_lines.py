"""The command lines that a shader goes through in a campaign."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import tinct
from tinct.ir.types import Sampler, Texture
from tinct.kernel import Kernel
from tinct.reflection import BindingInfo
from tinct.textures import shape_text

STAGES = ("wgsl", "hercules", "llvm", "asm")
PASSES = ("O1", "O2", "portable", "minify", "naga", "gpu")
FORMATS = ("text", "json", "python", "rust")
_ELEMENTS = 24
_TIMEOUT = "2"


def of_texts(file: Path) -> Iterator[Sequence[str]]:
    """What needs no entry point; the first says whether the shader is valid."""
    yield ["check", str(file)]
    yield ["fmt", str(file)]
    yield ["minify", str(file)]
    for name in FORMATS:
        yield ["reflect", str(file), "--format", name]
    for name in PASSES:
        yield ["opt", str(file), "--passes", name, "--verify-each"]
    for stage in ("ast", "core"):
        yield ["compile", str(file), "--emit", stage]


def of_entries(file: Path, devices: Sequence[str]) -> Iterator[Sequence[str]]:
    """What is done with each compute entry point of a valid shader."""
    shader = tinct.load(file)
    for name, info in shader.entry_points.items():
        if info.stage == "compute":
            yield from _of_entry(file, shader.kernel(name), devices)


def _of_entry(file: Path, kernel: Kernel, devices: Sequence[str]) -> Iterator[Sequence[str]]:
    entry = ["--entry", kernel.info.name]
    for stage in STAGES:
        yield ["compile", str(file), "--emit", stage, *entry]
    yield ["compile", str(file), "--emit", "wgsl", "--via", "hercules", *entry]
    yield ["compile", str(file), "--remarks", *entry]
    specs = list(map(_spec, kernel.bindings))
    given = [*entry, "--workgroups", "1", "--timeout", _TIMEOUT]
    for spec in specs:
        given += ["--buffer", spec]
    for device in devices:
        yield ["run", str(file), *given, "--device", device]
    yield ["run", str(file), *given, "--device", "interp", "--trace", "0"]
    yield ["run", str(file), *given, "--device", "interp", "--sanitize"]
    yield ["run", str(file), *given, "--coverage"]
    yield ["debug", str(file), *given, "-x", "step 5", "-x", "info locals", "-x", "back", "-x", "quit"]
    if all(_holds_numbers(it) for it in kernel.bindings):
        case = file.with_suffix(".toml")
        case.write_text(_case(file, kernel), encoding="utf-8")
        yield ["compare", str(case), "--device", "interp", "--device", "cpu"]


def _holds_numbers(info: BindingInfo) -> bool:
    return info.dtype is not None and info.dtype.names is None and not isinstance(info.type, Texture)


def _spec(info: BindingInfo) -> str:
    """A buffer of a few elements as `tinct run` takes it."""
    if isinstance(info.type, Sampler):
        return info.name + ('={"compare": "less"}' if info.type.comparison else "={}")
    if isinstance(info.type, Texture):
        extents = shape_text(info.type).strip("(),").split(", ")
        return f"{info.name}=zeros:{'x'.join(it if it.isdigit() else '4' for it in extents)}"
    count = _ELEMENTS if info.size is None else ""
    return f"{info.name}=integers:{count}:0:9" if info.access == "read" else f"{info.name}=zeros:{count}".rstrip(":")


def _case(file: Path, kernel: Kernel) -> str:
    """A case file without a reference, so that devices are compared with each other; bindings hold numbers only."""
    lines = [f"kernel = {json.dumps(str(file))}", f"entry = {json.dumps(kernel.info.name)}", "workgroups = 1", ""]
    lines += ["[buffers]"]
    for info in kernel.bindings:
        shape = f"shape = {_ELEMENTS}, " if info.size is None else ""
        fill = "arange = [0, 1]" if info.access == "read" else 'output = "exact"'
        lines.append(f"{json.dumps(info.name)} = {{ {shape}{fill} }}")
    return "\n".join([*lines, "", "[[case]]", 'name = "small"', "interp = true", ""])
