"""The table of builtin functions: its rows, and the decorators that declare them.

A builtin is declared once, at its evaluator: name, signatures (see `signatures`), flags, and the docstring, whose first
line is the documentation that users see. `declare` adds rows for functions without evaluator (textures, barriers,
atomics …).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import repeat
from typing import TypeAlias, cast

from ...base.records import dataclass, field
from ..constants import RawValue
from ..conversions import elements
from ..scalars import Mode, ScalarValue
from ..types import Scalar, Stage, Type, Vector, scalar_of
from .signatures import Overload, parse_signature

Evaluator: TypeAlias = Callable[[Sequence[RawValue]], RawValue]
"""A function of the arguments, which must already be converted to the parameter types."""

Kernel: TypeAlias = Callable[..., ScalarValue]
"""A function of scalar values."""

ALL_STAGES = frozenset(Stage)


@dataclass(frozen=True, slots=True)
class Signature:
    """A resolved call, for which an evaluator is made."""

    template_args: tuple[Type, ...]
    param_types: tuple[Type, ...]
    result_type: Type
    mode: Mode

    @property
    def scalar(self) -> Scalar:
        """The scalar type of the first parameter."""
        scalar = scalar_of(self.param_types[0])
        assert scalar is not None
        return scalar


@dataclass(frozen=True, slots=True)
class Check:
    """A rule for some parameters, which constant arguments must satisfy even if other arguments are unknown.

    `function(scalar, *values)` raises EvaluationError; `scalar` is the scalar type of the first parameter of the call.
    It is called for each component.
    """

    parameters: tuple[str, ...]
    function: Callable[..., None]


@dataclass(frozen=True, slots=True)
class Flags:
    """The effects and requirements of a builtin besides its value.

    - `must_use`: a call may not be a statement.
    - `stages`: the shader stages in which it may be used.
    - `is_barrier`: synchronises the workgroup. `is_atomic`: accesses an atomic. `is_subgroup`: a subgroup or quad
      operation.
    - `has_side_effects`: a call must be kept even if its value is unused.
    - `uniformity`: None, or the rule that calls in non-uniform control flow violate: `error`, `derivative_uniformity`
      or `subgroup_uniformity`. `uniform_parameters`: names of parameters that must be uniform, by the same rule.
    - `nonuniform_result`: its result may differ between invocations even if the arguments are the same;
      `same_in_subgroup`: but it is the same within a subgroup.
    - `const_parameters`: names of parameters whose arguments must be const-expressions.
    - `accesses_memory`: it reads or writes the memory of its pointer arguments.
    - `extension`: the name that an `enable` directive must list.
    """

    must_use: bool = True
    stages: frozenset[Stage] = ALL_STAGES
    is_barrier: bool = False
    is_atomic: bool = False
    is_subgroup: bool = False
    has_side_effects: bool = False
    uniformity: str | None = None
    uniform_parameters: tuple[str, ...] = ()
    nonuniform_result: bool = False
    same_in_subgroup: bool = False
    const_parameters: tuple[str, ...] = ()
    accesses_memory: bool = True
    extension: str | None = None


PLAIN = Flags()


@dataclass(frozen=True, eq=False, slots=True)
class Builtin:
    """A builtin function. `make_evaluator` is None if the value exists only at run time.

    `is_componentwise`: each component of a vector result is the function's value for that component of every vector
    argument, together with the scalar arguments.
    """

    name: str
    signatures: tuple[str, ...]
    doc: str
    flags: Flags = PLAIN
    checks: tuple[Check, ...] = ()
    make_evaluator: Callable[[Signature], Evaluator] | None = field(default=None, repr=False)
    is_componentwise: bool = False

    @property
    def is_const(self) -> bool:
        """Whether calls with constant arguments are const-expressions, which `evaluate` can compute."""
        return self.make_evaluator is not None

    @property
    def must_use(self) -> bool:
        """See `Flags`."""
        return self.flags.must_use

    @property
    def stages(self) -> frozenset[Stage]:
        """See `Flags`."""
        return self.flags.stages

    @property
    def overloads(self) -> tuple[Overload, ...]:
        """The overloads, parsed at the first access."""
        return _overloads(self.signatures)

    def takes_vector(self, position: int) -> bool:
        """Whether some overload has a vector parameter there: none has for `offset` and `count` of `extractBits`."""
        return any(
            position < len(overload.parameters) and overload.parameters[position].pattern.head == "vecN"
            for overload in self.overloads
        )


@cache
def _overloads(signatures: tuple[str, ...]) -> tuple[Overload, ...]:
    return tuple(overload for signature in signatures for overload in parse_signature(signature))


TABLE: dict[str, Builtin] = {}
"""Every builtin function that is not a value constructor, by name."""


def declare(
    name: str,
    *signatures: str,
    doc: str,
    flags: Flags = PLAIN,
    checks: Iterable[Check] = (),
    make_evaluator: Callable[[Signature], Evaluator] | None = None,
    is_componentwise: bool = False,
) -> None:
    """Add a builtin function to the table."""
    assert name not in TABLE, name
    TABLE[name] = Builtin(name, signatures, doc, flags, tuple(checks), make_evaluator, is_componentwise)


def evaluated(
    name: str, *signatures: str, checks: Iterable[Check] = (), is_componentwise: bool = False
) -> Callable[[Callable[[Signature], Evaluator]], Callable[[Signature], Evaluator]]:
    """Decorates the function that makes a builtin's evaluators, and declares the builtin."""

    def add(make: Callable[[Signature], Evaluator]) -> Callable[[Signature], Evaluator]:
        declare(
            name,
            *signatures,
            doc=_first_line(make),
            checks=checks,
            make_evaluator=make,
            is_componentwise=is_componentwise,
        )
        return make

    return add


