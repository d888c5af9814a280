# Written by `python -m tinct.ir.schema.generate` from ir/schema/dataflow.asdl: change the schema, not this file.

"""Dataflow graphs of kernels, after the HPVM Language Reference.

Immutable, compared by value. Functions, shaders, nodes and ports refer to each other by name; the verifier checks that
the names exist. Every part has the span of its text where it was parsed.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from ...base.records import dataclass, field
from ..schema.runtime import Category, Count, ExactNode, FieldInfo, Schema, SchemaNode

if TYPE_CHECKING:
    from ..source import Span


class Access(enum.Enum):
    """`access` of the schema."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"


class Replication(enum.Enum):
    """`replication` of the schema."""

    ONE_TO_ONE = "one_to_one"
    ALL_TO_ALL = "all_to_all"


class Question(enum.Enum):
    """`question` of the schema."""

    NUM_DIMS = "num_dims"
    NODE_INSTANCE_ID = "node_instance_id"
    NUM_NODE_INSTANCES = "num_node_instances"


class Dimension(enum.Enum):
    """`dimension` of the schema."""

    X = "x"
    Y = "y"
    Z = "z"


class BinaryOp(enum.Enum):
    """`binary_op` of the schema."""

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    REM = "rem"
    MIN = "min"
    MAX = "max"
    CEIL_DIV = "ceil_div"


@dataclass(frozen=True, slots=True, repr=False)
class Module(SchemaNode):
    """A program: shaders, node functions, and the root node, whose graph the host launches."""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("shaders", "shader", Category.NODE, Count.MANY),
        FieldInfo("functions", "function", Category.NODE, Count.MANY),
        FieldInfo("root", "CreateNode", Category.NODE),
    )

    shaders: tuple[Shader, ...]
    functions: tuple[Function, ...]
    root: CreateNode

    def __str__(self) -> str:
        from .text import print_module

        return print_module(self)


@dataclass(frozen=True, slots=True, repr=False)
class Shader(SchemaNode):
    """A shader under a name for leaves."""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("source", "shader_source", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    name: str
    source: ShaderSource
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class EmbeddedShader(SchemaNode):
    """`EmbeddedShader(str text)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("text", "str", Category.SCALAR),)

    text: str


@dataclass(frozen=True, slots=True, repr=False)
class ShaderFile(SchemaNode):
    """`ShaderFile(str path)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("path", "str", Category.SCALAR),)

    path: str


@dataclass(frozen=True, slots=True, repr=False)
class NestShader(SchemaNode):
    """`NestShader(str nest, str decisions, constant* sizes, bool reassociate)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("nest", "str", Category.SCALAR),
        FieldInfo("decisions", "str", Category.SCALAR),
        FieldInfo("sizes", "constant", Category.NODE, Count.MANY),
        FieldInfo("reassociate", "bool", Category.SCALAR),
    )

    nest: str
    decisions: str
    sizes: tuple[Constant, ...]
    reassociate: bool


