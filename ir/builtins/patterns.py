"""Type patterns: the types in a builtin's signature, with variables in them, written as in `ptr<A, atomic<T>,
read_write>`.

Words with a fixed meaning are scalar types, `sampler`, `sampler_comparison`, texture types, `vec2` … `vec4`, `vecN`,
`matCxR` and so on (any two of C, R, K), `array<T>` (runtime-sized), `atomic<T>`, `ptr<space, T, access>`, and in
results `frexp<T>`, `modf<T>`, `exchanged<T>` and `channel<F>`. Every other word is a variable of the signature.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TypeAlias

from ...base.records import dataclass, field
from ..types import (
    SCALARS,
    VOID,
    Access,
    AddressSpace,
    Array,
    Atomic,
    Matrix,
    Pointer,
    Sampler,
    Scalar,
    Texture,
    TextureKind,
    Type,
    Vector,
    array,
    atomic,
    matrix,
    pointer,
    sampler,
    texture,
    vector,
)
from .results import compare_exchange_result, frexp_result, modf_result, texel_channel

Binding: TypeAlias = Type | Access | AddressSpace | int | str
"""The binding of a variable: a type, an access mode, an address space, a dimension, or the name of a texel format."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A word with the patterns that are its arguments."""

    head: str
    arguments: tuple[Pattern, ...] = ()

    def __str__(self) -> str:
        return f"{self.head}<{', '.join(map(str, self.arguments))}>" if self.arguments else self.head

    def words(self) -> Iterator[str]:
        """All words in the pattern."""
        yield self.head
        for argument in self.arguments:
            yield from argument.words()


@cache
def parse_pattern(text: str) -> Pattern:
    """Parse the text of a pattern."""
    head, bracket, rest = text.strip().partition("<")
    if not bracket:
        return Pattern(head)
    return Pattern(head, tuple(parse_pattern(part) for part in split(rest.rstrip()[:-1], ",")))


def split(text: str, separator: str) -> list[str]:
    """Split a text at the separators that are not inside brackets; an empty text has no parts."""
    parts, depth, start = list[str](), 0, 0
    for index, char in enumerate(text):
        depth += char in "<(["
        depth -= char in ">)]" and text[index - 1 : index + 1] != "->"
        if char == separator and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    last = text[start:].strip()
    return [*parts, last] if last or parts else []


@dataclass(slots=True)
class Bindings:
    """The bindings of a match. `scalars` are the argument types matched with a scalar variable: they may convert."""

    fixed: dict[str, Binding] = field(default_factory=dict[str, Binding])
    scalars: dict[str, list[Scalar]] = field(default_factory=dict[str, list[Scalar]])

    def fix(self, name: str, value: Binding) -> bool:
        """Bind a variable; returns False if it is already bound to something else."""
        return self.fixed.setdefault(name, value) == value


_MATRIX = r"mat(\w)x(\w)"
_SPACES = {space.value: space for space in AddressSpace}
_ACCESSES = {access.value: access for access in Access}


def unify(pattern: Pattern, type: Type, found: Bindings, *, exact: bool = False) -> bool:
    """Whether a type has the pattern's shape; collects the bindings of the variables.

    Scalars are not compared, since they may convert, unless `exact`, as inside a pointer or texture type or a template
    argument.
    """
    head, arguments = pattern.head, pattern.arguments
    match type:
        case Scalar() if head == "channel":
            return True
        case Scalar():
            return not arguments and _match_scalar(head, type, found, exact)
        case Vector(width=width, element=element) if head.startswith("vec"):
            return _match_extent(head[3:], width, found) and unify(arguments[0], element, found, exact=exact)
        case Matrix(columns=columns, rows=rows, element=element) if shape := re.fullmatch(_MATRIX, head):
            return (
                _match_extent(shape[1], columns, found)
                and _match_extent(shape[2], rows, found)
                and unify(arguments[0], element, found, exact=exact)
            )
        case Array(element=element, count=None) if head == "array":
            return unify(arguments[0], element, found, exact=True)
        case Atomic(element=element) if head == "atomic":
            return unify(arguments[0], element, found, exact=True)
        case Pointer() if head == "ptr":
            space, store, access = arguments
            return (
                _match_word(space.head, type.space, _SPACES, found)
                and unify(store, type.store, found, exact=True)
                and _match_word(access.head, type.access, _ACCESSES, found)
            )
        case Texture() if head.startswith("texture"):
            return _match_texture(pattern, type, found)
        case Sampler():
            return head == str(type)
        case _:
            return not arguments and is_variable(head) and found.fix(head, type)


