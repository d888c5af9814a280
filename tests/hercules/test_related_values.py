"""Random kernels full of comparisons between values that guards and loops relate: ranges never change an answer."""

from __future__ import annotations

import random
import struct

import pytest

from tinct.frontend import load_program
from tinct.ir.hercules.dispatch import run_entry_point
from tinct.ir.hercules.entry import EntryPoint
from tinct.ir.hercules.nodes import Intrinsic, Select
from tinct.ir.source import Source
from tinct.ir.types import BindingPoint
from tinct.transforms.from_wgsl.build import build
from tinct.transforms.hercules import HERCULES
from tinct.transforms.passes import parse_pipeline, run_passes
from tinct.transforms.specialising import specialise
from tinct.transforms.to_hercules import translate

NAMES = ("x", "y", "z")
STARTS = (0, 1, 2, 7, -1, -2, 2**31 - 1, -(2**31))


class Kernel:
    """The text of one kernel on variables of one integer type."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.type = self.random.choice(("u32", "i32"))
        self.loops = 0
        body = self.block(3)
        variables = "".join(f"  var {name} = a[{number}];\n" for number, name in enumerate(NAMES))
        self.text = f"""@group(0) @binding(0) var<storage, read_write> a: array<{self.type}>;
@compute @workgroup_size(1) fn main() {{
  var sum = {self.type}(0);
{variables}{body}  a[3] = sum;
}}
"""

    def block(self, depth: int) -> str:
        return "".join(self.statement(depth) for _ in range(self.random.randint(2, 4)))

    def statement(self, depth: int) -> str:
        kind = self.random.choice(("guard", "loop", "set", "ask", "ask", "ask") if depth else ("set", "ask"))
        match kind:
            case "guard":
                otherwise = f"else {{\n{self.block(depth - 1)}}}" if self.random.random() < 0.4 else ""
                return f"if ({self.condition()}) {{\n{self.block(depth - 1)}}} {otherwise}\n"
            case "loop":
                self.loops += 1
                k = f"k{self.loops}"
                inside = self.block(depth - 1)
                return f"for (var {k} = 0; {k} < 3 && {self.comparison()}; {k}++) {{\n{inside}}}\n"
            case "set":
                return f"{self.random.choice(NAMES)} = {self.value()};\n"
            case _:
                return f"sum = sum * 3 + select({self.value()}, {self.value()}, {self.comparison()});\n"

    def condition(self) -> str:
        if self.random.random() < 0.5:
            return self.comparison()
        return f"{self.comparison()} {self.random.choice(('&&', '||'))} {self.comparison()}"

    def comparison(self) -> str:
        operator = self.random.choice(("<", "<", "<=", ">", ">=", "==", "!="))
        return f"{self.value()} {operator} {self.value()}"

    def value(self) -> str:
        name, other = self.random.choice(NAMES), self.random.choice(NAMES)
        return self.random.choice(
            (
                name,
                name,
                name,
                f"({name} + 1)",
                f"({name} - 1)",
                f"({name} - {other})",
                f"({name} - 1 - {other})",
                f"min({name}, {other})",
                f"max({name}, {other})",
                f"min({name}, {other} - 1)",
                f"clamp({name}, 0, {other} - 1)",
                f"({name} % {other})",
                f"({name} & {other})",
                f"{self.random.choice((0, 1, 2, 7))}{self.type[0]}",
            )
        )


def kernel(text: str, pipeline: str) -> EntryPoint:
    found = translate(specialise(build(load_program(Source.from_text(text))), "main", {}), "main")
    run_passes(found.module, parse_pipeline(pipeline, HERCULES), HERCULES, verify_each=True)
    return found


def asked(entry: EntryPoint) -> int:
    return sum(isinstance(node, (Select, Intrinsic)) for node in entry.function.nodes)


@pytest.mark.parametrize("seed", range(40))
def test_answers_stay(seed: int) -> None:
    text = Kernel(seed).text
    plain, simplified = kernel(text, "gvn,ccp,gvn"), kernel(text, "gvn,ccp{ranges=true,counts=32},gvn")
    values = random.Random(seed)
    for _ in range(12):
        numbers = [values.choice(STARTS) for _ in NAMES]
        assert answer(simplified, numbers) == answer(plain, numbers), text


def test_there_is_something_to_decide() -> None:
    texts = [Kernel(seed).text for seed in range(12)]
    simplified = [asked(kernel(it, "gvn,ccp{ranges=true},gvn,dce")) for it in texts]
    assert sum(simplified) < 0.95 * sum(asked(kernel(it, "gvn,ccp,gvn,dce")) for it in texts)


def answer(entry: EntryPoint, numbers: list[int]) -> bytes:
    a = bytearray(struct.pack("<4i", *numbers, 0))
    run_entry_point(entry, {BindingPoint(0, 0): a}, (1, 1, 1))
    return bytes(a)
