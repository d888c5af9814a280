"""Random functions on integers of all widths, and on collections of them as a GPU's buffers hold them.

`generate_integers(seed)` always gives the same function. It takes one dynamic constant `n`, arrays and products of
integers, bools and floats, and scalars.
"""

from __future__ import annotations

import random

from tinct.ir.hercules import dynamic
from tinct.ir.hercules.arithmetic import ATOMIC_OPERANDS, integer_range
from tinct.ir.hercules.nodes import (
    Array,
    AtomicOp,
    BinaryOp,
    Float,
    Function,
    Integer,
    Module,
    Node,
    Product,
    Type,
    UnaryOp,
)
from tinct.ir.hercules.storage import Value
from tinct.ir.hercules.types import BOOL, F16, F32, I8, I16, I32, I64, U8, U16, U32, U64

from .generate import ARITHMETIC, BITS, COMPARISONS, Scope
from .generate_sums import SumGenerator

INTEGERS = (I8, I16, I32, I64, U8, U16, U32, U64)
FLOATS = (0.0, -0.0, 1.5, -2.75, 0.25, 300.0, -40000.0, float("nan"), float("inf"), float("-inf"))
BUFFERS = (I8, U8, I16, U16, I64, U64, BOOL, U8, I16, I32, F32, F16)
IN_PRODUCTS = (I8, U16, BOOL, I32, F32)


class IntegerGenerator(SumGenerator):
    numbers = (*INTEGERS, F32)
    scalars = (BOOL, *INTEGERS, F32, F16)
    returned = 12
    length = 12

    def statements(self, scope: Scope, count: int) -> None:
        for _ in range(self.random.randint(1, 2 * count)):
            self.arithmetic(scope)
        super().statements(scope, count)

    def parameter_type(self) -> Type:
        """A type whose parts lie at multiples of four bytes, however it is nested."""
        n, two, four = self.n, dynamic.literal(2), dynamic.literal(4)
        element = self.random.choice(BUFFERS)
        match self.random.randrange(5):
            case 0:
                return element
            case 1:
                return Array(Array(element, self.random.choice((two, dynamic.literal(3), four))), n)
            case 2:
                fields = [self.random.choice(IN_PRODUCTS) for _ in range(3)]
                return Array(Product((*fields, Array(self.random.choice((U8, BOOL, I16)), four))), two)
            case _:
                return Array(element, self.random.choice((n, n, n, dynamic.literal(5), dynamic.mul(n, two))))

    def type(self, depth: int) -> Type:
        kind = self.random.randrange(4) if depth > 0 else 3
        match kind:
            case 0:
                return Product(tuple(self.type(depth - 1) for _ in range(self.random.randint(1, 3))))
            case 1:
                return Array(self.type(depth - 1), self.random.choice(self.extents))
            case _:
                return self.random.choice(self.scalars)

    def constant(self, type: Type) -> Node:
        b = self.builder
        if isinstance(type, Integer):
            low, high = integer_range(type)
            some = [0, 1, 2, 3, 7, low, high, high // 2 + 1, *([-1, -5] if low else ())]
            wide = [1 << 31, (1 << 32) - 1, 1 << 32, (1 << 33) + 5] if type.bits == 64 else []
            return b.integer(type, self.random.choice(some + wide))
        if isinstance(type, Float):
            return b.floating(type, self.random.choice(FLOATS))
        return super().constant(type)

    def arithmetic(self, scope: Scope) -> None:
        b = self.builder
        type = self.random.choice(INTEGERS)
        x, y = self.scalar(scope, type), self.scalar(scope, type)
        match self.random.randrange(6):
            case 0:
                ops = (*COMPARISONS, BinaryOp.GREATER, BinaryOp.GREATER_EQUAL)
                self.keep(scope, BOOL, b.binary(self.random.choice(ops), x, y))
            case 1:
                source = self.random.choice(self.scalars)
                self.keep(scope, type, b.cast(type, self.scalar(scope, source)))
            case 2:
                target = self.random.choice(self.scalars)
                self.keep(scope, target, b.cast(target, x))
            case 3:
                self.keep(scope, type, b.unary(self.random.choice(tuple(UnaryOp)), x))
            case 4:
                same = Integer(type.bits, not type.signed)
                self.keep(scope, same, b.bitcast(same, x))
            case _:
                self.keep(scope, type, b.binary(self.random.choice((*ARITHMETIC, *BITS)), x, y))

    def atomic(self, scope: Scope) -> None:
        """GPUs have no atomics on 64 bits."""
        places = [it for it in self.places(scope) if isinstance(it[2], Integer) and it[2].bits < 64]
        if not places:
            return
        number, path, type = self.random.choice(places)
        op = self.random.choice(tuple(AtomicOp))
        operands = [self.scalar(scope, type) for _ in range(ATOMIC_OPERANDS.get(op, 1))]
        where = self.indices(scope, path)
        scope.arrays[number], old = self.builder.atomic(op, scope.arrays[number], where, operands)
        self.take(scope, type, old)


def arguments(function: Function, n: int, seed: int) -> list[Value]:
    """Values for the parameters of a function."""
    source = random.Random(seed)
    return [_value(type, n, source) for type in function.parameter_types]


def _value(type: Type, n: int, source: random.Random) -> Value:
    match type:
        case Product(fields):
            return [_value(it, n, source) for it in fields]
        case Array(element, extent):
            return [_value(element, n, source) for _ in range(dynamic.evaluate(extent, [n]))]
        case Float():
            return source.choice((0.0, 1.5, -2.0, 0.25))
        case Integer():
            low, high = integer_range(type)
            return source.choice((0, 1, 3, low, high, source.randint(low, high), source.randint(0, 9)))
        case _:
            return source.random() < 0.5


def generate_integers(seed: int) -> Module:
    """A module of one function."""
    return Module([IntegerGenerator(random.Random(seed), f"integers_{seed}", ()).function()])
