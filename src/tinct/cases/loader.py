"""Reads case files. The top level of a file gives the defaults of its cases."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..base.errors import InputError
from ..compare import EXACT, Tolerance
from ..ir.samplers import Sampler, sampler_from
from .expressions import Expression, ExpressionError, Sizes, evaluate, evaluate_count
from .generators import Arange, Fields, File, Generator, Integers, Linspace, Normal, Uniform, Value
from .model import BufferPlan, Case, CaseError, Constant, KernelCases
from .references import Reference
from .tables import (
    Table,
    as_bound,
    as_constants,
    as_count,
    as_counts,
    as_expression,
    as_expressions,
    as_flag,
    as_literal,
    as_pair,
    as_table,
    as_tables,
    as_text,
)

_PAIRS: dict[str, Callable[[Expression, Expression], Generator]] = {
    "uniform": Uniform,
    "normal": Normal,
    "integers": Integers,
    "linspace": Linspace,
    "arange": Arange,
}
_GENERATORS = (*_PAIRS, "value", "file", "fields")


_NOTHING: Mapping[str, Constant] = {}


def load_cases(path: Path | str, constants: Mapping[str, Constant] = _NOTHING) -> list[KernelCases]:
    """The kernels of a case file, of that beside a `.wgsl` or `.hir` file, or of all case files below a folder, sorted.

    `constants` are set in all cases; sizes of the same name become these whole numbers, too.
    CaseError names the place in the file; InputError says that there is no case file.
    """
    return [_load_file(file, constants) for file in _case_files(Path(path))]


def _case_files(path: Path) -> Iterable[Path]:
    if path.is_dir():
        files = sorted(path.rglob("*.toml"))
        if not files:
            raise InputError(f"{path} holds no case file (.toml)")
        return files
    file = path.with_suffix(".toml")
    if not path.exists():
        raise InputError(f"{path} does not exist")
    if path.suffix not in (".toml", *_KERNELS) or not file.exists():
        raise InputError(f"{path} has no case file {file.name} beside it")
    return [file]


def _load_file(file: Path, constants: Mapping[str, Constant]) -> KernelCases:
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise CaseError(file, "", f"no valid TOML: {error}") from None
    top = Table(data, file, "")
    kernel_path = file.parent / (top.take("kernel", as_text) or _kernel_beside(file))
    if not kernel_path.is_file():
        raise CaseError(file, "kernel", f"there is no file {kernel_path}")
    tables = top.take("case", as_tables)
    if not tables:
        raise top.error("there is no [[case]]")
    defaults = {key: value for key in _INHERITED if (value := top.take(key, _as_anything)) is not None}
    top.finish()
    cases = tuple(
        _load_case(table, _Defaults(defaults, constants), file, kernel_path, number)
        for number, table in enumerate(tables, 1)
    )
    for name, count in Counter(case.name for case in cases).items():
        if count > 1:
            raise top.error("another case has the same name", f"case '{name}'")
    return KernelCases(file.stem, kernel_path, file, cases)


def _kernel_beside(file: Path) -> str:
    """The name of the kernel that a case file is for: WGSL, or else Hercules IR where only that is there."""
    names = [f"{file.stem}{suffix}" for suffix in _KERNELS]
    return next((name for name in names if (file.parent / name).is_file()), names[0])


_KERNELS = (".wgsl", ".hir")
_INHERITED = (
    "entry",
    "reference",
    "threads",
    "workgroups",
    "sizes",
    "constants",
    "seed",
    "buffers",
    "samplers",
    "picture",
)


def _as_anything(value: object) -> object:
    return value


@dataclass(frozen=True, slots=True)
class _Defaults:
    """What a file says of all its cases, and constants that replace those of the file."""

    values: Mapping[str, object]
    constants: Mapping[str, Constant]

    def sizes(self, given: Mapping[str, int]) -> dict[str, int]:
        """The sizes of a case, with those that are set as constants."""
        numbers = {name: it for name, it in self.constants.items() if isinstance(it, int)}
        return {name: int(numbers.get(name, size)) for name, size in given.items()}


def _load_case(case: Mapping[str, object], defaults: _Defaults, file: Path, kernel_path: Path, number: int) -> Case:
    given = case.get("name")
    place = f"case '{given}'" if isinstance(given, str) else f"case {number}"
    table = Table(_merged(case, defaults.values, Table(case, file, place)), file, place)
    name = table.take("name", as_text)
    if not name:
        raise table.error("a case needs a name")
    sizes = defaults.sizes(table.take("sizes", as_counts) or {})
    workgroups, threads = (_grid(table, key, sizes) for key in ("workgroups", "threads"))
    is_given = workgroups is not None or threads is not None
    if kernel_path.suffix == ".hir" and is_given:
        raise table.error("a function of Hercules IR has no 'workgroups' and no 'threads'")
    if kernel_path.suffix != ".hir" and (workgroups is None) == (threads is None):
        raise table.error("give one of 'workgroups' and 'threads'")
    loaded = Case(
        kernel=file.stem,
        name=name,
        file=file,
        kernel_path=kernel_path,
        entry=table.take("entry", as_text),
        sizes=sizes,
        plans=_plans(table.sub("buffers")),
        samplers=_samplers(table),
        workgroups=workgroups,
        threads=threads,
        constants={**_constants(table, sizes), **defaults.constants},
        seed=table.take("seed", as_count) or 0,
        interp=table.take("interp", as_flag) or False,
        reference=_reference(table),
        picture=table.take("picture", as_text),
    )
    table.finish()
    return loaded


# Inheritance


def _merged(case: Mapping[str, object], defaults: Mapping[str, object], table: Table) -> dict[str, object]:
    """A case over the file's defaults: tables are merged key by key, buffers one level deeper; others are replaced."""
    merged = {**defaults, **case}
    for key in ("sizes", "constants", "samplers"):
        if key in defaults and key in case:
            merged[key] = {**as_table(defaults[key]), **(table.take(key, as_table) or {})}
    if "threads" in case or "workgroups" in case:
        for key in {"threads", "workgroups"} - case.keys():
            merged.pop(key, None)
    if "buffers" in defaults and "buffers" in case:
        merged["buffers"] = _merged_buffers(as_table(defaults["buffers"]), table.sub("buffers"))
    return merged


