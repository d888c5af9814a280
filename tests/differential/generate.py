"""Random kernels without races, for comparing tiers and devices.

Each invocation owns `out[g]`, its element of `made` and its cell of `tile`; what it reads of others' it reads between
barriers, which stand where control is uniform. Every loop has a bound. Atomic operations on one array commute, and the
tickets that invocations draw are only summed up, so the answer is one whatever the order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from .expressions import LARGEST, Expressions, Scope

SHAPES = [(8,), (8, 1), (4, 2), (2, 2, 2), (1, 8), (1,), (3, 7), (16,), (20,), (32,), (33,), (8, 8), (16, 4), (64,)]
ITEM = np.dtype(
    {"names": ["a", "k", "b", "c"], "formats": ["3f4", "u4", "2f4", "i4"], "offsets": [0, 12, 16, 24], "itemsize": 32}
)


class Generator:
    """One kernel, and inputs for it, from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.write = Expressions(self.random)
        self.shape = self.random.choice(SHAPES)
        self.lanes = prod(self.shape)
        self.workgroups = self.random.choice([1, 2, 3])
        self.lines: list[str] = []
        self.indent = 1
        self.depth = 0
        self.fresh = 0

    @property
    def scope(self) -> Scope:
        """What can be named here."""
        return self.write.scope

    def buffers(self) -> Mapping[str, npt.NDArray[Any]]:
        """Inputs; some have fewer elements than there are invocations."""
        values = np.random.default_rng(self.random.getrandbits(32))
        total = self.workgroups * self.lanes
        items = np.zeros(self.random.choice([1, total // 2 + 1, total, total + 5]), ITEM)
        items["a"], items["b"] = values.integers(-999, 999, (items.size, 3)), values.integers(-99, 99, (items.size, 2))
        items["k"], items["c"] = values.integers(0, 2**32, items.size), values.integers(-9, 9, items.size)
        size = self.random.choice([1, self.lanes, total, total + 3])
        return {
            "out": np.zeros(self.random.choice([total, max(total - 3, 1)]), np.uint32),
            "data": values.integers(0, 2**32, size, dtype=np.uint32) >> values.integers(0, 32, size, dtype=np.uint32),
            "n": np.full((), values.integers(0, 4), np.uint32),
            "items": items,
            "made": np.zeros(total, ITEM),
            **{name: np.zeros(4, np.uint32) for name in ("sums", "tops", "bits")},
            "cursor": np.zeros((), np.uint32),
        }

    def kernel(self) -> str:
        """The WGSL text."""
        self.scope.names += ["pair.x", "pair.y"]
        self.scope.values += ["i", "g", "data[g]"]
        self.scope.floats += ["f", "items[g].a.x", "items[i].b.y"]
        self.scope.uniform += ["n", "w.x"]
        for _ in range(2):
            self.declare()
        for _ in range(self.random.randint(3, 6)):
            self.uniform_statement()
        body = "\n".join(self.lines)
        result = " ^ ".join(self.scope.names)
        own = self.random.choice(["g", f"{self.lanes}u * {self.workgroups}u - 1u - g", "(g ^ 1u)"])
        if own == "(g ^ 1u)" and self.lanes % 2:
            own = "g"
        return f"""
struct Item {{ a: vec3f, k: u32, b: vec2f, c: i32 }}
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage> data: array<u32>;
@group(0) @binding(2) var<uniform> n: u32;
@group(0) @binding(3) var<storage, read_write> sums: array<atomic<u32>, 4>;
@group(0) @binding(4) var<storage> items: array<Item>;
@group(0) @binding(5) var<storage, read_write> made: array<Item>;
@group(0) @binding(6) var<storage, read_write> tops: array<atomic<u32>, 4>;
@group(0) @binding(7) var<storage, read_write> bits: array<atomic<u32>, 4>;
@group(0) @binding(8) var<storage, read_write> cursor: atomic<u32>;
var<workgroup> tile: array<u32, {self.lanes}>;
var<workgroup> counts: array<atomic<u32>, 4>;
var<workgroup> chosen: u32;
var<private> state: u32;
fn mix(a: u32, b: u32) -> u32 {{ if (a > b) {{ return a - b; }} return a * 31u + b; }}
fn walk(p: ptr<function, u32>, by: u32) -> u32 {{
    for (var k = 0u; k < by % 5u; k++) {{ *p += k; if (*p % 7u == 3u) {{ return *p; }} }}
    state += by;
    return *p ^ by;
}}
@compute @workgroup_size({", ".join(map(str, self.shape))})
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u) {{
    let g = w.x * {self.lanes}u + i;
    let zero = n & 0u; // keeps literals from being const-expressions, which may be errors
    _ = &sums; _ = &tops; _ = &bits; _ = &data; _ = &items; _ = &cursor;
    var local = array<u32, 10>();
    var pair = vec2u(i, n);
    var f = 1.5;
{body}
    if (g < arrayLength(&out)) {{
        out[g] = {result} ^ state ^ local[3] ^ local[i];
    }}
    let slot = {own};
    if (slot < arrayLength(&made)) {{
        made[slot] = Item(vec3f(f, items[g].a.zx), {result}, items[i].b * 2.0, i32(slot));
    }}
}}
"""

    def add(self, line: str) -> None:
        """A line at the current indentation."""
        self.lines.append("    " * self.indent + line)

    def name(self, stem: str) -> str:
        """A name not used before."""
        self.fresh += 1
        return f"{stem}{self.fresh}"

    # Statements

    def declare(self) -> None:
        """A new variable."""
        name = self.name("v")
        self.add(f"var {name} = {self.write.integer()};")
        self.scope.names.append(name)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """A scope of its own."""
        outer = self.write.scope
        self.write.scope = outer.copy()
        self.indent += 1
        self.depth += 1
        yield
        self.depth -= 1
        self.indent -= 1
        self.write.scope = outer

    def block(self, statement: Callable[[], None], count: int) -> None:
        """Statements in a scope of their own."""
        with self.inside():
            for _ in range(count):
                statement()

    def branches(self, condition: str, statement: Callable[[], None], then: int, otherwise: int) -> None:
        """An if statement, with an else-branch if `otherwise` is not 0."""
        self.add(f"if ({condition}) {{")
        self.block(statement, then)
        if otherwise:
            self.add("} else {")
            self.block(statement, otherwise)
        self.add("}")

    def switch(self, selector: str, statement: Callable[[], None]) -> None:
        """A switch over 0 to 3."""
        self.add(f"switch ({selector}) {{")
        for labels, count in self.random.choice(
            [(("case 0u, 2u", 1), ("default", 2)), (("case 1u", 1), ("case 2u, default", 2), ("case 3u", 1))]
        ):
            self.add(f"    {labels}: {{")
            self.block(statement, count)
            self.add("    }")
        self.add("}")

    def loop(self, end: str, way_out: str, statement: Callable[[], None], *, is_uniform: bool) -> None:
        """A counted loop, perhaps with a break or a continue in its middle."""
        counter = self.name("k")
        self.add(f"for (var {counter} = 0u; {counter} < {end}; {counter}++) {{")
        with self.inside():
            self.scope.values.append(counter)
            if is_uniform:
                self.scope.uniform.append(counter)
            for _ in range(self.random.randint(1, 3)):
                statement()
            if self.random.random() < 0.4:
                self.add(f"if ({way_out}) {{ {self.random.choice(['break', 'continue'])}; }}")
                statement()
        self.add("}")

    def uniform_statement(self) -> None:
        """A statement where control is uniform: barriers may be inside."""
        pick, count = self.random.random(), self.random.randint(1, 2)
        if pick < 0.3 or self.depth > 2:
            self.statement()
        elif pick < 0.55:
            self.exchange()
        elif pick < 0.75:
            self.loop(self.write.uniform(), self.write.agreed(), self.uniform_statement, is_uniform=True)
        elif pick < 0.88:
            self.branches(self.write.agreed(), self.uniform_statement, count, self.random.randint(0, 2))
        elif pick < 0.92:
            self.add(f"if ({self.write.agreed()} && n != 0u) {{ out[g] = {self.write.integer()}; return; }}")
            self.declare()
        else:
            self.switch(self.write.uniform(), self.uniform_statement)

    def exchange(self) -> None:
        """Something passed between invocations, between barriers."""
        name = self.name("x")
        value, at = self.write.integer(1), self.write.integer(1)
        pick = self.random.random()
        if pick < 0.25:
            self.add(f"atomicAdd(&counts[({at}) % 4u], {value});")
            self.add("workgroupBarrier();")
            self.add(f"let {name} = atomicLoad(&counts[{self.write.integer(1)} % 4u]);")
        elif pick < 0.35:
            self.add(f"if (i == {self.lanes - 1}u) {{ chosen = {value}; }}")
            self.add(f"let {name} = workgroupUniformLoad(&chosen);")
            self.scope.uniform.append(name)
        else:
            self.add(f"tile[i] = {self.write.integer()};")
            self.add("workgroupBarrier();")
            if pick < 0.5 and self.lanes & (self.lanes - 1) == 0:
                self.add(f"for (var s = {self.lanes // 2}u; s > 0u; s >>= 1u) {{")
                self.add("    if (i < s) { tile[i] += tile[i + s]; }")
                self.add("    workgroupBarrier();")
                self.add("}")
            position = self.random.choice([f"({at})", "(i ^ 1u)", "(i + 1u)", "(i * 3u)", f"({self.lanes - 1}u - i)"])
            self.add(f"let {name} = tile[{position} % {self.lanes}u];")
        self.add("workgroupBarrier();")
        self.scope.values.append(name)

    def statement(self) -> None:
        """A statement for one invocation alone."""
        pick = self.random.random()
        if pick < 0.4 or self.depth > 4:
            self.assign()
        elif pick < 0.5:
            self.declare()
        elif pick < 0.68:
            then, otherwise = self.random.randint(1, 3), self.random.choice([0, 1, 2])
            self.branches(self.write.condition(), self.statement, then, otherwise)
        elif pick < 0.82:
            self.loop(f"({self.write.integer(1)}) % 6u", self.write.condition(0), self.statement, is_uniform=False)
        elif pick < 0.88:
            self.switch(f"({self.write.integer()}) % 4u", self.statement)
        else:
            self.effect()

    def assign(self) -> None:
        """A variable's new value."""
        if self.random.random() < 0.15:
            self.add(f"f = clamp({self.write.number(2)}, -{LARGEST}, {LARGEST});")
            return
        operator = self.random.choice(["=", "+=", "^=", "*=", "-="])
        self.add(f"{self.random.choice(self.scope.names)} {operator} {self.write.integer()};")

    def effect(self) -> None:
        """Something written that others may see, or that a function writes."""
        value, at = self.write.integer(1), self.write.integer(1)
        scalars = [it for it in self.scope.names if "." not in it]
        walk = f"{scalars[0]} = walk(&{self.random.choice(scalars)}, {value});"
        forms = [f"local[{at}] = {self.write.integer()};", walk, f"state = state * 5u + {value};"]
        forms += [f"pair[({at}) & 1u] = {value};", f"atomicAdd(&sums[{self.random.randint(0, 3)}], {value});"]
        forms += [f"atomicAdd(&sums[{at}], {value});", f"atomicMax(&tops[({at}) % 4u], {value});"]
        forms += [f"atomicXor(&bits[{at}], {value});", "atomicAdd(&sums[0], mix(atomicAdd(&cursor, 1u), 77u));"]
        self.add(self.random.choice(forms))
