"""Random shaders of many functions that call each other: in loops, under conditions, with values and pointers.

Functions have parameters of several types, read a binding, change a private variable and what pointers point to, and
return early; each calls functions before it. All arithmetic is on whole numbers, so that every device has one answer.
"""

from __future__ import annotations

import random

KINDS = {"u32": "u32({})", "vec2u": "vec2u({}, 7)", "S": "S({}, vec2u(3, 4), array<u32, 3>(1, 2, 5), true)"}
"""Types of values, and how to make one of a number."""
_AS_NUMBER = {
    "u32": ["{}"],
    "vec2u": ["{}.x", "{}.y", "{}[{} & 1]"],
    "S": ["{}.n", "{}.v.y", "{}.a[{} % 3]", "select(5u, 9u, {}.is_set)"],
}
HEAD = """
struct S { n: u32, v: vec2u, a: array<u32, 3>, is_set: bool }
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage> data: array<u32>;
@group(0) @binding(2) var<uniform> same: u32;
var<private> state: array<u32, 2>;
"""


class CallGenerator:
    """One shader, from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.functions: list[tuple[str, list[tuple[str, bool]], str]] = []
        """Names, the parameters' types and whether they are pointers, and result types; "" for none."""
        self.lines: list[str] = []
        self.fresh = 0

    def shader(self) -> str:
        """The WGSL text."""
        for number in range(self.random.randint(2, 5)):
            self._function(f"f{number}")
        self.lines += ["@compute @workgroup_size(16)", "fn main(@builtin(global_invocation_id) g: vec3u) {"]
        self.lines += ["    var n = data[g.x]; var s = S(g.x, vec2u(n, 2), array<u32, 3>(), false);"]
        self.lines += ["    var i = same; var w = vec2u(same, n);"]
        for _ in range(self.random.randint(2, 4)):
            self._statement(1, [("n", "u32"), ("s", "S"), ("w", "vec2u"), ("i", "u32")], 2)
        self.lines += ["    out[g.x] = n ^ i ^ s.n ^ (s.v.x * 3) ^ s.a[n % 3] ^ w.x ^ w.y ^ state[0] ^ state[1]; }"]
        return HEAD + "\n".join(self.lines) + "\n"

    def _function(self, name: str) -> None:
        parameters = [(self._kind(), self.random.random() < 0.4) for _ in range(self.random.randint(1, 3))]
        result = self.random.choice([*KINDS, "u32", ""])
        declared = [f"p{k}: ptr<function, {it}>" if by else f"p{k}: {it}" for k, (it, by) in enumerate(parameters)]
        self.lines.append(f"fn {name}({', '.join(declared)}) {f'-> {result}' if result else ''} {{")
        self.lines.append("    var n = 3u; var s = S(); var w = vec2u(5, same); var i = 1u;")
        names = [("n", "u32"), ("s", "S"), ("w", "vec2u"), ("i", "u32")]
        for number, (kind, by) in enumerate(parameters):
            self.lines.append(f"    var q{number} = {'*' if by else ''}p{number};")
            names.append((f"q{number}", kind))
        for _ in range(self.random.randint(1, 3)):
            self._statement(1, names, 2)
            if result and self.random.random() < 0.4:
                self.lines.append(f"    if {self._condition(names)} {{ return {self._value(result, names)}; }}")
        for number, (kind, by) in enumerate(parameters):
            if by:
                self.lines.append(f"    *p{number} = {self._value(kind, names)};")
        self.lines.append(f"    return {self._value(result, names)}; }}" if result else "}")
        self.functions.append((name, parameters, result))

    def _kind(self) -> str:
        return self.random.choice(list(KINDS))

    def _number(self, names: list[tuple[str, str]]) -> str:
        if self.random.random() < 0.25:
            return self.random.choice(["same", "state[0]", "data[n]", f"{self.random.randint(1, 9)}u", "data[same]"])
        name, kind = self.random.choice(names)
        return self.random.choice(_AS_NUMBER[kind]).format(name, "n")

    def _term(self, names: list[tuple[str, str]]) -> str:
        operator = self.random.choice(["+", "*", "^", "-", "&", "%", "/"])
        return f"({self._number(names)} {operator} {self._number(names)})"

    def _value(self, kind: str, names: list[tuple[str, str]]) -> str:
        fitting = [name for name, it in names if it == kind]
        if fitting and self.random.random() < 0.4:
            return self.random.choice(fitting)
        return KINDS[kind].format(self._term(names))

    def _condition(self, names: list[tuple[str, str]]) -> str:
        return self.random.choice([f"{self._term(names)} % 3 == 0", f"{self._number(names)} > 9", "same > 1"])

    def _statement(self, depth: int, names: list[tuple[str, str]], left: int) -> None:
        make = self.random.choice([self._call, self._call, self._assignment, self._if, self._loop])
        (make if left > 0 or make is self._assignment else self._call)(depth, names, left - 1)

    def _add(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def _assignment(self, depth: int, names: list[tuple[str, str]], _left: int) -> None:
        name, kind = self.random.choice(names)
        targets = {"u32": ["{}"], "vec2u": ["{}.y", "{}[n & 1]"], "S": ["{}.n", "{}.v.x", "{}.a[n % 3]"]}[kind]
        target = self.random.choice([*targets, "state[n & 1]"]).format(name)
        self._add(depth, f"{target} = {self._term(names)};")

    def _if(self, depth: int, names: list[tuple[str, str]], left: int) -> None:
        self._add(depth, f"if {self._condition(names)} {{")
        self._statement(depth + 1, names, left)
        if self.random.random() < 0.5:
            self._add(depth, "} else {")
            self._statement(depth + 1, names, left)
        self._add(depth, "}")

    def _loop(self, depth: int, names: list[tuple[str, str]], left: int) -> None:
        self.fresh += 1
        count = self.random.choice(["2", "n % 4", "same % 3", "(i & 1)"])
        self._add(depth, f"for (var k{self.fresh} = 0u; k{self.fresh} < {count}; k{self.fresh}++) {{")
        self._statement(depth + 1, names, left)
        if self.random.random() < 0.4:
            self._add(depth + 1, f"if {self._condition(names)} {{ {self.random.choice(['break', 'continue'])}; }}")
        self._add(depth, "}")

    def _call(self, depth: int, names: list[tuple[str, str]], left: int) -> None:
        if not self.functions:
            return self._assignment(depth, names, left)
        function, parameters, result = self.random.choice(self.functions)
        given: dict[str, None] = {}
        arguments: list[str] = []
        for kind, is_pointer in parameters:
            free = [name for name, it in names if it == kind and name not in given]
            if is_pointer and not free:
                return self._assignment(depth, names, left)
            if is_pointer:
                given[self.random.choice(free)] = None
                arguments.append(f"&{list(given)[-1]}")
            else:
                arguments.append(self._value(kind, names))
        targets = [name for name, it in names if it == result]
        call = f"{function}({', '.join(arguments)})"
        self._add(
            depth, f"{self.random.choice(targets)} = {call};" if targets else f"{'_ = ' if result else ''}{call};"
        )
        return None
