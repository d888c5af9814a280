"""Random kernels without races, for comparing tiers and devices.

Each invocation owns `out[g]` and its slice of `tile`; what it reads of others' it reads between barriers. Every loop
has a bound, every number is an integer, so the answer is one whatever the device. Barriers stand where control is
uniform.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

LANES = 8


@dataclass
class Generator:
    """One kernel from one seed.

    `names` are the variables in scope that may be assigned, `values` those that may be read.
    """

    seed: int
    lines: list[str] = field(default_factory=list)
    indent: int = 1
    names: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    uniform: list[str] = field(default_factory=lambda: ["n", "w.x"])
    loops: int = 0
    depth: int = 0
    fresh: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def kernel(self) -> str:
        """The WGSL text."""
        shape = self.random.choice(["8", "8, 1", "4, 2", "2, 2, 2", "1, 8"])
        self.values += ["i", "g", "data[i]"]
        for _ in range(2):
            self.declare()
        for _ in range(self.random.randint(3, 6)):
            self.uniform_statement()
        body = "\n".join(self.lines)
        result = " ^ ".join(self.names)
        return f"""
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage> data: array<u32>;
@group(0) @binding(2) var<uniform> n: u32;
@group(0) @binding(3) var<storage, read_write> totals: array<atomic<u32>, 4>;
var<workgroup> tile: array<u32, 8>;
var<workgroup> counts: array<atomic<u32>, 4>;
var<private> state: u32;
fn mix(a: u32, b: u32) -> u32 {{ if (a > b) {{ return a - b; }} return a * 31u + b; }}
fn walk(p: ptr<function, u32>, by: u32) -> u32 {{
    for (var k = 0u; k < by % 5u; k++) {{ *p += k; if (*p % 7u == 3u) {{ return *p; }} }}
    state += by;
    return *p ^ by;
}}
@compute @workgroup_size({shape})
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u) {{
    let g = w.x * {LANES}u + i;
    let zero = n & 0u; // keeps literals from being const-expressions, which may be errors
    _ = &totals; _ = &data;
    var local = array<u32, 10>();
{body}
    out[g] = {result} ^ state ^ local[3] ^ local[i];
}}
"""

    def add(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def name(self, stem: str) -> str:
        self.fresh += 1
        return f"{stem}{self.fresh}"

    # Expressions

    def expression(self, depth: int = 2) -> str:
        """Some u32."""
        pick = self.random.random()
        if depth == 0 or pick < 0.25:
            return self.random.choice([*self.values, *self.names, f"(zero + {self.random.randint(0, 20)}u)"])
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        if pick < 0.8:
            operator = self.random.choice(["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"])
            return f"({left} {operator} {right})"
        if pick < 0.85:
            return f"select({left}, {right}, {self.condition(depth - 1)})"
        if pick < 0.9:
            return f"mix({left}, {right})"
        if pick < 0.95:
            return f"local[{left}]"
        function = self.random.choice(["max", "min"])
        return f"{function}({left}, {right})"

    def condition(self, depth: int = 1) -> str:
        """Some bool."""
        comparison = self.random.choice(["<", ">", "==", "!=", "<=", ">="])
        simple = f"{self.expression(depth)} {comparison} {self.expression(depth)}"
        if depth and self.random.random() < 0.3:
            return f"({simple}) {self.random.choice(['&&', '||'])} ({self.condition(0)})"
        return simple

    def uniform_expression(self) -> str:
        """A small u32 that is the same in all invocations of a workgroup."""
        return f"({self.random.choice(self.uniform)} + {self.random.randint(0, 3)}u) % 4u"

    # Statements

    def declare(self) -> None:
        name = self.name("v")
        self.add(f"var {name} = {self.expression()};")
        self.names.append(name)

    def block(self, statement: Callable[[], None], count: int) -> None:
        """Statements in a scope of their own."""
        scope = len(self.names), len(self.values), len(self.uniform)
        self.indent += 1
        self.depth += 1
        for _ in range(count):
            statement()
        self.depth -= 1
        self.indent -= 1
        del self.names[scope[0] :], self.values[scope[1] :], self.uniform[scope[2] :]

    def uniform_statement(self) -> None:
        """A statement where control is uniform: barriers may be inside."""
        pick = self.random.random()
        if pick < 0.3 or self.depth > 2:
            self.statement()
        elif pick < 0.55:
            self.exchange()
        elif pick < 0.75:
            counter = self.name("t")
            self.add(f"for (var {counter} = 0u; {counter} < {self.uniform_expression()}; {counter}++) {{")
            self.uniform.append(counter)
            self.values.append(counter)
            self.block(self.uniform_statement, self.random.randint(1, 3))
            if self.random.random() < 0.3:
                way = self.random.choice(["break", "continue"])
                self.add(f"    if ({counter} == {self.uniform_expression()}) {{ {way}; }}")
                self.block(self.uniform_statement, 1)
            self.uniform.remove(counter)
            self.values.remove(counter)
            self.add("}")
        elif pick < 0.9:
            self.add(f"if ({self.uniform_expression()} > {self.random.randint(0, 3)}u) {{")
            self.block(self.uniform_statement, self.random.randint(1, 2))
            self.add("} else {")
            self.block(self.uniform_statement, self.random.randint(0, 2))
            self.add("}")
        else:
            self.add(f"switch {self.uniform_expression()} {{")
            self.add("    case 0u, 2u: {")
            self.block(self.uniform_statement, 1)
            self.add("    }")
            self.add("    default: {")
            self.block(self.uniform_statement, 2)
            self.add("    }")
            self.add("}")

    def exchange(self) -> None:
        """Something passed between invocations, between barriers."""
        name = self.name("x")
        if self.random.random() < 0.3:
            self.add(f"atomicAdd(&counts[{self.expression(1)} % 4u], {self.expression(1)});")
            self.add("workgroupBarrier();")
            self.add(f"let {name} = atomicLoad(&counts[{self.expression(1)} % 4u]);")
        else:
            self.add(f"tile[i] = {self.expression()};")
            self.add("workgroupBarrier();")
            self.add(f"let {name} = tile[({self.expression(1)}) % {LANES}u];")
        self.add("workgroupBarrier();")
        self.values.append(name)

    def statement(self) -> None:
        """A statement for one invocation alone."""
        pick = self.random.random()
        target = self.random.choice(self.names)
        if pick < 0.35 or self.depth > 4:
            self.add(f"{target} {self.random.choice(['=', '+=', '^=', '*=', '-='])} {self.expression()};")
        elif pick < 0.45:
            self.declare()
        elif pick < 0.65:
            self.add(f"if ({self.condition()}) {{")
            self.block(self.statement, self.random.randint(1, 3))
            if self.random.random() < 0.5:
                self.add("} else {")
                self.block(self.statement, self.random.randint(1, 2))
            self.add("}")
        elif pick < 0.8:
            self.loop()
        elif pick < 0.86:
            self.add(f"switch ({self.expression()} % 4u) {{")
            self.add("    case 1u: {")
            self.block(self.statement, 1)
            self.add("    }")
            self.add("    case 2u, default: {")
            self.block(self.statement, 2)
            self.add("    }")
            self.add("}")
        elif pick < 0.9:
            self.add(f"local[{self.expression(1)}] = {self.expression()};")
        elif pick < 0.94:
            self.add(f"{target} = walk(&{self.random.choice(self.names)}, {self.expression(1)});")
        elif pick < 0.97:
            self.add(f"atomicXor(&totals[{self.expression(1)} % 4u], {self.expression(1)});")
        else:
            self.add(f"state = state * 5u + {self.expression(1)};")

    def loop(self) -> None:
        """A bounded loop, divergent, with ways out."""
        counter = self.name("k")
        self.loops += 1
        self.add(f"for (var {counter} = 0u; {counter} < ({self.expression(1)}) % 6u; {counter}++) {{")
        self.values.append(counter)
        self.block(self.statement, self.random.randint(1, 3))
        if self.random.random() < 0.5:
            way = self.random.choice(["break", "continue"])
            self.add(f"    if ({self.condition(0)}) {{ {way}; }}")
            self.block(self.statement, 1)
        self.values.remove(counter)
        self.add("}")