def is_variable(word: str) -> bool:
    """Whether a word names a variable: variables are short and start with a capital letter."""
    return word[:1].isupper()


def _match_scalar(head: str, type: Scalar, found: Bindings, exact: bool) -> bool:
    if not is_variable(head):
        return SCALARS.get(head) is type if exact else head in SCALARS
    if exact:
        return found.fix(head, type)
    found.scalars.setdefault(head, []).append(type)
    return True


def _match_extent(word: str, extent: int, found: Bindings) -> bool:
    return int(word) == extent if word.isdigit() else found.fix(word, extent)


def _match_word(word: str, value: Access | AddressSpace, words: Mapping[str, Binding], found: Bindings) -> bool:
    return found.fix(word, value) if is_variable(word) else words[word] is value


def _match_texture(pattern: Pattern, type: Texture, found: Bindings) -> bool:
    kind, dimension = texture_family(pattern.head)
    if (type.kind, type.dimension) != (kind, dimension):
        return False
    if kind is TextureKind.STORAGE:
        assert type.format is not None
        assert type.access is not None
        format, access = pattern.arguments
        return found.fix(format.head, type.format) and _match_word(access.head, type.access, _ACCESSES, found)
    return type.sampled is None or unify(pattern.arguments[0], type.sampled, found, exact=True)


_TEXTURE_WORDS = sorted(TextureKind, key=lambda kind: -len(kind.value))


@cache
def texture_family(word: str) -> tuple[TextureKind, str]:
    """The kind and dimension of a texture type's name without template arguments."""
    kind = next(kind for kind in _TEXTURE_WORDS if word.startswith(kind.value))
    return kind, word[len(kind.value) :].removeprefix("_") or "2d"


def instantiate(pattern: Pattern, bindings: Mapping[str, Binding]) -> Type:
    """The type that results from a pattern when all of its variables are bound."""
    head, arguments = pattern.head, pattern.arguments
    if head in bindings:
        return _type(bindings[head])
    if head in SCALARS:
        return SCALARS[head]
    if head.startswith("texture"):
        return _instantiate_texture(pattern, bindings)
    if head == "ptr":
        space, store, access = arguments
        return pointer(
            _SPACES.get(space.head) or _space(bindings[space.head]),
            instantiate(store, bindings),
            _ACCESSES.get(access.head) or _access(bindings[access.head]),
        )
    if head == "channel":
        format = bindings[arguments[0].head]
        assert isinstance(format, str)
        return texel_channel(format)
    if head in ("sampler", "sampler_comparison"):
        return sampler(comparison=head != "sampler")
    return VOID if head == "void" else _instantiate_generic(head, instantiate(arguments[0], bindings), bindings)


def _instantiate_generic(head: str, argument: Type, bindings: Mapping[str, Binding]) -> Type:
    """A pattern with one type argument."""
    if head == "array":
        return array(argument, None)
    if head in ("frexp", "modf"):
        assert isinstance(argument, (Scalar, Vector))
        return frexp_result(argument) if head == "frexp" else modf_result(argument)
    assert isinstance(argument, Scalar), f"{head} of {argument}"
    if head.startswith("vec"):
        return vector(_extent(head[3:], bindings), argument)
    if shape := re.fullmatch(_MATRIX, head):
        return matrix(_extent(shape[1], bindings), _extent(shape[2], bindings), argument)
    if head == "atomic":
        return atomic(argument)
    assert head == "exchanged", head
    return compare_exchange_result(argument)


def _instantiate_texture(pattern: Pattern, bindings: Mapping[str, Binding]) -> Texture:
    kind, dimension = texture_family(pattern.head)
    if kind is TextureKind.STORAGE:
        format, access = (argument.head for argument in pattern.arguments)
        name = bindings.get(format, format)
        assert isinstance(name, str)
        return texture(kind, dimension, None, name, _ACCESSES.get(access) or _access(bindings[access]))
    if not pattern.arguments:
        return texture(kind, dimension)
    sampled = instantiate(pattern.arguments[0], bindings)
    assert isinstance(sampled, Scalar)
    return texture(kind, dimension, sampled)


def _extent(word: str, bindings: Mapping[str, Binding]) -> int:
    extent = int(word) if word.isdigit() else bindings[word]
    assert isinstance(extent, int)
    return extent


def _type(binding: Binding) -> Type:
    assert not isinstance(binding, (int, str, Access, AddressSpace))
    return binding


def _access(binding: Binding) -> Access:
    assert isinstance(binding, Access)
    return binding


def _space(binding: Binding) -> AddressSpace:
    assert isinstance(binding, AddressSpace)
    return binding