@dataclass(frozen=True, slots=True, repr=False)
class Leaf(SchemaNode):
    """`Leaf(str name, port* ports, str shader, str entry, constant* constants, int* workgroup_size)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("ports", "port", Category.NODE, Count.MANY),
        FieldInfo("shader", "str", Category.SCALAR),
        FieldInfo("entry", "str", Category.SCALAR),
        FieldInfo("constants", "constant", Category.NODE, Count.MANY),
        FieldInfo("workgroup_size", "int", Category.SCALAR, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    name: str
    ports: tuple[Port, ...]
    shader: str
    entry: str
    constants: tuple[Constant, ...]
    workgroup_size: tuple[int, ...]
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Graph(SchemaNode):
    """`Graph(str name, port* ports, statement* body)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("ports", "port", Category.NODE, Count.MANY),
        FieldInfo("body", "statement", Category.NODE, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    name: str
    ports: tuple[Port, ...]
    body: tuple[Statement, ...]
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Host(SchemaNode):
    """`Host(str name, port* ports)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("ports", "port", Category.NODE, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    name: str
    ports: tuple[Port, ...]
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Port(SchemaNode):
    """A parameter of a node function. An Inout port is an input and an output of the same name."""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("access", "access", Category.ENUM),
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("type", "type", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    access: Access
    name: str
    type: Type
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Type(SchemaNode):
    """A WGSL type, such as `array<vec2<f32>, 64>`; counts are arguments, too. A structure is known by name only."""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("arguments", "type", Category.NODE, Count.MANY),
    )

    name: str
    arguments: tuple[Type, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Constant(SchemaNode):
    """A value for an override, by name or, in digits, by id."""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("value", "number", Category.NODE),
    )

    name: str
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
class CreateNode(SchemaNode):
    """`CreateNode(str name, str function, expression* extents, int? capacity, expression? repeat)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("function", "str", Category.SCALAR),
        FieldInfo("extents", "expression", Category.NODE, Count.MANY),
        FieldInfo("capacity", "int", Category.SCALAR, Count.OPTIONAL, default=None),
        FieldInfo("repeat", "expression", Category.NODE, Count.OPTIONAL, default=None),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    name: str
    function: str
    extents: tuple[Expression, ...]
    capacity: int | None = field(default=None, kw_only=True)
    repeat: Expression | None = field(default=None, kw_only=True)
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Split(SchemaNode):
    """`Split(str name, type type, int count)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("type", "type", Category.NODE),
        FieldInfo("count", "int", Category.SCALAR),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    name: str
    type: Type
    count: int
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Malloc(SchemaNode):
    """`Malloc(str name, type type, expression* extents)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("type", "type", Category.NODE),
        FieldInfo("extents", "expression", Category.NODE, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    name: str
    type: Type
    extents: tuple[Expression, ...]
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class CreateEdge(SchemaNode):
    """`CreateEdge(endpoint source, endpoint destination, replication replication, bool streaming)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("source", "endpoint", Category.NODE),
        FieldInfo("destination", "endpoint", Category.NODE),
        FieldInfo("replication", "replication", Category.ENUM),
        FieldInfo("streaming", "bool", Category.SCALAR, default=False),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    source: Endpoint
    destination: Endpoint
    replication: Replication
    streaming: bool = field(default=False, kw_only=True)
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class BindInput(SchemaNode):
    """`BindInput(expression source, endpoint destination, bool streaming)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("source", "expression", Category.NODE),
        FieldInfo("destination", "endpoint", Category.NODE),
        FieldInfo("streaming", "bool", Category.SCALAR, default=False),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    source: Expression
    destination: Endpoint
    streaming: bool = field(default=False, kw_only=True)
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class BindOutput(SchemaNode):
    """`BindOutput(endpoint source, str output, bool streaming)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("source", "endpoint", Category.NODE),
        FieldInfo("output", "str", Category.SCALAR),
        FieldInfo("streaming", "bool", Category.SCALAR, default=False),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )

    source: Endpoint
    output: str
    streaming: bool = field(default=False, kw_only=True)
    span: Span | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Endpoint(SchemaNode):
    """A port of a child."""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("node", "str", Category.SCALAR),
        FieldInfo("port", "str", Category.SCALAR),
    )

    node: str
    port: str


@dataclass(frozen=True, slots=True, repr=False)
class Reference(SchemaNode):
    """`Reference(str name, selector* selectors)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("selectors", "selector", Category.NODE, Count.MANY),
    )

    name: str
    selectors: tuple[Selector, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Length(SchemaNode):
    """`Length(Reference value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("value", "Reference", Category.NODE),)

    value: Reference


@dataclass(frozen=True, slots=True, repr=False)
class Query(SchemaNode):
    """`Query(question question, int level, dimension? dimension)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("question", "question", Category.ENUM),
        FieldInfo("level", "int", Category.SCALAR),
        FieldInfo("dimension", "dimension", Category.ENUM, Count.OPTIONAL),
    )

    question: Question
    level: int
    dimension: Dimension | None


