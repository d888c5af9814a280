"""Random functions of Hercules IR that verify: arithmetic, branches, loops, forks, and linear use of arrays.

`generate(seed)` always gives the same function. It takes one dynamic constant `n` (any value), an array of `n` i32
and a u32, and returns the product of its arrays and some scalars.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from tinct.ir.hercules import dynamic
from tinct.ir.hercules.inference import infer_types
from tinct.ir.hercules.nodes import AtomicOp, BinaryOp, Function, Module, Node, Phi, Reduce, Type, UnaryOp
from tinct.ir.hercules.types import BOOL, F32, I32, U32, U64, array, product

from .builder import FunctionBuilder, position

ARITHMETIC = (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.DIV, BinaryOp.REM)
BITS = (BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR, BinaryOp.SHIFT_LEFT, BinaryOp.SHIFT_RIGHT)
COMPARISONS = (BinaryOp.LESS, BinaryOp.LESS_EQUAL, BinaryOp.EQUAL, BinaryOp.NOT_EQUAL)
NUMBERS = (I32, U32, U64, F32)
ATOMICS = (AtomicOp.ADD, AtomicOp.MAX, AtomicOp.EXCHANGE, AtomicOp.LOAD, AtomicOp.XOR)


@dataclass
class Scope:
    """What a statement may use: scalars by type, and the version of each array, with its element type."""

    control: Node
    scalars: dict[Type, list[Node]]
    arrays: list[Node]
    elements: list[Type] = field(default_factory=list)

    def inner(self, control: Node) -> Scope:
        return Scope(
            control, {type: list(them) for type, them in self.scalars.items()}, list(self.arrays), list(self.elements)
        )


class Generator:
    numbers: Sequence[Type] = NUMBERS

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.builder = FunctionBuilder(f"random_{seed}")
        self.budget = 4

    def function(self) -> Function:
        b = self.builder
        self.n = b.dynamic_parameter("n")
        first = b.parameter("first", array(I32, self.n))
        seed = b.parameter("seed", U32)
        scope = Scope(
            b.start,
            {I32: [b.integer(I32, -3)], U32: [seed], U64: [b.dynamic(self.n)], F32: [], BOOL: []},
            [first],
            [I32],
        )
        self.statements(scope, 6)
        results = [*scope.arrays, self.scalar(scope, I32), self.scalar(scope, F32), self.scalar(scope, BOOL)]
        value = b.product(results)
        b.return_(scope.control, value)
        types = infer_types(b.function)
        b.function.return_type = product(*(types[it] for it in results))
        return b.function

    def statements(self, scope: Scope, count: int) -> None:
        for _ in range(self.random.randint(1, count)):
            kinds = [self.arithmetic, self.arithmetic, self.read, self.write, self.near, self.local]
            if self.budget > 0:
                kinds += [self.branch, self.loop, self.fork, self.atomic, self.guarded]
            self.random.choice(kinds)(scope)

    def scalar(self, scope: Scope, type: Type) -> Node:
        found = scope.scalars[type]
        if found and self.random.random() < 0.85:
            return self.random.choice(found)
        return self.constant(type)

    def constant(self, type: Type) -> Node:
        b = self.builder
        if type == BOOL:
            return b.boolean(self.random.random() < 0.5)
        if type == F32:
            return b.floating(F32, self.random.choice([0.0, -0.0, 1.5, -2.0, float("nan"), float("inf"), 2.0**100]))
        values = [0, 1, 2, 3, 7, 31] + ([-1, -(2**31)] if type == I32 else [2**32 - 1])
        return b.integer(type, self.random.choice(values))

    def keep(self, scope: Scope, type: Type, node: Node) -> None:
        scope.scalars[type].append(node)

    def arithmetic(self, scope: Scope) -> None:
        b = self.builder
        type = self.random.choice(self.numbers)
        match self.random.randrange(6):
            case 0:
                self.keep(
                    scope,
                    BOOL,
                    b.binary(self.random.choice(COMPARISONS), self.scalar(scope, type), self.scalar(scope, type)),
                )
            case 1:
                op = self.random.choice((BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR))
                self.keep(scope, BOOL, b.binary(op, self.scalar(scope, BOOL), self.scalar(scope, BOOL)))
            case 2:
                chosen = b.select(self.scalar(scope, BOOL), self.scalar(scope, type), self.scalar(scope, type))
                self.keep(scope, type, chosen)
            case 3:
                source = self.random.choice((*self.numbers, BOOL))
                self.keep(scope, type, b.cast(type, self.scalar(scope, source)))
            case 4 if type in (I32, U32):
                self.keep(scope, type, b.unary(UnaryOp.NOT, self.scalar(scope, type)))
            case _:
                ops = ARITHMETIC if type == F32 else ARITHMETIC + BITS
                self.keep(
                    scope, type, b.binary(self.random.choice(ops), self.scalar(scope, type), self.scalar(scope, type))
                )

    def pick(self, scope: Scope) -> int:
        return self.random.randrange(len(scope.arrays))

    def read(self, scope: Scope) -> None:
        number = self.pick(scope)
        value = self.builder.read(scope.arrays[number], [position(self.scalar(scope, U64))])
        self.keep(scope, scope.elements[number], value)

    def write(self, scope: Scope) -> None:
        number = self.pick(scope)
        value = self.scalar(scope, scope.elements[number])
        where = position(self.scalar(scope, U64))
        scope.arrays[number] = self.builder.write(scope.arrays[number], value, [where])

    def near(self, scope: Scope) -> None:
        """Accesses at what was computed last, often the number of a thread or of a turn."""
        number, where = self.pick(scope), scope.scalars[U64][-1]
        self.keep(scope, scope.elements[number], self.builder.read(scope.arrays[number], [position(where)]))
        value = self.scalar(scope, scope.elements[number])
        scope.arrays[number] = self.builder.write(scope.arrays[number], value, [position(where)])

    def atomic(self, scope: Scope) -> None:
        number = self.pick(scope)
        element = scope.elements[number]
        if element == F32:
            return
        op = self.random.choice(ATOMICS)
        operands = [] if op is AtomicOp.LOAD else [self.scalar(scope, element)]
        where = position(self.scalar(scope, U64))
        scope.arrays[number], old = self.builder.atomic(op, scope.arrays[number], [where], operands)
        self.keep(scope, element, old)

    def local(self, scope: Scope) -> None:
        """An array of its own: in a branch, a loop or a fork it goes out of scope."""
        element = self.random.choice((I32, F32))
        scope.arrays.append(self.builder.zero(array(element, self.random.choice((1, 3)))))
        scope.elements.append(element)

    def branch(self, scope: Scope) -> None:
        self.budget -= 1
        b = self.builder
        if_false, if_true = b.if_(scope.control, self.scalar(scope, BOOL))
        arms = [scope.inner(if_false), scope.inner(if_true)]
        for arm in arms:
            self.statements(arm, 3)
        scope.control = region = b.region(arm.control for arm in arms)
        for number, before in enumerate(scope.arrays):
            versions = [arm.arrays[number] for arm in arms]
            if any(it is not before for it in versions):
                scope.arrays[number] = b.phi(region, versions)
        type = self.random.choice(self.numbers)
        self.keep(scope, type, b.phi(region, [self.scalar(arm, type) for arm in arms]))

    def guarded(self, scope: Scope) -> None:
        """Accesses under a comparison of their position, which may be in range then."""
        self.budget -= 1
        b = self.builder
        number, type = self.pick(scope), self.random.choice((U32, U64))
        where = self.scalar(scope, type)
        limit = b.dynamic(self.random.choice((self.n, dynamic.literal(1), dynamic.literal(3))))
        condition = b.binary(self.random.choice(COMPARISONS), where, limit if type is U64 else b.cast(U32, limit))
        if self.random.random() < 0.3:
            condition = b.binary(self.random.choice((BinaryOp.AND, BinaryOp.OR)), condition, self.scalar(scope, BOOL))
        ways = b.if_(scope.control, condition)
        arm = scope.inner(ways[1])
        if self.random.random() < 0.3:
            where = b.binary(self.random.choice((*ARITHMETIC, *BITS)), where, self.constant(type))
        at = position(where if type is U64 else b.cast(U64, where))
        value = b.read(arm.arrays[number], [at])
        self.keep(arm, scope.elements[number], value)
        arm.arrays[number] = b.write(arm.arrays[number], self.scalar(arm, scope.elements[number]), [at])
        scope.control = region = b.region([ways[0], arm.control])
        scope.arrays[number] = b.phi(region, [scope.arrays[number], arm.arrays[number]])
        before = self.scalar(scope, scope.elements[number])
        self.keep(scope, scope.elements[number], b.phi(region, [before, value]))

    def loop(self, scope: Scope) -> None:
        self.budget -= 1
        b = self.builder
        region = b.region([scope.control])
        counter = b.phi(region, [b.integer(U64, 0)])
        type = self.random.choice(self.numbers)
        carried = b.phi(region, [self.scalar(scope, type)])
        scope.arrays = list[Node](b.phi(region, [it]) for it in scope.arrays)
        phis = [it for it in scope.arrays if isinstance(it, Phi)]
        bound = self.random.choice((b.integer(U64, 0), b.integer(U64, 1), b.integer(U64, 3), b.dynamic(self.n)))
        more = b.binary(BinaryOp.LESS, counter, bound)
        leave, enter = b.if_(region, more)
        body = scope.inner(enter)
        self.keep(body, type, carried)
        self.keep(body, U64, counter)
        if self.random.random() < 0.5:
            self.near(body)
        self.statements(body, 4)
        b.add_predecessor(region, body.control)
        b.add_value(counter, b.binary(BinaryOp.ADD, counter, b.integer(U64, 1)))
        b.add_value(carried, self.scalar(body, type))
        for phi, version in zip(phis, body.arrays, strict=False):
            b.add_value(phi, version)
        scope.control = leave
        self.keep(scope, type, carried)

    def fork(self, scope: Scope) -> None:
        self.budget -= 1
        b = self.builder
        factor = self.random.choice((dynamic.literal(0), dynamic.literal(1), dynamic.literal(3), self.n))
        fork = b.fork(scope.control, factor)
        join = b.open_join(fork)
        type = self.random.choice(self.numbers)
        carried = b.reduce(join, self.scalar(scope, type))
        scope.arrays = list[Node](b.reduce(join, it) for it in scope.arrays)
        reduces = [it for it in scope.arrays if isinstance(it, Reduce)]
        body = scope.inner(fork)
        self.keep(body, type, carried)
        self.keep(body, U64, b.thread_id(fork))
        if self.random.random() < 0.5:
            self.near(body)
        self.statements(body, 4)
        b.close_join(join, body.control)
        carried.update = self.scalar(body, type)
        for reduce, version in zip(reduces, body.arrays, strict=False):
            reduce.update = version
        scope.control = join
        self.keep(scope, type, carried)
        element = self.random.choice((I32, F32))
        scope.arrays.append(b.collect(join, self.scalar(body, element)))
        scope.elements.append(element)


def generate(seed: int) -> Module:
    """A module of one function."""
    return Module([Generator(seed).function()])
