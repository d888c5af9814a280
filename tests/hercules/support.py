"""Helpers for the tests of Hercules IR."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tinct.functions import HerculesFunction
from tinct.functions.values import as_argument, from_bytes, to_bytes, to_value
from tinct.gpu_programs import ProgramOnGpu
from tinct.ir.hercules.nodes import Function, Module, Node, Product
from tinct.ir.hercules.program import Program
from tinct.ir.hercules.storage import Value, Variant
from tinct.ir.hercules.text import parse, print_module

GOLDENS = Path(__file__).parents[1] / "goldens" / "hercules"
SAMPLES = GOLDENS / "text"


def inputs(folder: Path) -> list[str]:
    """The names of the inputs in a folder, which also has the expected outputs."""
    return sorted(it.stem for it in folder.glob("*.hir") if not it.stem.endswith(".out"))


def load(name: str) -> Module:
    return parse((SAMPLES / f"{name}.hir").read_text(encoding="utf-8"))


def function_of(module: Module, name: str) -> Function:
    return next(it for it in module.functions if it.name == name)


def node_of(function: Function, label: str) -> Node:
    return next(it for it in function.nodes if it.label == label)


def copy_of(module: Module) -> Module:
    return parse(print_module(module))


def run_values(function: Function, constants: Sequence[int], values: Sequence[object]) -> Value:
    """What a function returns as machine code."""
    return run_compiled(HerculesFunction(function), constants, values)


def run_compiled(compiled: HerculesFunction, constants: Sequence[int], values: Sequence[object]) -> Value:
    """The same, of a function that is compiled once for several runs."""
    function = compiled.function
    arguments = dict(zip(function.parameter_names, values, strict=True))
    known = dict(zip(function.dynamic_constants, constants, strict=True))
    return compiled.value_of(compiled.run(arguments, constants=known, device="cpu"))


def same_value(left: Value, right: Value) -> bool:
    """Whether two values are equal bit for bit; all NaNs count as equal."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_value, left, right))
    if isinstance(left, Variant) and isinstance(right, Variant):
        return left.index == right.index and same_value(left.value, right.value)
    return type(left) is type(right) and repr(left) == repr(right)


def body(text: str, head: str = "fn f() -> i32") -> Module:
    """A module of one function with these lines."""
    return parse(f"{head} {{\n{text}\n}}\n")


def run_on_gpu(program: Program, values: Sequence[Value]) -> Value:
    """What a program without sums returns on the GPU."""
    pairs = zip(program.parameter_types, values, strict=True)
    outcome = ProgramOnGpu(program).run([to_bytes(type, as_argument(type, value, "")) for type, value in pairs])
    returned = program.return_type
    types = returned.fields if program.is_product and isinstance(returned, Product) else (returned,)
    parts = [to_value(type, from_bytes(type, data)) for type, data in zip(types, outcome.results, strict=True)]
    return parts if program.is_product else parts[0]
