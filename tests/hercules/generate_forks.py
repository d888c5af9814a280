"""Random functions as `generate` makes them, with more of what the passes on forks look for, and with sums and calls.

`generate_forks(seed)` always gives the same module: the function comes first, then what it calls. Its dynamic constant,
parameters and results are those of `generate`.
"""

from __future__ import annotations

from tinct.ir.hercules import dynamic
from tinct.ir.hercules.nodes import (
    BinaryOp,
    DynamicConstant,
    Function,
    Join,
    Module,
    Node,
    Reduce,
    Summation,
    Type,
)
from tinct.ir.hercules.types import F32, I32, U32, U64, array

from .builder import FunctionBuilder, position, variant
from .generate import Generator, Scope

FOLDS = (BinaryOp.ADD, BinaryOp.MUL, BinaryOp.XOR, BinaryOp.OR)


class ForkGenerator(Generator):
    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.budget = 5
        self.helper = helper()

    def statements(self, scope: Scope, count: int) -> None:
        if self.budget > 0 and self.random.random() < 0.8:
            self.random.choice([self.gather, self.gather, self.nest, self.nest, self.cases, self.called])(scope)
        super().statements(scope, count)

    def factor(self) -> DynamicConstant:
        three = dynamic.literal(3)
        return self.random.choice((three, dynamic.literal(6), self.n, self.n, dynamic.mul(self.n, three)))

    def gather(self, scope: Scope) -> None:
        """One to three neighbouring forks that keep to their own elements, fold and collect."""
        factor = self.factor()
        b = self.builder
        own: Node = b.zero(array(I32, factor))
        total: Node = self.scalar(scope, U32)
        collected: Node | None = None
        op = self.random.choice(FOLDS)
        for _ in range(self.random.randint(1, 3)):
            self.budget -= 1
            fork = b.fork(scope.control, factor)
            join = b.open_join(fork)
            number = b.thread_id(fork)
            body = scope.inner(fork)
            self.keep(body, U64, number)
            self.keep(body, U32, b.cast(U32, number))
            if collected is not None and self.random.random() < 0.8:
                where = number if self.random.random() < 0.8 else self.scalar(body, U64)
                self.keep(body, I32, b.read(collected, [position(where)]))
            own = self.own_elements(body, join, own, number)
            total = self.folded(body, join, total, op if self.random.random() < 0.8 else self.random.choice(FOLDS))
            if self.random.random() < 0.7:
                collected = b.collect(join, self.scalar(body, I32))
            b.close_join(join, body.control)
            scope.control = join
        scope.arrays += [own]
        scope.elements += [I32]
        self.keep(scope, U32, total)
        if collected is not None and self.random.random() < 0.5:
            scope.arrays += [collected]
            scope.elements += [I32]

    def own_elements(self, body: Scope, join: Join, start: Node, number: Node) -> Node:
        b = self.builder
        carried = b.reduce(join, start)
        version: Node = carried
        where = position(number if self.random.random() < 0.9 else self.scalar(body, U64))
        if self.random.random() < 0.4:
            self.keep(body, I32, b.read(version, [where]))
        for _ in range(self.random.randint(1, 2)):
            value = b.binary(BinaryOp.ADD, self.scalar(body, I32), b.cast(I32, number))
            if self.random.random() < 0.7:
                version = b.write(version, value, [where])
            else:
                version = self.guarded_write(body, version, value, number)
        carried.update = version
        return carried

    def guarded_write(self, body: Scope, version: Node, value: Node, number: Node) -> Node:
        b = self.builder
        less = b.binary(BinaryOp.LESS, number, b.dynamic(self.random.choice((self.n, dynamic.literal(2)))))
        without, within = b.if_(body.control, less)
        body.control = b.region([without, within])
        return b.phi(body.control, [version, b.write(version, value, [position(number)])])

    def folded(self, body: Scope, join: Join, start: Node, op: BinaryOp) -> Node:
        b = self.builder
        carried = b.reduce(join, start)
        carried.update = b.binary(op, carried, self.scalar(body, U32))
        return carried

    def nest(self, scope: Scope) -> None:
        """A fork right inside another, over elements of a table."""
        self.budget -= 2
        b = self.builder
        rows, columns = self.factor(), self.random.choice((dynamic.literal(2), self.n))
        table = b.zero(array(array(I32, columns), rows))
        outer = b.fork(scope.control, rows)
        inner = b.fork(outer, columns)
        outer_join, inner_join = b.open_join(outer), b.open_join(inner)
        numbers = [b.thread_id(outer), b.thread_id(inner)]
        carried = [b.reduce(outer_join, table), b.reduce(outer_join, self.scalar(scope, U32))]
        inside = [b.reduce(inner_join, it) for it in carried]
        body = scope.inner(inner)
        for number in numbers:
            self.keep(body, U64, number)
            self.keep(body, I32, b.cast(I32, number))
        path = [position(it) for it in (numbers if self.random.random() < 0.8 else numbers[::-1])]
        if self.random.random() < 0.4:
            self.keep(body, I32, b.read(inside[0], path))
        self.statements_without_forks(body)
        inside[0].update = b.write(inside[0], self.scalar(body, I32), path)
        inside[1].update = b.binary(self.random.choice(FOLDS), inside[1], b.cast(U32, self.scalar(body, I32)))
        b.close_join(inner_join, body.control)
        b.close_join(outer_join, inner_join)
        for reduce, on in zip(carried, inside, strict=True):
            reduce.update = on
        scope.control = outer_join
        self.keep(scope, U32, carried[1])
        self.keep(scope, I32, b.read(carried[0], (position(self.scalar(scope, U64)) for _ in range(2))))

    def statements_without_forks(self, body: Scope) -> None:
        body.arrays, body.elements = [], []
        for _ in range(self.random.randint(0, 2)):
            self.arithmetic(body)

    def cases(self, scope: Scope) -> None:
        """A sum that holds one thing or the other, and a match on it."""
        self.budget -= 1
        b = self.builder
        first: Type = self.random.choice((I32, U32))
        sum = b.write(b.zero(Summation((first, F32))), self.scalar(scope, first), [variant(0)])
        if self.random.random() < 0.5:
            sum = b.write(sum, self.scalar(scope, F32), [variant(1)])
        ways = b.match(scope.control, sum, 2)
        values = [b.cast(I32, b.read(sum, [variant(number)])) for number in range(2)]
        scope.control = region = b.region(ways)
        self.keep(scope, I32, b.phi(region, values))

    def called(self, scope: Scope) -> None:
        """A call with a dynamic constant, which gives up an array and gets another back."""
        size = self.factor()
        b = self.builder
        result = b.call(self.helper, [size], [b.zero(array(I32, size)), self.scalar(scope, I32)])
        scope.arrays.append(result)
        scope.elements.append(I32)


def helper() -> Function:
    """Adds each element's number and a value to it."""
    b = FunctionBuilder("helper")
    m = b.dynamic_parameter("m")
    elements, value = b.parameter("elements", array(I32, m)), b.parameter("value", I32)
    fork = b.fork(b.start, m)
    join = b.open_join(fork)
    number = b.thread_id(fork)
    carried: Reduce = b.reduce(join, elements)
    old = b.read(carried, [position(number)])
    new = b.binary(BinaryOp.ADD, b.binary(BinaryOp.ADD, old, value), b.cast(I32, number))
    carried.update = b.write(carried, new, [position(number)])
    b.close_join(join, fork)
    b.return_(join, carried)
    b.function.return_type = array(I32, m)
    return b.function


def generate_forks(seed: int) -> Module:
    """A module of the function and what it calls."""
    generator = ForkGenerator(seed)
    return Module([generator.function(), generator.helper])
