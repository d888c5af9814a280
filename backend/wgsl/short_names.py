"""The shortest names for what a syntax tree declares, the most used first.

Two names must differ where one would hide the other: both at module scope, both in one function, or one at module
scope that a function uses and one in the function.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count, product
from string import ascii_letters, digits
from typing import TypeAlias

from ...ir.identifiers import KEYWORDS, RESERVED_WORDS
from ...ir.schema.runtime import SchemaNode
from ...ir.schema.traverse import rewrite, walk
from ...ir.wgsl import ast

_BUILTINS = frozenset(
    {"abs", "all", "any", "cos", "dot", "exp", "fma", "log", "max", "min", "mix", "pow", "sin", "tan"}
)
_TYPES = frozenset({"f16", "f32", "i32", "ptr", "u32"})
_UNUSABLE = KEYWORDS | RESERVED_WORDS | _BUILTINS | _TYPES
"""All words of up to three letters that have a meaning; no module has more names than fit in that."""

_Declaration: TypeAlias = ast.Let | ast.Var | ast.Const | ast.Parameter
_Named: TypeAlias = _Declaration | ast.Identifier | ast.Override | ast.Function | ast.Struct | ast.Alias


@dataclass(frozen=True, slots=True)
class _Name:
    """A name, and the function it is declared in; None at module scope."""

    text: str
    function: str | None = None


def shorten_names(unit: ast.TranslationUnit, kept: Collection[str], members: Collection[str]) -> ast.TranslationUnit:
    """The tree with short names. `kept` names stay; `members` are the structure members to be renamed.

    In the given tree, no two names of module scope and one function are the same, and the names of `members` occur
    in one structure each.
    """
    short_members = _short_members(unit, members)
    short = _short_names(unit, kept)
    declarations = tuple(_renamed(it, short, short_members) for it in unit.declarations)
    return ast.TranslationUnit(unit.directives, declarations, unit.span)


def _candidates() -> Iterator[str]:
    """`a`, `b` … `Z`, `aa` …: all names but those with a meaning."""
    for length in count(1):
        for first, *rest in product(ascii_letters, *[ascii_letters + digits] * (length - 1)):
            name = first + "".join(rest)
            if name not in _UNUSABLE:
                yield name


def _short_members(unit: ast.TranslationUnit, members: Collection[str]) -> dict[str, str]:
    uses = Counter(it.member for it in walk(unit) if isinstance(it, ast.MemberAccess))
    found: dict[str, str] = {}
    for struct in unit.declarations:
        if isinstance(struct, ast.Struct):
            own = [it.name for it in struct.members if it.name in members]
            own.sort(key=lambda name: -uses[name])
            found |= dict(zip(own, _candidates(), strict=False))
    return found


def _short_names(unit: ast.TranslationUnit, kept: Collection[str]) -> Mapping[_Name, str]:
    """A short name for each that is declared, but for the kept ones, which keep theirs."""
    uses = Counter(_uses(unit))
    outer = {name.text for name in uses if name.function is None}
    users: defaultdict[str, set[str | None]] = defaultdict(set)
    for declaration in unit.declarations:
        function = declaration.name if isinstance(declaration, ast.Function) else None
        for node in walk(declaration):
            if isinstance(node, ast.Identifier) and node.name in outer:
                users[node.name].add(function)
    names = sorted(uses, key=lambda name: (name.text not in kept, -uses[name]))
    given: dict[_Name, str] = {}
    taken: defaultdict[str | None, set[str]] = defaultdict(set)
    for name in names:
        scopes = {None, *users[name.text]} if name.function is None else {name.function}
        seen = taken[None] if name.function is None else set[str]()
        hidden = seen.union(*(taken[scope] for scope in scopes))
        given[name] = name.text if name.text in kept else next(it for it in _candidates() if it not in hidden)
        for scope in scopes:
            taken[scope].add(given[name])
    return given


def _uses(unit: ast.TranslationUnit) -> Iterator[_Name]:
    """Each occurrence of a declared name, its declaration included, in a deterministic order."""
    outer = dict.fromkeys(it.name for it in unit.declarations if not isinstance(it, ast.ConstAssert))
    yield from map(_Name, outer)
    for declaration in unit.declarations:
        local = dict.fromkeys(_locals(declaration))
        function = declaration.name if isinstance(declaration, ast.Function) else None
        yield from (_Name(it, function) for it in local)
        for node in walk(declaration):
            if isinstance(node, ast.Identifier) and (node.name in local or node.name in outer):
                yield _Name(node.name, function if node.name in local else None)


def _locals(declaration: ast.Declaration) -> Iterable[str]:
    if not isinstance(declaration, ast.Function):
        return ()
    return (it.name for it in walk(declaration) if isinstance(it, _Declaration))


def _renamed(declaration: ast.Declaration, short: Mapping[_Name, str], members: Mapping[str, str]) -> ast.Declaration:
    function = declaration.name if isinstance(declaration, ast.Function) else None

    def name_of(text: str) -> str:
        return short.get(_Name(text, function)) or short.get(_Name(text), text)

    def rename(node: SchemaNode) -> SchemaNode:
        if isinstance(node, (ast.Member, ast.MemberAccess)):
            return _with_member(node, members)
        return _with_name(node, name_of) if isinstance(node, _Named) else node

    renamed = rewrite(declaration, rename)
    assert isinstance(renamed, ast.Declaration)
    return renamed


def _with_member(node: ast.Member | ast.MemberAccess, members: Mapping[str, str]) -> SchemaNode:
    if isinstance(node, ast.Member):
        return _with(node, "name", members.get(node.name, node.name))
    return _with(node, "member", members.get(node.member, node.member))


def _with_name(node: _Named, name_of: Callable[[str], str]) -> SchemaNode:
    return _with(node, "name", name_of(node.name))


def _with(node: SchemaNode, field: str, value: str) -> SchemaNode:
    copy = type(node).blank()
    copy.fill({info.name: getattr(node, info.name) for info in node.FIELDS} | {field: value})
    return copy
