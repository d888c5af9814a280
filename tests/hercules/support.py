"""Helpers for the tests of Hercules IR."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tinct.functions import HerculesFunction
from tinct.ir.hercules.nodes import Function, Module, Node
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
    compiled = HerculesFunction(function)
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
