"""Signatures of builtin functions as text, and the overloads that they declare.

`[S: float, T: S | vecN<S>](e1: T, e2: T) -> S` declares variables, parameters and result. A variable ranges over

- scalar types: `i32 | u32`, or a named set (`SCALAR_SETS`);
- the plural of a set, as in `T: floats`: the scalars of the set and the vectors of them;
- patterns over earlier variables: each makes an overload of its own;
- `constructible`: any constructible type; `buffer`: any buffer type; `any`: any type; `format`: any texel format; or
  address spaces or access modes.

A parameter marked `name?` may be omitted with all after it. `<T>` before the brackets declares template parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from ...base.records import dataclass
from ..types import ABSTRACT_FLOAT, ABSTRACT_INT, BOOL, F16, F32, I32, SCALARS, U32, Access, AddressSpace, Scalar
from .patterns import Pattern, parse_pattern, split

SCALAR_SETS: dict[str, tuple[Scalar, ...]] = {
    "scalar": (BOOL, ABSTRACT_INT, ABSTRACT_FLOAT, I32, U32, F32, F16),
    "number": (ABSTRACT_INT, ABSTRACT_FLOAT, I32, U32, F32, F16),
    "signed_number": (ABSTRACT_INT, ABSTRACT_FLOAT, I32, F32, F16),
    "float": (ABSTRACT_FLOAT, F32, F16),
    "concrete_number": (I32, U32, F32, F16),
    "concrete_float": (F32, F16),
    "integer": (I32, U32),
    "word": (I32, U32, F32),
    "abstract_int": (ABSTRACT_INT,),
    "abstract_float": (ABSTRACT_FLOAT,),
}
_WORDS = {word.value for enumeration in (AddressSpace, Access) for word in enumeration}
_SIGNATURE = r"(?:<(?P<templates>.*?)>)?(?:\[(?P<variables>.*)\])?\((?P<parameters>.*)\)(?: -> (?P<result>.+))?"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A formal parameter."""

    name: str
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Overload:
    """One overload. `scalars` are the scalar variables with their sets; `words` those over spaces and access modes."""

    templates: tuple[Pattern, ...]
    parameters: tuple[Parameter, ...]
    result: Pattern
    scalars: dict[str, tuple[Scalar, ...]]
    words: dict[str, frozenset[str]]
    constructible: frozenset[str]
    buffers: frozenset[str]

    def text(self, name: str) -> str:
        """The overload for a message: `clamp(T, T, T) -> T` and the ranges of its variables."""
        parameters = ", ".join(f"{parameter.name}: {parameter.pattern}" for parameter in self.parameters)
        templates = f"<{', '.join(map(str, self.templates))}>" if self.templates else ""
        result = "" if self.result.head == "void" else f" -> {self.result}"
        used = set(self._words())
        sets = [
            f"{variable} is {_or(map(str, scalars))}" for variable, scalars in self.scalars.items() if variable in used
        ]
        sets += [f"{variable} is a buffer" for variable in self.buffers]
        return f"{name}{templates}({parameters}){result}" + (f" where {' and '.join(sets)}" if sets else "")

    def _words(self) -> Iterator[str]:
        for pattern in (*self.templates, *(parameter.pattern for parameter in self.parameters), self.result):
            yield from pattern.words()


def _or(words: Iterator[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def parse_signature(text: str) -> list[Overload]:
    """The overloads that a signature declares."""
    parts = re.fullmatch(_SIGNATURE, text)
    assert parts is not None, text
    variables = _Variables()
    for declaration in split(parts["variables"] or "", ","):
        variables.declare(declaration)
    templates = [parse_pattern(part) for part in split(parts["templates"] or "", ",")]
    parameters = split(parts["parameters"], ",")
    result = parse_pattern(parts["result"] or "void")
    return [
        _overload(variables, substitution, templates, present, result)
        for substitution in variables.substitutions()
        for present in _present_parameters(parameters)
    ]


def _present_parameters(parameters: list[str]) -> Iterator[list[str]]:
    """The parameter lists with and without the optional parameters, the shortest first."""
    first = next((index for index, text in enumerate(parameters) if "?:" in text), len(parameters))
    for count in range(first, len(parameters) + 1):
        yield [text.replace("?:", ":") for text in parameters[:count]]


class _Variables:
    """The declared variables of a signature."""

    def __init__(self) -> None:
        self.scalars: dict[str, tuple[Scalar, ...]] = {}
        self.words: dict[str, frozenset[str]] = {}
        self.constructible: set[str] = set()
        self.buffers: set[str] = set()
        self.alternatives: dict[str, list[Pattern]] = {}

    def declare(self, text: str) -> None:
        name, choices = (part.strip() for part in text.split(":"))
        choice = choices.split(" | ")
        if choices in SCALAR_SETS:
            self.scalars[name] = SCALAR_SETS[choices]
        elif choices.removesuffix("s") in SCALAR_SETS:
            self.scalars[name] = SCALAR_SETS[choices.removesuffix("s")]
            self.alternatives[name] = [Pattern(name), Pattern("vecN", (Pattern(name),))]
        elif choices == "constructible":
            self.constructible.add(name)
        elif choices == "buffer":
            self.buffers.add(name)
        elif choices in ("any", "format"):
            pass
        elif all(word in SCALARS for word in choice):
            self.scalars[name] = tuple(SCALARS[word] for word in choice)
        elif all(word in _WORDS for word in choice):
            self.words[name] = frozenset(choice)
        else:
            self.alternatives[name] = [parse_pattern(part) for part in choice]

    def substitutions(self) -> Iterator[dict[str, Pattern]]:
        """Every combination of alternatives for the variables."""
        for choice in product(*self.alternatives.values()):
            yield dict(zip(self.alternatives, choice, strict=True))


def _overload(
    variables: _Variables,
    substitution: dict[str, Pattern],
    templates: list[Pattern],
    parameters: list[str],
    result: Pattern,
) -> Overload:
    pairs = [tuple(part.strip() for part in text.split(":")) for text in parameters]
    return Overload(
        tuple(_substitute(pattern, substitution) for pattern in templates),
        tuple(Parameter(name, _substitute(parse_pattern(pattern), substitution)) for name, pattern in pairs),
        _substitute(result, substitution),
        variables.scalars,
        variables.words,
        frozenset(variables.constructible),
        frozenset(variables.buffers),
    )


def _substitute(pattern: Pattern, substitution: dict[str, Pattern]) -> Pattern:
    if pattern.head in substitution:
        return substitution[pattern.head]
    return Pattern(pattern.head, tuple(_substitute(argument, substitution) for argument in pattern.arguments))
