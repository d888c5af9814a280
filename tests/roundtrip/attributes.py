"""Random WGSL with attributes wherever statements take them, and with bodies that are often empty."""

from __future__ import annotations

import random
from dataclasses import dataclass

_ATTRIBUTES = (
    "@diagnostic(off, derivative_uniformity)",
    "@diagnostic(warning, derivative_uniformity)",
    "@diagnostic(off, a.rule) @diagnostic(info, derivative_uniformity)",
)
_BOOLS = (
    "c > 1.0",
    "dpdx(c) > 0.0",
    "side()",
    "side() && dpdx(c) > 0.0",
    "c > 2.0 || side()",
    "c > 2.0 && dpdy(c) < c",
    "!(number() > 3)",
    "number() > 3 && side() && c > 3.0",
    "true",
    "(c < 4.0 || side()) && true",
)
_INTS = ("number()", "u32(c)", "u32(dpdx(c))", "i", "7u")
_SIMPLE = (
    "i++;",
    "i = number();",
    "i += u32(dpdx(c));",
    "_ = side();",
    "_ = dpdx(c);",
    "_ = c > 1.0 && side();",
    "number();",
    "nothing();",
    ";",
)
_HEAD = """diagnostic(off, derivative_uniformity);
var<private> n: u32;
fn side() -> bool { n++; return n > 3; }
fn number() -> u32 { n++; return n; }
fn nothing() { n++; }
"""


@dataclass
class Generator:
    """Makes one shader for each seed."""

    seed: int

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self._names = 0

    def shader(self) -> str:
        """A fragment shader, which may take derivatives, with functions that have effects."""
        body = self._statements(depth=0, jumps=())
        return f"{_HEAD}@fragment fn main(@location(0) c: f32) -> @location(0) f32 {{ var i = 0u; {body} return c; }}\n"

    def _some(self, text: str, chance: float) -> str:
        return text if self.random.random() < chance else ""

    def _attributes(self) -> str:
        return self._some(self.random.choice(_ATTRIBUTES), 0.6)

    def _statements(self, depth: int, jumps: tuple[str, ...]) -> str:
        count = self.random.choice((0, 0, 1, 1, 2, 3)) if depth else self.random.randrange(1, 5)
        return " ".join(self._statement(depth, jumps) for _ in range(count))

    def _body(self, depth: int, jumps: tuple[str, ...]) -> str:
        return f"{self._attributes()} {{ {self._statements(depth + 1, jumps)} }}"

    def _statement(self, depth: int, jumps: tuple[str, ...]) -> str:
        if depth > 3 or self.random.random() < 0.25:
            return self._simple(jumps)
        kinds = (self._if, self._if, self._while, self._for, self._switch, self._loop, self._block)
        return f"{self._attributes()} {self.random.choice(kinds)(depth, jumps)}"

    def _simple(self, jumps: tuple[str, ...]) -> str:
        if jumps and self.random.random() < 0.2:
            return f"if {self._bool()} {self._attributes()} {{ {self.random.choice(jumps)} }}"
        if self.random.random() < 0.2:
            self._names += 1
            value = self.random.choice(_BOOLS + _INTS)
            return f"{self.random.choice(('let', 'var'))} v{self._names} = {value};"
        return self.random.choice(_SIMPLE)

    def _bool(self) -> str:
        return self.random.choice(_BOOLS)

    def _if(self, depth: int, jumps: tuple[str, ...]) -> str:
        text = f"if {self._bool()} {self._body(depth, jumps)}"
        while self.random.random() < 0.3:
            text += f" else if {self._bool()} {self._body(depth, jumps)}"
        return text + (f" else {self._body(depth, jumps)}" if self.random.random() < 0.4 else "")

    def _while(self, depth: int, jumps: tuple[str, ...]) -> str:
        del jumps
        return f"while {self._bool()} {self._body(depth, ('break;', 'continue;'))}"

    def _for(self, depth: int, jumps: tuple[str, ...]) -> str:
        del jumps
        start = self._some("var k = number()", 0.5)
        update = self._some(self.random.choice(("i++", "number()", "_ = side()")), 0.7)
        return f"for ({start}; {self._bool()}; {update}) {self._body(depth, ('break;', 'continue;'))}"

    def _switch(self, depth: int, jumps: tuple[str, ...]) -> str:
        inner = ("break;", *(it for it in jumps if it != "break;"))
        cases = [f"case {number} {self._body(depth, inner)}" for number in range(self.random.randrange(3))]
        cases.insert(self.random.randrange(len(cases) + 1), f"default {self._body(depth, inner)}")
        return f"switch {self.random.choice(_INTS)} {self._attributes()} {{ {' '.join(cases)} }}"

    def _loop(self, depth: int, jumps: tuple[str, ...]) -> str:
        del jumps
        body = self._statements(depth + 1, ("break;", "continue;"))
        after = self._statements(depth + 1, ())
        if self.random.random() < 0.5:
            end = f"continuing {self._attributes()} {{ {after} break if {self._bool()}; }}"
            return f"loop {self._attributes()} {{ {body} {end} }}"
        end = self._some(f"continuing {self._attributes()} {{ {after} }}", 0.5)
        leave = f"if {self._bool()} {self._attributes()} {{ break; }}"
        return f"loop {self._attributes()} {{ {leave} {body} {end} }}"

    def _block(self, depth: int, jumps: tuple[str, ...]) -> str:
        return f"{{ {self._statements(depth + 1, jumps)} }}"
