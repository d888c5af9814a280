"""The builtin functions of WGSL: one table, overload resolution, constructors and evaluation.

The table:
- `builtin(name)` is a row (`Builtin`: name, overloads, doc, `flags`, `is_const`, `is_componentwise`), or None;
  `builtin_names()` are all names of WGSL, without functions of our own (`textures.SPREADS`), and
  `componentwise_builtins()` those of functions on each component.
- `resolve_call(builtin, template_args, arg_types, concrete=…)` gives a `Match(param_types, result_type,
  param_names)`, or a `NoMatch(candidates)`. Pass `concrete=True` when some argument is not a const-expression.
- `check_arguments` finds errors in constant arguments even if other arguments are unknown, as in `clamp(x, 2, 1)`.

Evaluation, for rows with `is_const`, on arguments already converted to `param_types`:
- `evaluator(name, template_args, param_types, result_type, mode)` makes a function of the arguments, which can be
  called many times; `evaluate` makes one call. CONST mode may raise EvaluationError, RUNTIME mode never does.
- Functions whose value depends on the state of a running shader have no evaluator: textures, derivatives, atomics,
  barriers, subgroups, `arrayLength`. `atomic_operation` is the arithmetic of atomics. `SUBGROUP_SIZE` is the number of
  invocations in a subgroup on every device but a GPU.

Constructors: `resolve_constructor(type or generic name, arg_types)`, `construct`, `constructor`, and `convert`,
`converter` for automatic conversions (from `conversions`).

Each function is declared once, in the module of its family: `logical`, `numeric`, `bits`, `vectors`, `packing`,
`textures`, `invocations`, `buffer_views`; `signatures` describes the notation. To add one, write a decorated function
there, its name in `families`, and a test row. A family is imported when one of its functions is first asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Sequence
from functools import cache
from itertools import repeat

from ...base.interpreter_state import paused_collection
from ..constants import RawValue
from ..conversions import convert, converter, elements
from ..scalars import EvaluationError, Mode
from ..types import Type, Vector, scalar_of
from .constructors import ConstructorMatch, construct, constructor, resolve_constructor
from .families import FAMILIES
from .invocations import LARGEST_SUBGROUP, SUBGROUP_SIZE, atomic_operation
from .registry import TABLE, Builtin, Check, Evaluator, Flags, Signature
from .resolution import Match, NoMatch, resolve_call
from .results import compare_exchange_result, frexp_result, modf_result, texel_channel

__all__ = [
    "LARGEST_SUBGROUP",
    "SUBGROUP_SIZE",
    "Builtin",
    "ConstructorMatch",
    "EvaluationError",
    "Evaluator",
    "Flags",
    "Match",
    "Mode",
    "NoMatch",
    "atomic_operation",
    "builtin",
    "builtin_names",
    "check_arguments",
    "compare_exchange_result",
    "componentwise_builtins",
    "construct",
    "constructor",
    "convert",
    "converter",
    "evaluate",
    "evaluator",
    "frexp_result",
    "modf_result",
    "resolve_call",
    "resolve_constructor",
    "texel_channel",
]


def builtin(name: str) -> Builtin | None:
    """The builtin function with the name, or None."""
    found = TABLE.get(name)
    if found is not None or name not in FAMILIES:
        return found
    with paused_collection():  # classes and functions are not garbage
        importlib.import_module(f".{FAMILIES[name]}", __name__)
    return TABLE[name]


def builtin_names() -> Collection[str]:
    """The names of all builtin functions of WGSL."""
    return FAMILIES.keys()


@cache
def componentwise_builtins() -> frozenset[str]:
    """The names of the functions that work on each component of vectors separately."""
    functions = map(builtin, FAMILIES)
    return frozenset(it.name for it in functions if it is not None and it.is_componentwise)


def evaluate(
    name: str,
    template_args: tuple[Type, ...],
    result_type: Type,
    param_types: tuple[Type, ...],
    args: Sequence[RawValue],
    mode: Mode,
) -> RawValue:
    """The value of a call. Raises EvaluationError in CONST mode only, and KeyError for a function without evaluator."""
    return evaluator(name, template_args, param_types, result_type, mode)(args)


@cache
def evaluator(
    name: str, template_args: tuple[Type, ...], param_types: tuple[Type, ...], result_type: Type, mode: Mode
) -> Evaluator:
    """The function that computes a call from its arguments. Raises KeyError for a builtin without evaluator."""
    function = builtin(name)
    if function is None or function.make_evaluator is None:
        raise KeyError(f"'{name}' has no value outside a running shader")
    run = function.make_evaluator(Signature(template_args, param_types, result_type, mode))
    if mode is Mode.RUNTIME or not function.checks:
        return run

    def checked(args: Sequence[RawValue]) -> RawValue:
        check_arguments(name, param_types, args, template_args)
        return run(args)

    return checked


def check_arguments(
    name: str,
    param_types: tuple[Type, ...],
    args: Sequence[RawValue | None],
    template_args: tuple[Type, ...] = (),
) -> None:
    """Raises EvaluationError if constant arguments are wrong for all values of the unknown ones, which are None."""
    function = builtin(name)
    if function is None or not function.checks:
        return
    match = resolve_call(function, template_args, param_types)
    assert isinstance(match, Match)
    positions = {parameter: index for index, parameter in enumerate(match.param_names)}
    for check in function.checks:
        indices = [positions[parameter] for parameter in check.parameters if parameter in positions]
        known = [(args[index], param_types[index]) for index in indices]
        if len(known) == len(check.parameters) and all(value is not None for value, _ in known):
            _run_check(check, param_types[0], [(value, type) for value, type in known if value is not None])


def _run_check(check: Check, first: Type, known: Sequence[tuple[RawValue, Type]]) -> None:
    """Applies a check to each component."""
    scalar = scalar_of(first)
    widths = [type.width for _, type in known if isinstance(type, Vector)]
    columns = [elements(value) if isinstance(type, Vector) else repeat(value) for value, type in known]
    for _ in zip(range(max(widths, default=1)), map(check.function, repeat(scalar), *columns), strict=False):
        pass
