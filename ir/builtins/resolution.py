"""Overload resolution for builtin functions (WGSL, "Overload Resolution")."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

from ...base.records import dataclass
from ..conversions import conversion_rank, is_abstract
from ..types import Access, AddressSpace, Buffer, Reference, Scalar, Type, is_constructible
from .patterns import Binding, Bindings, instantiate, unify
from .registry import Builtin
from .signatures import Overload


@dataclass(frozen=True, slots=True)
class Match:
    """The overload that a call selects: the types to which its arguments are converted, and its result type. Each may
    be abstract.
    """

    param_types: tuple[Type, ...]
    result_type: Type
    param_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoMatch:
    """No overload fits. `candidates` are the overloads as text, the nearest first."""

    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    ranks: tuple[int, ...]
    match: Match


@cache
def resolve_call(
    builtin: Builtin, template_args: tuple[Type, ...], arg_types: tuple[Type, ...], *, concrete: bool = False
) -> Match | NoMatch:
    """The most preferred overload for the argument types.

    `concrete` means that some argument is not a const-expression, so that no parameter has an abstract type.
    """
    args = tuple(type.store if isinstance(type, Reference) else type for type in arg_types)
    candidates = list[_Candidate]()
    for overload in builtin.overloads:
        candidates += _instances(overload, template_args, args, concrete)
    best = _most_preferred(candidates)
    if best is not None:
        return best.match
    ordered = sorted(builtin.overloads, key=lambda overload: _distance(overload, template_args, args))
    return NoMatch(tuple(dict.fromkeys(overload.text(builtin.name) for overload in ordered)))


def _instances(
    overload: Overload, template_args: tuple[Type, ...], args: tuple[Type, ...], concrete: bool
) -> Iterator[_Candidate]:
    """The candidates from all choices of scalar types for the overload's variables to which the arguments convert."""
    found = _bind(overload, template_args, args)
    if found is None:
        return
    names = [name for name in overload.scalars if name in found.scalars and name not in found.fixed]
    for choice in product(*(_feasible(overload.scalars[name], found.scalars[name]) for name in names)):
        bindings: dict[str, Binding] = {**found.fixed, **dict(zip(names, choice, strict=True))}
        candidate = _candidate(overload, args, bindings)
        if candidate is not None and not (concrete and any(map(is_abstract, candidate.match.param_types))):
            yield candidate


def _bind(overload: Overload, template_args: tuple[Type, ...], args: tuple[Type, ...]) -> Bindings | None:
    if len(template_args) != len(overload.templates) or len(args) != len(overload.parameters):
        return None
    found = Bindings()
    if not all(
        unify(pattern, type, found, exact=True) for pattern, type in zip(overload.templates, template_args, strict=True)
    ):
        return None
    if not all(
        unify(parameter.pattern, type, found) for parameter, type in zip(overload.parameters, args, strict=True)
    ):
        return None
    return found if _within_ranges(overload, found) else None


def _within_ranges(overload: Overload, found: Bindings) -> bool:
    """Whether the final bindings are in the ranges of their variables."""
    for name, value in found.fixed.items():
        match value:
            case AddressSpace() | Access():
                fits = name not in overload.words or value.value in overload.words[name]
            case Scalar() if name in overload.scalars:
                fits = value in overload.scalars[name]
            case int() | str():
                fits = True
            case _:
                fits = (
                    name not in overload.scalars
                    and (name not in overload.constructible or is_constructible(value))
                    and (name not in overload.buffers or isinstance(value, Buffer))
                )
        if not fits:
            return False
    return True


def _feasible(choices: tuple[Scalar, ...], args: list[Scalar]) -> list[Scalar]:
    return [choice for choice in choices if all(conversion_rank(arg, choice) is not None for arg in args)]


def _candidate(overload: Overload, args: tuple[Type, ...], bindings: dict[str, Binding]) -> _Candidate | None:
    types = tuple(instantiate(parameter.pattern, bindings) for parameter in overload.parameters)
    ranks = list[int]()
    for arg, type in zip(args, types, strict=True):
        rank = conversion_rank(arg, type)
        if rank is None:
            return None
        ranks.append(rank)
    names = tuple(parameter.name for parameter in overload.parameters)
    return _Candidate(tuple(ranks), Match(types, instantiate(overload.result, bindings), names))


def _most_preferred(candidates: list[_Candidate]) -> _Candidate | None:
    """The candidate that is preferred to every other; of several with the same parameter types, the first."""
    for candidate in candidates:
        if all(_preferred(candidate, other) for other in candidates):
            return candidate
    return None


def _preferred(candidate: _Candidate, other: _Candidate) -> bool:
    if candidate.match.param_types == other.match.param_types:
        return True
    pairs = list(zip(candidate.ranks, other.ranks, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


def _distance(overload: Overload, template_args: tuple[Type, ...], args: tuple[Type, ...]) -> int:
    """How far an overload is from a call: arity counts most, then parameters that do not accept their argument."""
    arity = abs(len(overload.parameters) - len(args)) + abs(len(overload.templates) - len(template_args))
    pairs = zip(overload.parameters, args, strict=False)
    return 100 * arity + sum(not unify(parameter.pattern, type, Bindings()) for parameter, type in pairs)