def _merged_buffers(defaults: Mapping[str, object], case: Table) -> dict[str, object]:
    merged = dict(defaults)
    for name in case.names():
        changes = case.take(name, as_table) or {}
        base = as_table(merged.get(name, {}))
        if any(key in changes for key in _GENERATORS):
            base = {key: value for key, value in base.items() if key not in _GENERATORS}
        merged[name] = {**base, **changes}
    return merged


# The parts of a case


def _grid(table: Table, key: str, sizes: Sizes) -> tuple[int, int, int] | None:
    extents = table.take(key, as_expressions)
    if extents is None:
        return None
    if not 1 <= len(extents) <= 3:
        raise table.error(f"must be 1 to 3 numbers, not {len(extents)}", key)
    try:
        x, y, z = (*(evaluate_count(extent, sizes) for extent in extents), 1, 1)[:3]
    except ExpressionError as error:
        raise table.error(str(error), key) from None
    return x, y, z


def _constants(table: Table, sizes: Sizes) -> dict[str, Constant]:
    try:
        return {
            name: evaluate(value, sizes) if isinstance(value, str) else value
            for name, value in (table.take("constants", as_constants) or {}).items()
        }
    except ExpressionError as error:
        raise table.error(str(error), "constants") from None


def _reference(table: Table) -> Reference | None:
    text = table.take("reference", as_text)
    if text is None:
        return None
    file, _, function = text.rpartition(":")
    return Reference(table.file.parent / (file or "reference.py"), function)


def _plans(buffers: Table) -> dict[str, BufferPlan]:
    return {name: _plan(buffers.sub(name)) for name in buffers.names()}


def _samplers(table: Table) -> dict[str, Sampler]:
    made: dict[str, Sampler] = {}
    for name, fields in (table.take("samplers", as_table) or {}).items():
        try:
            made[name] = sampler_from(as_table(fields))
        except (InputError, ValueError) as error:
            raise table.error(str(error), f"samplers.{name}") from None
    return made


def _plan(buffer: Table) -> BufferPlan:
    plan = BufferPlan(
        shape=buffer.take("shape", as_expressions) or (),
        generator=_generator(buffer),
        tolerance=_tolerance(buffer),
        dtype=buffer.take("dtype", _as_dtype),
        levels=_levels(buffer),
    )
    buffer.finish()
    return plan


def _levels(buffer: Table) -> Expression | tuple[Generator, ...] | None:
    """The number of mip levels, or a generator for each."""
    levels = buffer.take("levels", _as_levels)
    if not isinstance(levels, list):
        return levels
    tables = [Table(it, buffer.file, f"{buffer.place}.levels[{number}]") for number, it in enumerate(levels)]
    made = tuple(map(_generator, tables))
    for table in tables:
        table.finish()
    return made


def _as_levels(value: object) -> Expression | list[dict[str, object]]:
    return as_tables(cast("list[object]", value)) if isinstance(value, list) else as_expression(value)


def _as_dtype(value: object) -> np.dtype[Any]:
    name = as_text(value)
    if name not in _DTYPES:
        raise ValueError(f"must be one of {', '.join(_DTYPES)}, not {name!r}")
    return np.dtype(name)


_DTYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float16", "float32")


def _generator(table: Table) -> Generator:
    given = [key for key in _GENERATORS if key in table.names()]
    if len(given) > 1:
        raise table.error(f"'{given[0]}' and '{given[1]}' exclude each other")
    pairs = [make(*pair) for key, make in _PAIRS.items() if (pair := table.take(key, as_pair)) is not None]
    value = table.take("value", as_literal)
    file = table.take("file", as_text)
    fields = table.sub("fields")
    if pairs:
        return pairs[0]
    if value is not None:
        return Value(value)
    if file is not None:
        return File(table.file.parent / file)
    return _fields(fields) if "fields" in given else Value(0)


def _fields(table: Table) -> Fields:
    generators: dict[str, Generator] = {}
    for name in table.names():
        field = table.sub(name)
        generators[name] = _generator(field)
        field.finish()
    return Fields(generators)


def _tolerance(buffer: Table) -> Tolerance | None:
    output = buffer.take("output", _as_output)
    if output is None:
        return None
    if isinstance(output, str):
        return Tolerance(multiset=True) if output == "multiset" else EXACT
    table = Table(output, buffer.file, f"{buffer.place}.output")
    tolerance = Tolerance(
        ulp=table.take("ulp", as_bound) or 0.0,
        absolute=table.take("absolute", as_bound) or 0.0,
        relative=table.take("relative", as_bound) or 0.0,
        outliers=table.take("outliers", as_bound) or 0.0,
        multiset=table.take("multiset", as_flag) or False,
        steps=table.take("steps", as_bound) or 0.0,
    )
    table.finish()
    return tolerance


def _as_output(value: object) -> str | dict[str, object]:
    if isinstance(value, str):
        if value not in ("exact", "multiset"):
            raise ValueError(f'must be "exact", "multiset" or bounds, not {value!r}')
        return value
    return as_table(value)
