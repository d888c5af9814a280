"""A function as a *program*: dispatches of kernels over buffers, and control between them that a host runs.

A program is for one set of values of its function's dynamic constants. Its buffers hold collections; a scalar of the
function's interface is an array of one element. Example, of the product of two matrices:

    program matmul<m = 2, k = 3, n = 4> -> c {
      buffer a: array<array<f32, 3>, 2>, argument 0
      buffer b: array<array<f32, 4>, 3>, argument 1
      buffer c: array<array<f32, 4>, 2>, zeros
      dispatch matmul_0[2, 4](a, b, c: written)
    }

`program_text` prints programs, `program_interp` runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from .nodes import DynamicConstant, Fork, Function, Node, Type
from .versions import consumed_parameters


@dataclass(frozen=True, slots=True)
class GridKernel:
    """A function that a grid of threads runs.

    Its control is Start, then `depth` forks directly below each other, the grid; then a body with any control; the
    joins of the grid; one Return. The threads of the grid are independent or only meet in Atomics. Parameters are
    collections; the function returns the product of the final versions of those that it writes, which `written` lists
    in order. Each fork of the grid carries every written parameter by one Reduce. With `depth` 0 the function runs
    once.

    With `workgroup`, a thread of the grid is run by so many invocations, which share the collections that it makes. Its
    body then consists of forks of this factor, one after another, whose threads are the invocations; the code between
    them has one result for all.
    """

    function: Function
    depth: int
    written: tuple[int, ...]
    workgroup: int = 0

    @property
    def factors(self) -> tuple[DynamicConstant, ...]:
        """The factors of the grid's forks, the outermost first."""
        control: Node = self.function.nodes[0]
        after = {it.control: it for it in self.function.nodes if isinstance(it, Fork)}
        factors: list[DynamicConstant] = []
        for _ in range(self.depth):
            control = after[control]
            factors.append(control.factor)
        return tuple(factors)

    @property
    def changed(self) -> frozenset[int]:
        """The parameters whose storage the kernel may change: those that it writes, and those of which it makes
        versions that nothing needs when it ends.
        """
        return consumed_parameters(self.function)


@dataclass(frozen=True, slots=True)
class Buffer:
    """Storage of one collection. It starts as the argument of the function's parameter `parameter`, or as zeros."""

    name: str
    type: Type
    parameter: int | None = None


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Runs a kernel. `buffers` has the index of a buffer for each parameter of the kernel, without repetitions."""

    kernel: GridKernel
    buffers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """Runs the steps `count` times; `counter`, an array of one u32, has 0, 1, … before each time."""

    count: DynamicConstant
    counter: int
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """Runs `steps`; ends if the one u32 in the buffer `flag` is 0, else runs `then` and starts over."""

    steps: tuple[Step, ...]
    flag: int
    then: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """Runs `if_false` if the one u32 in the buffer `flag` is 0, else `if_true`."""

    flag: int
    if_false: tuple[Step, ...]
    if_true: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Copy:
    """Copies a buffer to another of the same type. `node` needs the copy, for `reason`, a phrase."""

    source: int
    target: int
    node: Node
    reason: str


@dataclass(frozen=True, slots=True)
class Clear:
    """Fills a buffer with zeros."""

    buffer: int


Step: TypeAlias = "Dispatch | Repeat | Loop | Branch | Copy | Clear"


@dataclass(frozen=True, slots=True)
class Program:
    """What a function does, for these values of its dynamic constants.

    `parameter_types` and `return_type` are those of the function before its sums became products (see
    `transforms.hercules.lower_sums`), with literal extents. `results` has the buffer of each part of the result, which
    is one product of these parts if `is_product`.
    """

    name: str
    dynamic_constants: tuple[str, ...]
    constants: tuple[int, ...]
    parameter_types: tuple[Type, ...]
    return_type: Type
    buffers: tuple[Buffer, ...]
    steps: tuple[Step, ...]
    results: tuple[int, ...]
    is_product: bool

    @property
    def kernels(self) -> tuple[GridKernel, ...]:
        """The kernels, in the order of their first dispatch."""
        return tuple(dict.fromkeys(it.kernel for it in walk(self.steps) if isinstance(it, Dispatch)))

    @property
    def copies(self) -> tuple[Copy, ...]:
        """The steps that copy whole buffers."""
        return tuple(it for it in walk(self.steps) if isinstance(it, Copy))


def walk(steps: Iterable[Step]) -> Iterator[Step]:
    """All steps, each before those inside it."""
    for step in steps:
        yield step
        match step:
            case Repeat(steps=inner):
                yield from walk(inner)
            case Loop(steps=inner, then=others) | Branch(if_false=inner, if_true=others):
                yield from walk(inner)
                yield from walk(others)
            case Dispatch() | Copy() | Clear():
                pass
            case _:
                assert_never(step)


def with_kernels(steps: Iterable[Step], change: Callable[[GridKernel], GridKernel]) -> tuple[Step, ...]:
    """The steps with other kernels."""
    return tuple(_with_kernels(it, change) for it in steps)


def _with_kernels(step: Step, change: Callable[[GridKernel], GridKernel]) -> Step:
    match step:
        case Dispatch(kernel=kernel):
            return replace(step, kernel=change(kernel))
        case Repeat(steps=inner):
            return replace(step, steps=with_kernels(inner, change))
        case Loop(steps=inner, then=others):
            return replace(step, steps=with_kernels(inner, change), then=with_kernels(others, change))
        case Branch(if_false=inner, if_true=others):
            return replace(step, if_false=with_kernels(inner, change), if_true=with_kernels(others, change))
        case Copy() | Clear():
            return step
        case _:
            assert_never(step)