@dataclass(frozen=True, slots=True, repr=False)
class Binary(SchemaNode):
    """`Binary(binary_op op, expression lhs, expression rhs)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("op", "binary_op", Category.ENUM),
        FieldInfo("lhs", "expression", Category.NODE),
        FieldInfo("rhs", "expression", Category.NODE),
    )

    op: BinaryOp
    lhs: Expression
    rhs: Expression


@dataclass(frozen=True, slots=True, repr=False)
class Member(SchemaNode):
    """`Member(str name)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("name", "str", Category.SCALAR),)

    name: str


@dataclass(frozen=True, slots=True, repr=False)
class Element(SchemaNode):
    """`Element(int index)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("index", "int", Category.SCALAR),)

    index: int


ShaderSource: TypeAlias = EmbeddedShader | ShaderFile | NestShader
"""The WGSL text of a shader, or the path of its file, relative to the folder of the file that names it. Or what the
shader is made from: the text of a nest (ir/schedule), that of its decisions, the sizes for which alone it is made,
and whether sums of floats may be reassociated.
"""

Function: TypeAlias = Leaf | Graph | Host
"""Node functions.
  Leaf: the compute entry point `entry` of `shader`, with values for its overrides. Its ports are its bindings; a
    uniform binding that is a structure is one port, `params`, or a port for each member, `params.width`.
    `workgroup_size` is what the entry point declares, or nothing.
  Graph: the function of an internal node: its child graph.
  Host: a function of the host's language on arrays, which whoever runs the graph has under that name.
"""

Number: TypeAlias = IntegerLiteral | FloatLiteral | BoolLiteral

Statement: TypeAlias = CreateNode | Split | Malloc | CreateEdge | BindInput | BindOutput
"""The body of a graph. The order of statements has no meaning.
  CreateNode: a child that executes `function`, with instances in as many dimensions as there are extents. Those of
    a leaf are invocations, before rounding up to workgroups; with a `capacity`, at most so many in all. With a
    `repeat` it stands for that many nodes in a row: outputs become the inputs of the next one with the same names.
  Split: a child that gives `count` times what it gets: its input is `value`, its outputs are `copy0`, `copy1` …
  Malloc: a transient buffer, zero at the start of each execution of the graph. For a type that is or ends in a
    runtime-sized array, the extent is its number of elements; for a texture, extents are its width, height and so on.
  CreateEdge: the value of an output becomes that of an input, when all instances of the source have ended.
  BindInput: the value of an input of the graph, a transient buffer or a number becomes that of a child's input.
  BindOutput: the value of a child's output becomes that of an output of the graph.
"""

Expression: TypeAlias = IntegerLiteral | FloatLiteral | Reference | Length | Query | Binary
"""Numbers known when a child starts. Arithmetic is on whole numbers, without limits; division rounds down.
  Reference: `name` is an input of the graph, a transient buffer, or, with the first selector naming an output, a
    child; the selectors lead to a number inside of the value.
  Length: the number of elements of an array, or of the runtime-sized array that a structure ends in.
  Query: about the child that the expression is for (level 0), its parent (1), and so on.
"""

Selector: TypeAlias = Member | Element

SCHEMA = Schema(
    name="dataflow",
    kinds=(
        Module,
        Shader,
        EmbeddedShader,
        ShaderFile,
        NestShader,
        Leaf,
        Graph,
        Host,
        Port,
        Type,
        Constant,
        IntegerLiteral,
        FloatLiteral,
        BoolLiteral,
        CreateNode,
        Split,
        Malloc,
        CreateEdge,
        BindInput,
        BindOutput,
        Endpoint,
        Reference,
        Length,
        Query,
        Binary,
        Member,
        Element,
    ),
    enums={
        "access": Access,
        "replication": Replication,
        "question": Question,
        "dimension": Dimension,
        "binary_op": BinaryOp,
    },
    sums={
        "module": (Module,),
        "shader": (Shader,),
        "shader_source": (EmbeddedShader, ShaderFile, NestShader),
        "function": (Leaf, Graph, Host),
        "port": (Port,),
        "type": (Type,),
        "constant": (Constant,),
        "number": (IntegerLiteral, FloatLiteral, BoolLiteral),
        "statement": (CreateNode, Split, Malloc, CreateEdge, BindInput, BindOutput),
        "endpoint": (Endpoint,),
        "expression": (IntegerLiteral, FloatLiteral, Reference, Length, Query, Binary),
        "selector": (Member, Element),
    },
    externs=("span",),
)
