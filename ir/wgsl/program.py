"""Program: a resolved WGSL file, which is the syntax tree plus the facts that the resolver found.

Facts about expressions are looked up by node identity. With them, the builder of core IR makes single operations
without applying WGSL's conversion rules:

- `type`: the type of the expression as written; it may be abstract or a Reference.
- `result`: the type after the load rule and the conversion that its context requires: concrete, and never a Reference,
  unless the context needs the reference (left of `=`, `+=` or `++`, operand of `&`, object of an access). It may be
  abstract only inside a constant and in the initializer of a const.
- `loads`: whether the load rule turns the reference into its value here.
- `constant`: the value of a const-expression, already converted to `result`. An `&&` or `||` whose constant left
  operand determines the result has a constant, too, even if its right operand has none.

So the value of an expression is its constant if it has one; else that of its operation, followed by a load if `loads`.
Conversions of abstract values happen only in constants. An expression that never becomes a value (a type name, the
callee of a call) has no facts. A `Paren` shares the facts object of its operand.

The object of an access may be a pointer: `p.x` and `p[i]` are references to parts of the memory that it points to, and
a swizzle of several components loads the vector through the pointer. In what is assigned to, such a swizzle is a
`SwizzleView` instead. Its type is a Reference to a vector of its components, and its object is a memory view, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Generic, TypeAlias, TypeVar

from ...base.records import dataclass, field
from ..constants import ConstantValue
from ..diagnostics import Diagnostic
from ..source import Source, Span
from ..types import Access, AddressSpace, BindingPoint, IoAttributes, Stage, Struct, Type
from . import ast

N = TypeVar("N")
V = TypeVar("V")

_NO_IO = IoAttributes()


class NodeMap(Generic[N, V]):
    """A mapping from syntax-tree nodes by identity. Keeps the nodes alive."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[int, tuple[N, V]] = {}

    def __setitem__(self, node: N, value: V) -> None:
        self._entries[id(node)] = (node, value)

    def __getitem__(self, node: N) -> V:
        return self._entries[id(node)][1]

    def __contains__(self, node: N) -> bool:
        return id(node) in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def values(self) -> Iterator[V]:
        """All values, in the order in which their nodes were added."""
        return (value for _, value in self._entries.values())

    def get(self, node: N) -> V | None:
        """The value, or None."""
        entry = self._entries.get(id(node))
        return None if entry is None else entry[1]


@dataclass(slots=True)
class ExpressionFacts:
    """See the module's docstring."""

    type: Type
    result: Type
    loads: bool = False
    constant: ConstantValue | None = None


@dataclass(eq=False, slots=True)
class Variable:
    """A declared name with a value: module or function scope, parameters included.

    `type` is the store type of a `var`, else the type of the value (concrete for let, override and parameter; maybe
    abstract for const). `space`, `access` and `binding` belong to `var`. `constant` is a const's value. `override_id`
    is an override's `@id`. `initializer` is the syntax node, or None.
    """

    name: str
    kind: str  # "var" | "let" | "const" | "override" | "parameter"
    type: Type
    span: Span
    is_module_scope: bool
    initializer: ast.Expression | None = None
    space: AddressSpace | None = None
    access: Access | None = None
    binding: BindingPoint | None = None
    constant: ConstantValue | None = None
    override_id: int | None = None
    io: IoAttributes = _NO_IO


@dataclass(frozen=True, slots=True)
class DiagnosticFilter:
    """`diagnostic(severity, rule)`; the rule may have two parts, `a.b`."""

    severity: str
    rule: str


@dataclass(eq=False, slots=True)
class FunctionInfo:
    """A function declaration. `workgroup_size` holds expressions that have facts (const or override), 1 to 3 of them.

    `resources` are the module-scope `var`s (with binding, workgroup and private ones) and overrides that it uses, in
    declaration order: in its body and attributes, or through types, initial values and calls, including uses in dead
    code and phony assignments. `calls` are the user functions that it calls directly.
    """

    name: str
    node: ast.Function
    parameters: tuple[Variable, ...]
    return_type: Type
    return_io: IoAttributes
    stage: Stage | None
    workgroup_size: tuple[ast.Expression, ...] = ()
    subgroup_size: ast.Expression | None = None
    resources: Sequence[Variable] = ()
    calls: tuple[FunctionInfo, ...] = ()
    diagnostics: tuple[DiagnosticFilter, ...] = ()
    must_use: bool = False


