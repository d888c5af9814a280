"""Random functions over collections of every kind: products, sums and arrays within each other, of which some extents
are dynamic; matches, whole parts read and written, collects of collections, calls, storages that change places, and
returns on several ways.

`generate_sums(seed)` always gives the same module: what the function calls comes first, the function last. It takes
one dynamic constant `n` and parameters of random types; `arguments` makes values for them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from tinct.ir.hercules import dynamic
from tinct.ir.hercules.inference import infer_types
from tinct.ir.hercules.nodes import (
    Array,
    AtomicOp,
    BinaryOp,
    Bool,
    Constant,
    DynamicConstant,
    Float,
    Function,
    Index,
    Integer,
    IntegerConstant,
    Module,
    Node,
    Product,
    Summation,
    SummationConstant,
    Type,
    ZeroConstant,
)
from tinct.ir.hercules.storage import Value, Variant
from tinct.ir.hercules.types import BOOL, F32, I32, U32, U64, is_scalar, substitute
from tinct.ir.hercules.versions import consumed_parameters

from .builder import FunctionBuilder, field, position, variant
from .generate import ATOMICS, Generator, Scope

SCALARS = (BOOL, I32, U32, U64, F32)


class SumGenerator(Generator):
    """`Scope.arrays` are versions of collections of any kind, and `Scope.elements` their own types."""

    scalars: Sequence[Type] = SCALARS
    returned = 2
    length = 6

    def __init__(self, source: random.Random, name: str, callees: Sequence[Function]) -> None:
        super().__init__(0)
        self.random = source
        self.builder = FunctionBuilder(name)
        self.callees = callees
        self.budget = 5

    def function(self) -> Function:
        b = self.builder
        self.n = b.dynamic_parameter("n")
        self.extents: list[DynamicConstant] = [*map(dynamic.literal, (0, 1, 2, 3)), self.n, self.n]
        self.extents.append(dynamic.add(self.n, dynamic.ONE))
        scope = Scope(b.start, {type: [] for type in self.scalars}, [])
        scope.scalars[U64].append(b.dynamic(self.n))
        for number in range(self.random.randint(1, 3)):
            type = self.parameter_type()
            self.take(scope, type, b.parameter(f"p{number}", type))
        self.given = len(scope.arrays)
        results = [self.random.choice(self.scalars) for _ in range(self.returned)]
        if self.random.random() < 0.3:
            self.leave_early(scope, results)
        self.statements(scope, self.length)
        self.leave(scope, results)
        return b.function

    def leave_early(self, scope: Scope, results: list[Type]) -> None:
        """A branch that ends in a return of its own."""
        stay, go = self.builder.if_(scope.control, self.scalar(scope, BOOL))
        early = scope.inner(go)
        self.statements(early, 2)
        self.leave(early, results)
        scope.control = stay

    def leave(self, scope: Scope, results: list[Type]) -> None:
        """Return what came in as it has become, and some scalars."""
        b = self.builder
        value = b.product([*scope.arrays[: self.given], *(self.scalar(scope, it) for it in results)])
        b.return_(scope.control, value)
        b.function.return_type = infer_types(b.function)[value]

    # Types and values

    def parameter_type(self) -> Type:
        return self.type(3)

    def type(self, depth: int) -> Type:
        kind = self.random.randrange(4) if depth > 0 else 0
        match kind:
            case 1:
                return Product(tuple(self.type(depth - 1) for _ in range(self.random.randint(0, 3))))
            case 2:
                return Summation(tuple(self.type(depth - 1) for _ in range(self.random.randint(1, 3))))
            case 3:
                return Array(self.type(depth - 1), self.random.choice(self.extents))
            case _:
                return self.random.choice(self.scalars)

    def take(self, scope: Scope, type: Type, value: Node) -> None:
        if is_scalar(type):
            scope.scalars[type].append(value)
        else:
            scope.arrays.append(value)
            scope.elements.append(type)

    def constant_of(self, type: Type) -> Constant:
        if isinstance(type, Summation):
            number = self.random.randrange(len(type.variants))
            return SummationConstant(type, number, self.constant_of(type.variants[number]))
        if isinstance(type, Integer) and self.random.random() < 0.5:
            return IntegerConstant(type, self.random.randint(0, 9))
        return ZeroConstant(type)

    def value(self, scope: Scope, type: Type) -> Node:
        """A value that nothing else uses, if it is a collection."""
        if is_scalar(type):
            return self.scalar(scope, type)
        b = self.builder
        places = [it for it in self.places(scope) if it[2] == type]
        if places and self.random.random() < 0.5:
            number, path, _ = self.random.choice(places)
            return b.read(scope.arrays[number], self.indices(scope, path))
        if isinstance(type, Product) and self.random.random() < 0.7:
            return b.product(self.value(scope, it) for it in type.fields)
        fresh: Node = b.constant(self.constant_of(type))
        return self.changed(scope, fresh, type) if self.random.random() < 0.6 else fresh

    def changed(self, scope: Scope, version: Node, type: Type) -> Node:
        paths = [it for it in _paths(type) if it[0]]
        if not paths:
            return version
        path, inner = self.random.choice(paths)
        value = self.scalar(scope, inner) if is_scalar(inner) else self.builder.constant(self.constant_of(inner))
        return self.builder.write(version, value, self.indices(scope, path))

    def places(self, scope: Scope) -> list[tuple[int, tuple[Index | None, ...], Type]]:
        """Every part of every collection: its number, a path, and its type."""
        return [
            (number, path, inner) for number, type in enumerate(scope.elements) for path, inner in _paths(type) if path
        ]

    def indices(self, scope: Scope, path: Sequence[Index | None]) -> list[Index]:
        return [position(self.scalar(scope, U64)) if it is None else it for it in path]

    # Statements

    def statements(self, scope: Scope, count: int) -> None:
        for _ in range(self.random.randint(1, count)):
            kinds = [self.arithmetic, self.read, self.read, self.write, self.write, self.local]
            if self.budget > 0:
                kinds += [self.branch, self.loop, self.fork, self.atomic, self.cases, self.cases, self.called]
            self.random.choice(kinds)(scope)

    def near(self, scope: Scope) -> None:
        self.write(scope)

    def read(self, scope: Scope) -> None:
        if places := self.places(scope):
            number, path, type = self.random.choice(places)
            self.take(scope, type, self.builder.read(scope.arrays[number], self.indices(scope, path)))

    def write(self, scope: Scope) -> None:
        if places := self.places(scope):
            number, path, type = self.random.choice(places)
            value = self.value(scope, type)
            scope.arrays[number] = self.builder.write(scope.arrays[number], value, self.indices(scope, path))

    def atomic(self, scope: Scope) -> None:
        if places := [it for it in self.places(scope) if isinstance(it[2], Integer)]:
            number, path, type = self.random.choice(places)
            op = self.random.choice(ATOMICS)
            operands = [] if op is AtomicOp.LOAD else [self.scalar(scope, type)]
            where = self.indices(scope, path)
            scope.arrays[number], old = self.builder.atomic(op, scope.arrays[number], where, operands)
            self.take(scope, type, old)

    def local(self, scope: Scope) -> None:
        type = self.type(2)
        self.take(scope, type, self.value(scope, type))

    def cases(self, scope: Scope) -> None:
        """A match on a sum, or on a part that is one; each arm looks at and changes what it holds."""
        sums = [it for it in self.places(scope) if isinstance(it[2], Summation)]
        whole = [(number, (), it) for number, it in enumerate(scope.elements) if isinstance(it, Summation)]
        if not sums + whole:
            return
        self.budget -= 1
        b = self.builder
        number, path, type = self.random.choice(sums + whole)
        assert isinstance(type, Summation)
        version = scope.arrays[number]
        matched = b.read(version, self.indices(scope, path)) if path else version
        arms = [scope.inner(way) for way in b.match(scope.control, matched, len(type.variants))]
        for index, arm in enumerate(arms):
            inner = type.variants[index]
            if self.random.random() < 0.7:
                self.take(arm, inner, b.read(matched, [variant(index)]))
            self.statements(arm, 2)
        self.meet(scope, arms)

    def meet(self, scope: Scope, arms: list[Scope]) -> None:
        b = self.builder
        scope.control = region = b.region(arm.control for arm in arms)
        for number, before in enumerate(scope.arrays):
            versions = [arm.arrays[number] for arm in arms]
            if any(it is not before for it in versions):
                scope.arrays[number] = b.phi(region, versions)
        type = self.random.choice(self.scalars)
        self.keep(scope, type, b.phi(region, [self.scalar(arm, type) for arm in arms]))

    def exchange(self, before: Scope, body: Scope) -> list[Node]:
        """The versions that a body ends with, for what was there before it: some of one type change places."""
        versions = body.arrays[: len(before.arrays)]
        for left in range(len(versions)):
            right = self.random.randrange(len(versions))
            if before.elements[left] == before.elements[right] and self.random.random() < 0.5:
                versions[left], versions[right] = versions[right], versions[left]
        for number, type in enumerate(before.elements):
            if self.random.random() < 0.1:
                versions[number] = self.value(body, type)
        return versions

    def loop(self, scope: Scope) -> None:
        self.budget -= 1
        b = self.builder
        region = b.region([scope.control])
        counter = b.phi(region, [b.integer(U64, 0)])
        phis = [b.phi(region, [it]) for it in scope.arrays]
        scope.arrays = list[Node](phis)
        bound = self.random.choice((b.integer(U64, 1), b.integer(U64, 3), b.dynamic(self.n)))
        leave, enter = b.if_(region, b.binary(BinaryOp.LESS, counter, bound))
        body = scope.inner(enter)
        self.keep(body, U64, counter)
        self.statements(body, 3)
        b.add_predecessor(region, body.control)
        b.add_value(counter, b.binary(BinaryOp.ADD, counter, b.integer(U64, 1)))
        for phi, version in zip(phis, self.exchange(scope, body), strict=True):
            b.add_value(phi, version)
        scope.control = leave

    def fork(self, scope: Scope) -> None:
        self.budget -= 1
        b = self.builder
        factor = self.random.choice(self.extents)
        fork = b.fork(scope.control, factor)
        join = b.open_join(fork)
        reduces = [b.reduce(join, it) for it in scope.arrays]
        scope.arrays = list[Node](reduces)
        body = scope.inner(fork)
        self.keep(body, U64, b.thread_id(fork))
        self.statements(body, 3)
        type = self.type(2)
        collected = self.value(body, type)
        versions = self.exchange(scope, body)
        b.close_join(join, body.control)
        for reduce, version in zip(reduces, versions, strict=True):
            reduce.update = version
        scope.control = join
        self.take(scope, Array(type, factor), b.collect(join, collected))

    def called(self, scope: Scope) -> None:
        if not self.callees:
            return
        self.budget -= 1
        callee = self.random.choice(self.callees)
        size = self.random.choice(self.extents)
        types = [substitute(it, [size]) for it in callee.parameter_types]
        taken = consumed_parameters(callee)
        arguments: list[Node] = []
        for number, type in enumerate(types):
            known = [it for it, other in zip(scope.arrays, scope.elements, strict=True) if other == type]
            if number not in taken and known and not is_scalar(type):
                arguments.append(self.random.choice(known))
            else:
                arguments.append(self.value(scope, type))
        self.take(scope, substitute(callee.return_type, [size]), self.builder.call(callee, [size], arguments))


def _paths(type: Type) -> Iterator[tuple[tuple[Index | None, ...], Type]]:
    """The type and all its parts, each by a path; None is a position."""
    yield (), type
    parts: list[tuple[Index | None, Type]] = []
    match type:
        case Product(fields):
            parts = [(field(number), it) for number, it in enumerate(fields)]
        case Summation(variants):
            parts = [(variant(number), it) for number, it in enumerate(variants)]
        case Array(element=element):
            parts = [(None, element)]
        case _:
            pass
    for index, inner in parts:
        yield from (((index, *path), it) for path, it in _paths(inner))


def arguments(function: Function, n: int, seed: int) -> list[Value]:
    """Values for the parameters of a function."""
    source = random.Random(seed)
    return [_value(type, n, source) for type in function.parameter_types]


def _value(type: Type, n: int, source: random.Random) -> Value:
    match type:
        case Product(fields):
            return [_value(it, n, source) for it in fields]
        case Summation(variants):
            number = source.randrange(len(variants))
            return Variant(number, _value(variants[number], n, source))
        case Array(element, extent):
            return [_value(element, n, source) for _ in range(dynamic.evaluate(extent, [n]))]
        case Bool():
            return source.random() < 0.5
        case Float():
            return source.choice((0.0, 1.5, -2.0, 0.25))
        case _:
            return source.randint(0, 9)


def generate_sums(seed: int) -> Module:
    """A module of what the function calls, and the function."""
    source = random.Random(seed)
    functions: list[Function] = []
    for number in range(source.randint(0, 2)):
        functions.append(SumGenerator(source, f"callee_{number}", functions[:]).function())
    functions.append(SumGenerator(source, f"random_{seed}", functions).function())
    return Module(functions)