MakeKernel: TypeAlias = Callable[[Scalar, Mode], Kernel]


def componentwise(name: str, *signatures: str, checks: Iterable[Check] = ()) -> Callable[[MakeKernel], MakeKernel]:
    """Decorates the function that makes, for a scalar type and a mode, the kernel of a builtin that works on each
    component, and declares the builtin.
    """

    def add(make: MakeKernel) -> MakeKernel:
        def make_evaluator(signature: Signature) -> Evaluator:
            return lift(make(signature.scalar, signature.mode), signature.param_types)

        declare(
            name,
            *signatures,
            doc=_first_line(make),
            checks=checks,
            make_evaluator=make_evaluator,
            is_componentwise=True,
        )
        return make

    return add


def _first_line(function: Callable[..., object]) -> str:
    assert function.__doc__ is not None
    return function.__doc__.splitlines()[0]


def lift(kernel: Kernel, param_types: Sequence[Type]) -> Evaluator:
    """An evaluator that applies the kernel to each component; a scalar argument is used for all components."""
    are_vectors = [isinstance(type, Vector) for type in param_types]
    if not any(are_vectors):
        return _spread(kernel, len(param_types))
    if all(are_vectors):
        return lambda args: tuple(map(kernel, *map(elements, args)))

    def run(args: Sequence[RawValue]) -> RawValue:
        columns = [
            elements(arg) if is_vector else repeat(arg) for arg, is_vector in zip(args, are_vectors, strict=True)
        ]
        return tuple(map(kernel, *columns))

    return run


def _spread(kernel: Kernel, count: int) -> Evaluator:
    match count:
        case 1:
            return lambda args: kernel(args[0])
        case 2:
            return lambda args: kernel(args[0], args[1])
        case _:
            return lambda args: kernel(*args)


def numbers(value: RawValue) -> Sequence[float]:
    """The components of a float vector."""
    return cast(Sequence[float], elements(value))


def integers(value: RawValue) -> Sequence[int]:
    """The components of an integer vector."""
    return cast(Sequence[int], elements(value))