@dataclass(frozen=True, slots=True)
class CallsFunction:
    """A call of a user function."""

    function: FunctionInfo


@dataclass(frozen=True, slots=True)
class CallsBuiltin:
    """A call of a builtin function. `template_arguments` as in `bitcast<T>`."""

    name: str
    template_arguments: tuple[Type, ...] = ()


@dataclass(frozen=True, slots=True)
class Constructs:
    """A value constructor or zero value of `type`, which is concrete unless the expression is constant."""

    type: Type


@dataclass(frozen=True, slots=True)
class Converts:
    """A value conversion to `type` from a scalar, vector or matrix of another, or the same, scalar type."""

    type: Type


CallTarget: TypeAlias = CallsFunction | CallsBuiltin | Constructs | Converts


@dataclass(frozen=True, slots=True)
class MemberIndex:
    """`object.member` of a structure."""

    index: int


@dataclass(frozen=True, slots=True)
class Swizzle:
    """`object.xyz` of a vector: one component (an access) or 2 to 4 (a swizzle)."""

    components: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SwizzleView:
    """`object.zy` of a vector in memory, where it is assigned to: 2 to 4 `components`, counted in that vector also
    where `object` is itself a view, as in `v.xyz.zy` (WGSL, "Swizzle View Expression").
    """

    components: tuple[int, ...]


MemberTarget: TypeAlias = MemberIndex | Swizzle | SwizzleView


@dataclass(slots=True)
class Facts:
    """The facts that the resolver found, by syntax node. They exist for valid programs only.

    `names`: identifiers that name a variable. `declared`: the Variable of each Var, Let, Const, Override and Parameter
    node. `selectors`: the values of a Case's selectors without default ones, in the type of the switch.
    """

    expressions: NodeMap[ast.Expression, ExpressionFacts] = field(
        default_factory=NodeMap[ast.Expression, ExpressionFacts]
    )
    names: NodeMap[ast.Identifier, Variable] = field(default_factory=NodeMap[ast.Identifier, Variable])
    calls: NodeMap[ast.Call, CallTarget] = field(default_factory=NodeMap[ast.Call, CallTarget])
    members: NodeMap[ast.MemberAccess, MemberTarget] = field(default_factory=NodeMap[ast.MemberAccess, MemberTarget])
    declared: NodeMap[ast.Var | ast.Let | ast.Const | ast.Override | ast.Parameter, Variable] = field(
        default_factory=NodeMap["ast.Var | ast.Let | ast.Const | ast.Override | ast.Parameter", Variable]
    )
    selectors: NodeMap[ast.Case, tuple[ConstantValue, ...]] = field(
        default_factory=NodeMap[ast.Case, "tuple[ConstantValue, ...]"]
    )

    def swizzle_view(self, node: ast.Expression) -> SwizzleView | None:
        """The view that an expression is, if it is one."""
        while isinstance(node, ast.Paren):
            node = node.operand
        target = self.members[node] if isinstance(node, ast.MemberAccess) else None
        return target if isinstance(target, SwizzleView) else None


@dataclass(eq=False, slots=True)
class Program:
    """A valid WGSL module, resolved.

    `structs`, `variables` (module scope: var, override, const) and `functions` are in dependency order: a declaration
    comes before its users. `override_counts` gives the expression of each override-sized array count.
    """

    source: Source
    unit: ast.TranslationUnit
    structs: tuple[Struct, ...]
    variables: tuple[Variable, ...]
    functions: tuple[FunctionInfo, ...]
    enables: tuple[str, ...]
    requires: tuple[str, ...]
    diagnostics: tuple[DiagnosticFilter, ...]
    override_counts: Mapping[tuple[str, int], ast.Expression]
    facts: Facts
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def entry_points(self) -> tuple[FunctionInfo, ...]:
        """The functions that have a shader stage."""
        return tuple(function for function in self.functions if function.stage is not None)
