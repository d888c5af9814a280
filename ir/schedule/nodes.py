# Written by `python -m tinct.ir.schema.generate` from ir/schema/schedule.asdl: change the schema, not this file.

"""Loop nests whose schedule is left open, after the values of Telamon.

Immutable, compared by value. Dimensions, arrays and values refer to each other by name; the verifier checks that the
names exist. Every part has the span of its text where it was parsed.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from ...base.records import dataclass, field
from ..schema.runtime import Category, Count, ExactNode, FieldInfo, Schema, SchemaNode

if TYPE_CHECKING:
    from ..source import Span


class Direction(enum.Enum):
    """`direction` of the schema."""

    IN = "in"
    OUT = "out"


class ElementType(enum.Enum):
    """`element_type` of the schema."""

    BOOL = "bool"
    I32 = "i32"
    U32 = "u32"
    F32 = "f32"
    F16 = "f16"


class Boundary(enum.Enum):
    """What a load outside of its array gives. Inside: there is no such load. Clamp: the nearest element. Zero: zero."""

    INSIDE = "inside"
    CLAMP = "clamp"
    ZERO = "zero"


class Execution(enum.Enum):
    """`execution` of the schema."""

    LOOP = "loop"
    UNROLLED = "unrolled"
    TREE = "tree"
    VECTOR = "vector"
    INVOCATION = "invocation"
    SUBGROUP = "subgroup"
    WORKGROUP = "workgroup"
    ATOMIC = "atomic"
    PARTIAL = "partial"


class Buffering(enum.Enum):
    """`buffering` of the schema."""

    SINGLE = "single"
    DOUBLE = "double"
    SLIDING = "sliding"


class Location(enum.Enum):
    """`location` of the schema."""

    REGISTERS = "registers"
    SUBGROUP = "subgroup"
    WORKGROUP = "workgroup"
    STORAGE = "storage"


@dataclass(frozen=True, slots=True, repr=False)
class Nest(SchemaNode):
    """A nest. Its sizes are whole numbers that whoever runs it gives. Each statement comes after those that it uses."""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("sizes", "str", Category.SCALAR, Count.MANY),
        FieldInfo("dimensions", "dimension", Category.NODE, Count.MANY),
        FieldInfo("arrays", "array", Category.NODE, Count.MANY),
        FieldInfo("body", "statement", Category.NODE, Count.MANY),
        FieldInfo("combines", "combine", Category.NODE, Count.MANY),
    )

    name: str
    sizes: tuple[str, ...]
    dimensions: tuple[Dimension, ...]
    arrays: tuple[Array, ...]
    body: tuple[Statement, ...]
    combines: tuple[Combine, ...]

    def __str__(self) -> str:
        from .text import print_nest

        return print_nest(self)


@dataclass(frozen=True, slots=True, repr=False)
class Dimension(SchemaNode):
    """An iteration dimension: the whole numbers from 0 to `size` - 1."""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("size", "affine", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    name: str
    size: Affine
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Array(SchemaNode):
    """An array of numbers, row by row, which the nest loads from or stores to."""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("direction", "direction", Category.ENUM),
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("type", "element_type", Category.ENUM),
        FieldInfo("extents", "affine", Category.NODE, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    direction: Direction
    name: str
    type: ElementType
    extents: tuple[Affine, ...]
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Affine(SchemaNode):
    """A sum of names, each times a number, and a constant. No name comes twice."""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("terms", "term", Category.NODE, Count.MANY),
        FieldInfo("constant", "int", Category.SCALAR),
    )

    terms: tuple[Term, ...]
    constant: int


@dataclass(frozen=True, slots=True, repr=False)
class Term(SchemaNode):
    """`Term(int coefficient, str name)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("coefficient", "int", Category.SCALAR),
        FieldInfo("name", "str", Category.SCALAR),
    )

    coefficient: int
    name: str


@dataclass(frozen=True, slots=True, repr=False)
class Load(SchemaNode):
    """`Load(str name, element_type type, str array, affine* subscripts, boundary boundary, str* dimensions)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("type", "element_type", Category.ENUM),
        FieldInfo("array", "str", Category.SCALAR),
        FieldInfo("subscripts", "affine", Category.NODE, Count.MANY),
        FieldInfo("boundary", "boundary", Category.ENUM),
        FieldInfo("dimensions", "str", Category.SCALAR, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    name: str
    type: ElementType
    array: str
    subscripts: tuple[Affine, ...]
    boundary: Boundary
    dimensions: tuple[str, ...]
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Gather(SchemaNode):
    """`Gather(str name, element_type type, str array, operand* subscripts, boundary boundary, str* dimensions)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("type", "element_type", Category.ENUM),
        FieldInfo("array", "str", Category.SCALAR),
        FieldInfo("subscripts", "operand", Category.NODE, Count.MANY),
        FieldInfo("boundary", "boundary", Category.ENUM),
        FieldInfo("dimensions", "str", Category.SCALAR, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    name: str
    type: ElementType
    array: str
    subscripts: tuple[Operand, ...]
    boundary: Boundary
    dimensions: tuple[str, ...]
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Index(SchemaNode):
    """`Index(str name, element_type type, affine value, str* dimensions)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("type", "element_type", Category.ENUM),
        FieldInfo("value", "affine", Category.NODE),
        FieldInfo("dimensions", "str", Category.SCALAR, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    name: str
    type: ElementType
    value: Affine
    dimensions: tuple[str, ...]
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Compute(SchemaNode):
    """`Compute(str name, element_type type, str function, operand* operands, str* dimensions)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("type", "element_type", Category.ENUM),
        FieldInfo("function", "str", Category.SCALAR),
        FieldInfo("operands", "operand", Category.NODE, Count.MANY),
        FieldInfo("dimensions", "str", Category.SCALAR, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    name: str
    type: ElementType
    function: str
    operands: tuple[Operand, ...]
    dimensions: tuple[str, ...]
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Fby(SchemaNode):
    """`Fby(str name, element_type type, operand first, str next, str* dimensions)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("type", "element_type", Category.ENUM),
        FieldInfo("first", "operand", Category.NODE),
        FieldInfo("next", "str", Category.SCALAR),
        FieldInfo("dimensions", "str", Category.SCALAR, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    name: str
    type: ElementType
    first: Operand
    next: str
    dimensions: tuple[str, ...]
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Last(SchemaNode):
    """`Last(str name, element_type type, str value, str* dimensions)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("type", "element_type", Category.ENUM),
        FieldInfo("value", "str", Category.SCALAR),
        FieldInfo("dimensions", "str", Category.SCALAR, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    name: str
    type: ElementType
    value: str
    dimensions: tuple[str, ...]
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Map(SchemaNode):
    """`Map(str name, element_type type, str value, pair* pairs)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("type", "element_type", Category.ENUM),
        FieldInfo("value", "str", Category.SCALAR),
        FieldInfo("pairs", "pair", Category.NODE, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    name: str
    type: ElementType
    value: str
    pairs: tuple[Pair, ...]
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Store(SchemaNode):
    """`Store(str array, affine* subscripts, operand value, str* dimensions)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("array", "str", Category.SCALAR),
        FieldInfo("subscripts", "affine", Category.NODE, Count.MANY),
        FieldInfo("value", "operand", Category.NODE),
        FieldInfo("dimensions", "str", Category.SCALAR, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    array: str
    subscripts: tuple[Affine, ...]
    value: Operand
    dimensions: tuple[str, ...]
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Scatter(SchemaNode):
    """`Scatter(str array, operand* subscripts, operand first, str function, operand value, str* dimensions)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("array", "str", Category.SCALAR),
        FieldInfo("subscripts", "operand", Category.NODE, Count.MANY),
        FieldInfo("first", "operand", Category.NODE),
        FieldInfo("function", "str", Category.SCALAR),
        FieldInfo("value", "operand", Category.NODE),
        FieldInfo("dimensions", "str", Category.SCALAR, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    array: str
    subscripts: tuple[Operand, ...]
    first: Operand
    function: str
    value: Operand
    dimensions: tuple[str, ...]
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Combine(SchemaNode):
    """How parts of values that are carried together become one: the values of two parts are named by `left` and
    `right`,
    `body` computes `results` of them, one for each carried value. `neutral` are the values of a part without elements.
    Instructions of the body are on no dimension, and use nothing but each other and the two parts.
    """

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("carried", "str", Category.SCALAR, Count.MANY),
        FieldInfo("neutral", "operand", Category.NODE, Count.MANY),
        FieldInfo("left", "str", Category.SCALAR, Count.MANY),
        FieldInfo("right", "str", Category.SCALAR, Count.MANY),
        FieldInfo("body", "statement", Category.NODE, Count.MANY),
        FieldInfo("results", "operand", Category.NODE, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    carried: tuple[str, ...]
    neutral: tuple[Operand, ...]
    left: tuple[str, ...]
    right: tuple[str, ...]
    body: tuple[Statement, ...]
    results: tuple[Operand, ...]
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Pair(SchemaNode):
    """`Pair(str source, str target)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("source", "str", Category.SCALAR),
        FieldInfo("target", "str", Category.SCALAR),
    )

    source: str
    target: str


@dataclass(frozen=True, slots=True, repr=False)
class Use(SchemaNode):
    """`Use(str name)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("name", "str", Category.SCALAR),)

    name: str


@dataclass(frozen=True, slots=True, repr=False)
class Constant(SchemaNode):
    """`Constant(element_type type, number value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("type", "element_type", Category.ENUM),
        FieldInfo("value", "number", Category.NODE),
    )

    type: ElementType
    value: Number


@dataclass(frozen=True, slots=True, repr=False)
class IntegerLiteral(SchemaNode):
    """`IntegerLiteral(int value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("value", "int", Category.SCALAR),)

    value: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FloatLiteral(ExactNode):
    """`FloatLiteral(float value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("value", "float", Category.SCALAR),)

    value: float


@dataclass(frozen=True, slots=True, repr=False)
class BoolLiteral(SchemaNode):
    """`BoolLiteral(bool value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("value", "bool", Category.SCALAR),)

    value: bool


@dataclass(frozen=True, slots=True, repr=False)
class Decisions(SchemaNode):
    """One point of the space of schedules. Dimensions that it does not name are loops of one level.
    `grid` are the dimensions with workgroups, the last one along x; without it, they are in the order of `dimensions`.
    `private` are outputs of which each workgroup has a copy in workgroup memory, to which it joins what a Scatter
    gives, and which it joins to the output in the end.
    """

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("dimensions", "dimension_levels", Category.NODE, Count.MANY),
        FieldInfo("order", "level_name", Category.NODE, Count.MANY),
        FieldInfo("stages", "stage", Category.NODE, Count.MANY, default=()),
        FieldInfo("peeled", "str", Category.SCALAR, Count.MANY, default=()),
        FieldInfo("grid", "str", Category.SCALAR, Count.MANY, default=()),
        FieldInfo("private", "str", Category.SCALAR, Count.MANY, default=()),
        FieldInfo("kept", "keep", Category.NODE, Count.MANY, default=()),
    )

    dimensions: tuple[DimensionLevels, ...]
    order: tuple[LevelName, ...]
    stages: tuple[Stage, ...] = field(default=(), kw_only=True)
    peeled: tuple[str, ...] = field(default=(), kw_only=True)
    grid: tuple[str, ...] = field(default=(), kw_only=True)
    private: tuple[str, ...] = field(default=(), kw_only=True)
    kept: tuple[Keep, ...] = field(default=(), kw_only=True)

    def __str__(self) -> str:
        from .text import print_decisions

        return print_decisions(self)


@dataclass(frozen=True, slots=True, repr=False)
class DimensionLevels(SchemaNode):
    """The levels of a dimension, most significant first. The index is (l0 * f1 + l1) * f2 + l2 and so on. The first
    level
    has no factor: it has as many iterations as the size needs.
    """

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("dimension", "str", Category.SCALAR),
        FieldInfo("levels", "level", Category.NODE, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    dimension: str
    levels: tuple[Level, ...]
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Level(SchemaNode):
    """Loop: iterations in order. Unrolled: the same, written out. Tree: written out, with an accumulator for each
    iteration, which a tree joins at the end. Vector: the components of a vector, for adjacent indices. Invocation: the
    invocations of a workgroup. Subgroup: the same, but what they carry is joined by subgroup operations. Workgroup:
    the workgroups. Atomic: workgroups that join what they carry in the output, by atomic operations. Partial:
    workgroups whose parts are joined by a second dispatch.
    """

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("execution", "execution", Category.ENUM),
        FieldInfo("factor", "int", Category.SCALAR, Count.OPTIONAL),
    )

    execution: Execution
    factor: int | None


@dataclass(frozen=True, slots=True, repr=False)
class LevelName(SchemaNode):
    """A level of a dimension by its position. `order` lists loops and unrolled levels, outermost first."""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("dimension", "str", Category.SCALAR),
        FieldInfo("level", "int", Category.SCALAR),
    )

    dimension: str
    level: int


@dataclass(frozen=True, slots=True, repr=False)
class Stage(SchemaNode):
    """The invocations of a workgroup copy the elements that some loads need to workgroup memory, and load from there.
    The loads are of one array, and differ by constants in their subscripts; they share the copy. The name of an array
    stands for all of its loads. The copy is made in each iteration of the loop `at`, or else once, and has `padding`
    unused elements at the end of each row.
      Single: one place, for which the invocations wait before and after they fill it. Double: two places by turns,
      so that they wait once. Sliding: one place, in which rows that the next iteration needs too stay, and new ones
      take the place of the others.
    """

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("loads", "str", Category.SCALAR, Count.MANY),
        FieldInfo("at", "level_name", Category.NODE, Count.OPTIONAL),
        FieldInfo("padding", "int", Category.SCALAR, default=0),
        FieldInfo("buffering", "buffering", Category.ENUM, default=Buffering.SINGLE),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    loads: tuple[str, ...]
    at: LevelName | None
    padding: int = field(default=0, kw_only=True)
    buffering: Buffering = field(default=Buffering.SINGLE, kw_only=True)
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Keep(SchemaNode):
    """A value is computed once for each point of its dimensions, in loops of its own or in those that use it first, and
    all others load it. A map of the value, and a value that is computed in the same way in other dimensions, are the
    same memory. Registers: variables of an invocation, which reads what it wrote. Subgroup: the same, but of
    invocations
    that would all compute the same value one of each subgroup does, and broadcasts it. Workgroup: memory of a
    workgroup; of invocations that would compute the same value one does. Storage: an array between two dispatches.
    """

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("value", "str", Category.SCALAR),
        FieldInfo("location", "location", Category.ENUM),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    value: str
    location: Location
    span: Span | None = field(default=None, kw_only=True, compare=False)


Statement: TypeAlias = Load | Gather | Index | Compute | Fby | Last | Map | Store | Scatter
"""Values, by name, with their types, and stores.
  Load, Gather, Index, Compute: the value `inst` of an instruction, which is executed for each point of its
    dimensions. Load: an element of an array that is only loaded from. Gather: the same, at computed subscripts,
    so that its boundary is never Inside. Index: a number made of indices and sizes. Compute: an operator, a
    builtin function, a conversion (named as the type) or `copy`.
  Fby: "followed by". In the first iteration of the dimensions, in lexicographic order, `first`; in each other one
    what `next` was in the iteration before it.
  Last: what the value is in the last iteration of the dimensions; of a Fby, what it would be in the iteration
    after that, which for dimensions without any iteration is `first`.
  Map: the value at equal indices of other dimensions.
  Store: writes an element of an array for each point of its dimensions.
  Scatter: for each point of its dimensions, in lexicographic order, joins a value by a function to the element
    of an array that computed subscripts name. Elements are `first` in the beginning, a constant. Points whose
    subscripts are outside of the array change nothing.
"""

Operand: TypeAlias = Use | Constant
"""What an operation takes. A constant is no value: it has no location, and each use has its own copy."""

Number: TypeAlias = IntegerLiteral | FloatLiteral | BoolLiteral

SCHEMA = Schema(
    name="schedule",
    kinds=(
        Nest,
        Dimension,
        Array,
        Affine,
        Term,
        Load,
        Gather,
        Index,
        Compute,
        Fby,
        Last,
        Map,
        Store,
        Scatter,
        Combine,
        Pair,
        Use,
        Constant,
        IntegerLiteral,
        FloatLiteral,
        BoolLiteral,
        Decisions,
        DimensionLevels,
        Level,
        LevelName,
        Stage,
        Keep,
    ),
    enums={
        "direction": Direction,
        "element_type": ElementType,
        "boundary": Boundary,
        "execution": Execution,
        "buffering": Buffering,
        "location": Location,
    },
    sums={
        "nest": (Nest,),
        "dimension": (Dimension,),
        "array": (Array,),
        "affine": (Affine,),
        "term": (Term,),
        "statement": (Load, Gather, Index, Compute, Fby, Last, Map, Store, Scatter),
        "combine": (Combine,),
        "pair": (Pair,),
        "operand": (Use, Constant),
        "number": (IntegerLiteral, FloatLiteral, BoolLiteral),
        "decisions": (Decisions,),
        "dimension_levels": (DimensionLevels,),
        "level": (Level,),
        "level_name": (LevelName,),
        "stage": (Stage,),
        "keep": (Keep,),
    },
    externs=("span",),
)
