"""Random WGSL expressions whose value is the same on every device, bit for bit.

Integers are total in WGSL. Numbers of type f32 are built of correctly rounded operations, and kept so small that none
overflows: a sum, a difference or a product of numbers below `LARGEST` is finite, and what a variable gets is clamped.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

LARGEST = "1e4"


@dataclass
class Scope:
    """What a place in a kernel can name: `names` may be assigned and read, `values` and `floats` be read, and all
    invocations of a workgroup agree on `uniform`."""

    names: list[str] = field(default_factory=list[str])
    values: list[str] = field(default_factory=list[str])
    floats: list[str] = field(default_factory=list[str])
    uniform: list[str] = field(default_factory=list[str])

    def copy(self) -> Scope:
        """A scope inside this one."""
        return Scope([*self.names], [*self.values], [*self.floats], [*self.uniform])


class Expressions:
    """Writes expressions over a scope."""

    def __init__(self, generator: random.Random) -> None:
        self.random = generator
        self.scope = Scope()

    def literal(self, greatest: int = 20) -> str:
        """A number that is not a const-expression, so that overflow in it is no error."""
        return f"(zero + {self.random.randint(0, greatest)}u)"

    def integer(self, depth: int = 2) -> str:
        """Some u32."""
        if depth == 0 or self.random.random() < 0.25:
            return self.random.choice([*self.scope.values, *self.scope.names, self.literal()])
        write = self.random.choices(
            [self._arithmetic, self._signed, self._call, self._read, self._from_float], [55, 10, 15, 15, 5]
        )[0]
        return write(depth - 1)

    def _arithmetic(self, depth: int) -> str:
        operator = self.random.choice(["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"])
        return f"({self.integer(depth)} {operator} {self.integer(depth)})"

    def _signed(self, depth: int) -> str:
        left, right = f"bitcast<i32>({self.integer(depth)})", f"bitcast<i32>({self.integer(depth)})"
        form = self.random.choice(["{0} / {1}", "{0} % {1}", "max({0}, {1})", "abs({0})", "{0} >> (bitcast<u32>({1}))"])
        return f"bitcast<u32>({form.format(left, right)})"

    def _call(self, depth: int) -> str:
        left, right = self.integer(depth), self.integer(depth)
        forms = ["mix({0}, {1})", "min({0}, {1})", "max({0}, {1})", "countOneBits({0})", "reverseBits({0})"]
        forms += ["firstLeadingBit({0})", "dot(vec2u({0}, {1}), pair.yx)", "extractBits({0}, {1}, 7u)"]
        if self.random.random() < 0.4:
            return f"select({left}, {right}, {self.condition(depth)})"
        return self.random.choice(forms).format(left, right)

    def _read(self, depth: int) -> str:
        at = self.position(depth)
        return self.random.choice([f"local[{at}]", f"data[{at}]", f"items[{at}].k", f"pair[({at}) & 1u]"])

    def position(self, depth: int) -> str:
        """An index: near the invocation's own, wrapped around, or anything."""
        size = "arrayLength(&data)"
        forms = ["g", "g + 1u", "i - 1u", "g * 2u + 1u", f"(g + {size} - 1u) % {size}", f"min(g + 3u, {size} - 1u)"]
        return self.random.choice([*forms, self.integer(depth), self.integer(depth)])

    def _from_float(self, depth: int) -> str:
        return f"u32(clamp({self.number(depth)}, 0.0, {LARGEST}))"

    def number(self, depth: int = 1) -> str:
        """Some f32, at most the square of LARGEST or so."""
        if depth == 0 or self.random.random() < 0.3:
            leaves = [*self.scope.floats, f"f32({self.integer(0)} % 1000u)", f"items[{self.position(0)}].a.y"]
            return self.random.choice(leaves)
        left, right = self.leaf_number(), self.leaf_number()
        form = self.random.choice(
            ["{0} + {1}", "{0} - {1}", "{0} * {1}", "min({0}, {1})", "max({0}, -{1})", "abs({0})"]
        )
        return f"({form.format(left, right)})"

    def leaf_number(self) -> str:
        """An f32 of at most LARGEST."""
        return self.number(0)

    def condition(self, depth: int = 1) -> str:
        """Some bool."""
        comparison = self.random.choice(["<", ">", "==", "!=", "<=", ">="])
        if self.random.random() < 0.15:
            simple = f"{self.number(1)} {comparison} {self.number(1)}"
        else:
            simple = f"{self.integer(depth)} {comparison} {self.integer(depth)}"
        if depth and self.random.random() < 0.3:
            return f"({simple}) {self.random.choice(['&&', '||'])} ({self.condition(0)})"
        return simple

    def uniform(self) -> str:
        """A small u32 that is the same in all invocations of a workgroup."""
        return f"({self.random.choice(self.scope.uniform)} + {self.random.randint(0, 3)}u) % 4u"

    def agreed(self) -> str:
        """Some bool that is the same in all invocations of a workgroup: also of parts that are tried in order, and of
        functions that return early, which take branches of their own.
        """
        left, right = self.uniform(), self.uniform()
        forms = [f"{left} == {right}", f"{left} > {self.random.randint(0, 3)}u", f"mix({left}, {right}) % 3u == 1u"]
        simple = self.random.choice(forms)
        if self.random.random() < 0.4:
            return f"({simple} {self.random.choice(['&&', '||'])} {self.random.choice(forms)})"
        return f"({simple})"
