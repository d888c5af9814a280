"""The text form of core IR: printer and parser. `same(parse(print_module(m), m.structs), m)` holds for every verified
module.

The file exceeds the usual length because it holds both halves, which have to change together.

    enable f16
    struct Particle {
      position: vec2<f32> @align(16)
    }
    root {
      %data: ptr<storage, array<Particle>, read_write> = var @group(0) @binding(1)
      %n: u32 = override @id(3) 4u
      %0: u32 = multiply %n, 2u
      count 'n * 2' = %0
    }
    @compute @workgroup_size(64u) @resources(%data)
    fn @main(%id: vec3<u32> @builtin(global_invocation_id)) -> void {
      b0: {
        %i: u32 = access %id, 0u
        ...
        if %c [true: b1, false: b2, merge: b3]
      }
        b1: { ... branch b3(%x) }

`%name` is a value, `@name` a function or an attribute, `bN` a block. Values without a name are numbered, blocks too;
indentation means nothing. A constant stands where it is used: `1i`, `2u`, `0.5f`, `-0.0h`, `+inf_f`, `+nan_f`,
`true`, and for composites `vec2<f32>{1.0f, 2.0f}`, `array<u32, 64>{64 * 0u}`, with inner braces bare. Source spans
are not part of the text.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NoReturn, TypeVar, assert_never

import numpy

from ..builtins.results import compare_exchange_result, frexp_result, modf_result
from ..constants import ConstantValue, RawValue, Repeated
from ..diagnostics import Diagnostic, Severity, ShaderError
from ..language import (
    BUILTIN_VALUES,
    DEPTH_MODES,
    ENABLE_EXTENSIONS,
    LANGUAGE_FEATURES,
    SAMPLINGS,
    SEVERITIES,
    TEXEL_FORMATS,
)
from ..ops import BinaryOp, UnaryOp
from ..scalars import EvaluationError, fits, parse_float_literal
from ..schema.runtime import Count, FieldInfo, values_of
from ..source import Source, Span
from ..types import (
    F16,
    F32,
    I32,
    SCALARS,
    U32,
    VOID,
    Access,
    AddressSpace,
    Array,
    BindingPoint,
    Buffer,
    Extent,
    IoAttributes,
    OverrideCount,
    Pointer,
    Scalar,
    ScalarKind,
    Stage,
    Struct,
    StructMember,
    Texture,
    TextureKind,
    Type,
    array,
    atomic,
    buffer,
    default_access,
    element_count,
    element_type,
    matrix,
    pointer,
    sampler,
    texture,
    vector,
)
from . import nodes
from .builder import empty_block, empty_module
from .structure import entered_blocks
from .values import Value

T = TypeVar("T")
V = TypeVar("V", bound=nodes.AnyValue)
E = TypeVar("E", bound=enum.Enum)

_UNARY = (UnaryOp.NEGATE, UnaryOp.COMPLEMENT, UnaryOp.NOT)
_OPERATORS: Mapping[str, tuple[type[nodes.Instruction], UnaryOp | BinaryOp]] = {
    **{op.name.lower(): (nodes.Unary, op) for op in _UNARY},
    **{op.name.lower(): (nodes.Binary, op) for op in BinaryOp if not op.is_short_circuit},
}
_WORDS = {op: word for word, (_, op) in _OPERATORS.items()}
_SUFFIXES = {ScalarKind.I32: "i", ScalarKind.U32: "u", ScalarKind.F32: "f", ScalarKind.F16: "h"}
_SCALARS_BY_SUFFIX = {suffix: SCALARS[kind.value] for kind, suffix in _SUFFIXES.items()}
_COMPONENTS = "xyzw"
_ALL_DIMENSIONS = ("1d", "2d", "2d_array", "3d", "cube", "cube_array")
_DIMENSIONS = {
    TextureKind.SAMPLED: _ALL_DIMENSIONS,
    TextureKind.MULTISAMPLED: ("2d",),
    TextureKind.DEPTH: ("2d", "2d_array", "cube", "cube_array"),
    TextureKind.DEPTH_MULTISAMPLED: ("2d",),
    TextureKind.STORAGE: ("1d", "2d", "2d_array", "3d"),
}
_MOST_DIGITS = 20
_DEEPEST_TYPE = 64


# Types and constants, printed.


def print_type(type: Type) -> str:
    """The text of a type: as in WGSL, but an override-sized count is in quotes and a storage pointer always has its
    access mode.
    """
    match type:
        case Array(element=element, count=None):
            return f"array<{print_type(element)}>"
        case Array(element=element, count=int() | OverrideCount() as count):
            return f"array<{print_type(element)}, {print_extent(count)}>"
        case Buffer(size=OverrideCount() as size):
            return f"buffer<{print_count(size)}>"
        case Pointer(space=space, store=store, access=access):
            is_plain = access is default_access(space) and space is not AddressSpace.STORAGE
            mode = "" if is_plain else f", {access.value}"
            return f"ptr<{space.value}, {print_type(store)}{mode}>"
        case _:
            return str(type)


def print_struct(struct: Struct) -> list[str]:
    """The lines of a structure without their indentation: the name and `{`, the members, and `}`."""
    return [f"{struct.name} {{", *map(_print_member, struct.members), "}"]


def _print_member(member: StructMember) -> str:
    align = "" if member.align is None else f" @align({member.align})"
    size = "" if member.size is None else f" @size({member.size})"
    return f"{member.name}: {print_type(member.type)}{align}{size}{print_io(member.io)}"


def print_count(count: OverrideCount) -> str:
    """An override-sized array count: its name, with the number that distinguishes it from other counts of that name."""
    return f"'{count.name}'" + (f"#{count.key}" if count.key else "")


def print_constant(value: ConstantValue) -> str:
    """A constant as an operand."""
    text = _print_raw(value.type, value.value)
    return text if isinstance(value.type, Scalar) else f"{print_type(value.type)}{text}"


def _print_raw(type: Type, value: RawValue) -> str:
    if isinstance(type, Scalar):
        return _print_scalar(type, value)
    if isinstance(value, (bool, int, float)):
        return f"<{value!r} is no {type}>"
    inner = element_type(type)
    if isinstance(value, Repeated) and inner is not None:
        return f"{{{len(value)} * {_print_raw(inner, value.item)}}}"
    parts = ((element_type(type, index), item) for index, item in enumerate(value))
    return f"{{{', '.join(_print_raw(part, item) for part, item in parts if part is not None)}}}"


def _print_scalar(type: Scalar, value: RawValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _print_float(value, type)
    return f"{value}{_SUFFIXES.get(type.kind, '')}"


def _print_float(value: float, type: Scalar) -> str:
    """The shortest decimal that rounds to the value in its type; infinities and NaN have a sign, `+` or `-`."""
    suffix = _SUFFIXES.get(type.kind, "")
    if value != value:
        return f"+nan_{suffix}"
    if value in (float("inf"), float("-inf")):
        return f"{'+' if value > 0 else '-'}inf_{suffix}"
    shortest = numpy.float16(value) if type is F16 else numpy.float32(value)
    return f"{shortest}{suffix}"


# Modules, printed.


@dataclass(slots=True)
class Printed:
    """Lines of text, and the line (from 0) of each node by its `id`."""

    lines: list[str]
    places: dict[int, int]

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n" if self.lines else ""


def print_extent(extent: Extent) -> str:
    """A number, or a count."""
    return str(extent) if isinstance(extent, int) else print_count(extent)


def print_module(module: nodes.Module) -> str:
    """The text of a module. Any module can be printed, even one that breaks the verifier's rules."""
    return str(print_with_places(module))


def print_with_places(module: nodes.Module) -> Printed:
    """The text, and the line of each structure, function, block, value and branch."""
    printer = _Printer(module)
    printer.module_()
    return Printed(printer.lines, printer.places)


class _Printer:
    def __init__(self, module: nodes.Module) -> None:
        self.module = module
        self.lines: list[str] = []
        self.places: dict[int, int] = {}
        self.values: dict[int, str] = {}
        self.labels: dict[int, str] = {}
        self.printed: set[int] = set()
        self.temporaries = 0

    def line(self, depth: int, text: str, node: object = None) -> None:
        if node is not None:
            self.places[id(node)] = len(self.lines)
        self.lines.append("  " * depth + text)

    def module_(self) -> None:
        module = self.module
        for name in module.enables:
            self.line(0, f"enable {name}")
        for name in module.requires:
            self.line(0, f"requires {name}")
        for rule in module.diagnostics:
            self.line(0, f"diagnostic({rule.severity}, {rule.rule})")
        for struct in module.structs:
            head, *members, end = print_struct(struct)
            self.line(0, f"struct {head}", struct)
            for member in members:
                self.line(1, member)
            self.line(0, end)
        self.root()
        for function in module.functions:
            self.function(function)

    def root(self) -> None:
        self.places[id(self.module.root)] = len(self.lines)
        if not self.module.root.instructions and not self.module.counts and self.module.root.branch is None:
            return
        self.line(0, "root {", self.module.root)
        for instruction in self.module.root.instructions:
            self.instruction(1, instruction)
        for count in self.module.counts:
            self.line(1, f"count {print_count(count.count)} = {self.value(count.value)}", count)
        if self.module.root.branch is not None:
            self.branch(1, self.module.root.branch)
        self.line(0, "}")

    def function(self, function: nodes.Function) -> None:
        before, self.labels = self.temporaries, {}
        for block in _blocks(function.start_target):
            self.label(block)
        attributes = " ".join(self.function_attributes(function))
        if attributes:
            self.line(0, attributes)
        parameters = ", ".join(
            f"{self.define(it)}: {print_type(it.type)}{print_io(it.io)}" for it in function.parameters
        )
        result = f"{print_type(function.return_type)}{print_io(function.return_io)}"
        self.line(0, f"fn @{function.name}({parameters}) -> {result} {{", function)
        self.block(1, function.start_target, function)
        self.line(0, "}")
        self.temporaries = before

    def function_attributes(self, function: nodes.Function) -> Iterator[str]:
        if function.stage is not None:
            yield f"@{function.stage.value}"
        if function.workgroup_size:
            yield f"@workgroup_size({self.operands(function.workgroup_size)})"
        if function.subgroup_size is not None:
            yield f"@subgroup_size({print_extent(function.subgroup_size)})"
        if function.resources:
            yield f"@resources({self.operands(function.resources)})"
        yield from map(_print_filter, function.diagnostics)
        if function.must_use:
            yield "@must_use"

    def block(self, depth: int, block: nodes.Block, function: nodes.Function) -> None:
        """Print a block and the blocks that can be reached from it, except those that are printed already."""
        pending = [(depth, block)]
        while pending:
            depth, block = pending.pop()
            if id(block) in self.printed:
                continue
            self.printed.add(id(block))
            arguments = ", ".join(f"{self.define(it)}: {print_type(it.type)}" for it in block.arguments)
            filters = "".join(f" {_print_filter(it)}" for it in block.diagnostics)
            head = f"{self.label(block)}{f'({arguments})' if arguments else ''}{filters}:"
            if block.branch is not None and not block.instructions:
                self.places[id(block.branch)] = len(self.lines)
                self.line(depth, f"{head} {{ {self.branch_text(block.branch, function)} }}", block)
            else:
                self.line(depth, f"{head} {{", block)
                for instruction in block.instructions:
                    self.instruction(depth + 1, instruction)
                if block.branch is not None:
                    self.branch(depth + 1, block.branch, function)
                self.line(depth, "}")
            pending.extend(reversed(_entered(depth, block)))

    def label(self, block: nodes.Block) -> str:
        return self.labels.setdefault(id(block), f"b{len(self.labels)}")

    def branch(self, depth: int, branch: nodes.Branch, function: nodes.Function | None = None) -> None:
        self.line(depth, self.branch_text(branch, function), branch)

    def branch_text(self, branch: nodes.Branch, function: nodes.Function | None) -> str:
        arguments = f"({self.operands(branch.arguments)})" if branch.arguments else ""
        match branch.target:
            case nodes.Block():
                return f"branch {self.label(branch.target)}{arguments}"
            case nodes.Terminator(unreachable=True):
                return f"unreachable{arguments}"
            case nodes.Terminator():
                is_end = function is None or branch.target is function.end_target
                return f"return {self.operands(branch.arguments)}".rstrip() if is_end else "return elsewhere"
            case nodes.If() as node:
                targets = [("true", node.true_target), ("false", node.false_target), ("merge", node.merge_target)]
                return f"if {self.value(node.condition)}{arguments} [{self.targets(targets)}]"
            case nodes.Loop() as node:
                rest = self.targets([("continuing", node.continuing_target), ("merge", node.merge_target)])
                return f"loop [start: {self.label(node.start_target)}{arguments}, {rest}]"
            case nodes.Switch() as node:
                cases = [(_print_case(case), case.target) for case in node.cases]
                rest = self.targets([*cases, ("merge", node.merge_target)])
                return f"switch {self.value(node.condition)}{arguments} [{rest}]"
            case _:
                assert_never(branch.target)

    def targets(self, targets: Iterable[tuple[str, nodes.Block | None]]) -> str:
        return ", ".join(f"{word}: {self.label(block)}" for word, block in targets if block is not None)

    def define(self, value: nodes.AnyValue) -> str:
        """The text of a value at its definition."""
        if value.name is not None:
            text = f"%{value.name}"
        else:
            text = f"%{self.temporaries}"
            self.temporaries += 1
        self.values[id(value)] = text
        self.places[id(value)] = len(self.lines)
        return text

    def value(self, value: Value) -> str:
        """The text of an operand; `%?` for a value whose definition has not been printed."""
        if isinstance(value, nodes.Constant):
            return print_constant(value.value)
        return self.values.get(id(value), "%?")

    def operands(self, values: Iterable[Value]) -> str:
        return ", ".join(map(self.value, values))

    def instruction(self, depth: int, node: nodes.Instruction) -> None:
        operation = self.operation(node)
        result = "" if node.type is VOID else f"{self.define(node)}: {print_type(node.type)} = "
        self.line(depth, result + operation, node)

    def operation(self, node: nodes.Instruction) -> str:
        match node:
            case nodes.Swizzle(object=object, components=components):
                return f"{node.WORD} {self.value(object)}, {''.join(_COMPONENTS[it] for it in components)}"
            case nodes.Var(binding=binding):
                place = "" if binding is None else f" @group({binding.group}) @binding({binding.binding})"
                return f"{node.WORD}{place} {self.operands(node.operands)}".rstrip()
            case nodes.Override(id=id):
                place = "" if id is None else f" @id({id})"
                return f"{node.WORD}{place} {self.operands(node.operands)}".rstrip()
            case nodes.Call(callee=callee, arguments=arguments):
                return f"{node.WORD} @{callee.name}({self.operands(arguments)})"
            case nodes.BuiltinCall(function=name, template_arguments=types, arguments=arguments):
                template = f"<{', '.join(map(print_type, types))}>" if types else ""
                return f"{node.WORD} {name}{template}({self.operands(arguments)})"
            case nodes.PureInstruction() | nodes.Load() | nodes.Store() | nodes.Discard():
                return self.plain(node)
            case _:
                assert_never(node)

    def plain(self, node: nodes.Instruction) -> str:
        """The instruction's word, then its fields in the order of the schema."""
        word, parts = node.WORD, list[str]()
        for info in node.FIELDS:
            if info.is_word:
                op = getattr(node, info.name)
                word = _WORDS.get(op, op.value)
            elif info.operand:
                parts += (self.value(it) for it in values_of(node, info) if isinstance(it, Value))
            elif not info.note and info.name != "type":
                parts += map(str, values_of(node, info))
        return f"{word} {', '.join(parts)}".rstrip()


def _blocks(start: nodes.Block) -> Iterator[nodes.Block]:
    """The blocks of a function in the order of the text, each once."""
    pending, seen = [start], set[int]()
    while pending:
        block = pending.pop()
        if id(block) not in seen:
            seen.add(id(block))
            yield block
            pending.extend(reversed([it for _, it in _entered(0, block)]))


def _entered(depth: int, block: nodes.Block) -> list[tuple[int, nodes.Block]]:
    """The blocks of the control-flow node that a block enters, in the order of the text, and their depths."""
    target = None if block.branch is None else block.branch.target
    entered = list(entered_blocks(block))
    if isinstance(target, (nodes.If, nodes.Loop, nodes.Switch)) and target.merge_target is not None:
        return [*((depth + 1, it) for it in entered[:-1]), (depth, entered[-1])]
    return [(depth + 1, it) for it in entered]


def _print_filter(rule: nodes.DiagnosticFilter) -> str:
    return f"@diagnostic({rule.severity}, {rule.rule})"


def _print_case(case: nodes.SwitchCase) -> str:
    words = [*map(print_constant, case.selectors), *(["default"] if case.is_default else [])]
    return f"case {', '.join(words)}"


def print_io(io: IoAttributes) -> str:
    """Attributes of an input or output, with a space before each."""
    builtin = [word for word in (io.builtin, io.depth_mode) if word is not None]
    words = [f"@builtin({', '.join(builtin)})"] if builtin else []
    numbers = {"location": io.location, "blend_src": io.blend_src, "color": io.color}
    words += [f"@{name}({number})" for name, number in numbers.items() if number is not None]
    words += [f"@interpolate({', '.join(io.interpolate)})"] if io.interpolate else []
    words += ["@invariant"] if io.invariant else []
    return "".join(f" {word}" for word in words)


# The parser.

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<number>[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?[iufh]?(?![\w])|(?:(?<=[+-])(?:inf|nan)_[fh])))
      | (?P<value>%(?:\w|[^\x00-\x7f])+)
      | (?P<at>@(?!\d)(?:\w|[^\x00-\x7f])+)
      | (?P<word>(?!\d)(?:\w|[^\x00-\x7f])+)
      | (?P<string>'[^']*')
      | (?P<mark>->|[(){}\[\]<>,:=#*.])""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    span: Span


def parse(source: Source | str, structs: Iterable[Struct] = ()) -> nodes.Module:
    """The module of a text. Raises ShaderError with the place of the first mistake.

    A structure with the same declaration as one of `structs` is read as that object, so that types of the text and of a
    program are identical. The parser does not check the rules of core IR: `verify` does.
    """
    source = Source.from_text(source, "<core>") if isinstance(source, str) else source
    return _Parser(source, list(structs)).module_()


def _tokens(source: Source) -> list[_Token]:
    text = source.data.decode("utf-8", "replace")
    tokens: list[_Token] = []
    position = offset = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        word = text[position] if match is None else match.group()
        end = offset + len(word.encode("utf-8", "replace"))
        if match is None:
            _fail(source, f"unexpected character {word!r}", Span(offset, end))
        if match.lastgroup != "space":
            tokens.append(_Token(match.lastgroup or "", word, Span(offset, end)))
        position, offset = match.end(), end
    return [*tokens, _Token("end", "", Span(offset, offset))]


def _fail(source: Source, message: str, span: Span) -> NoReturn:
    raise ShaderError([Diagnostic(Severity.ERROR, "core-text", message, span)], source)


class Fragments:
    """Reads parts of a module's text. Later parts can name the structures of earlier ones.

    A structure with the same declaration as one of `structs` is read as that object. All methods raise ShaderError.
    """

    def __init__(self, structs: Iterable[Struct] = ()) -> None:
        self._known_structs = list(structs)
        self._structs: dict[str, Struct] = {}

    def type(self, text: str) -> Type:
        """Reads the text of `print_type`."""
        return self._whole(text, _Parser.type_)

    def struct(self, text: str) -> Struct:
        """Reads the text of `print_struct`, its lines joined by spaces."""
        return self._whole(text, _Parser.struct)

    def constant(self, text: str) -> ConstantValue:
        """Reads the text of `print_constant`."""
        return self._whole(text, _Parser.constant)

    def count(self, text: str) -> OverrideCount:
        """Reads the text of `print_count`."""
        return self._whole(text, _Parser.count)

    def extent(self, text: str) -> Extent:
        """Reads the text of `print_extent`."""
        return self._whole(text, _Parser.extent)

    def io(self, text: str) -> IoAttributes:
        """Reads the text of `print_io`."""
        return self._whole(text, _Parser.io)

    def _whole(self, text: str, read: Callable[[_Parser], T]) -> T:
        parser = _Parser(Source.from_text(text, "<core>"), self._known_structs)
        parser.structs = self._structs
        result = read(parser)
        if parser.token.kind != "end":
            parser.fail("expected the end of the text")
        return result


class _Parser:
    def __init__(self, source: Source, known_structs: list[Struct]) -> None:
        self.source = source
        self.tokens = _tokens(source)
        self.index = 0
        self.known_structs = known_structs
        self.structs: dict[str, Struct] = {}
        self.functions: dict[str, nodes.Function] = {}
        self.root_values: dict[str, nodes.AnyValue] = {}
        self.values: dict[str, nodes.AnyValue] = {}
        self.labels: dict[str, tuple[nodes.Block, _Token]] = {}
        self.defined: set[str] = set()
        self.end_target = nodes.Terminator()
        self.depth = 0

    # Tokens.

    @property
    def token(self) -> _Token:
        return self.tokens[self.index]

    def fail(self, message: str, token: _Token | None = None) -> NoReturn:
        _fail(self.source, message, (token or self.token).span)

    def next(self, kind: str, what: str) -> _Token:
        token = self.token
        if token.kind != kind:
            self.fail(f"expected {what}")
        self.index += 1
        return token

    def take(self, text: str) -> bool:
        if self.token.text != text:
            return False
        self.index += 1
        return True

    def is_at(self, text: str) -> bool:
        return self.token.text == text

    def expect(self, text: str) -> None:
        if not self.take(text):
            self.fail(f"expected '{text}'")

    def word(self, what: str = "a name") -> str:
        return self.next("word", what).text

    def integer(self) -> int:
        token = self.next("number", "a number")
        if not re.fullmatch("[0-9]+", token.text):
            self.fail("expected a whole number", token)
        if len(token.text) > _MOST_DIGITS:
            self.fail("the number is too large", token)
        return int(token.text)

    def one_of(self, known: Container[str], what: str) -> str:
        """The next word, which must be one of `known`."""
        token = self.next("word", what)
        if token.text not in known:
            self.fail(f"expected {what}", token)
        return token.text

    def several(self, item: Callable[[], T], close: str) -> list[T]:
        """Items separated by commas, up to and including `close`."""
        items: list[T] = []
        while not self.take(close):
            if items:
                self.expect(",")
            items.append(item())
        return items

    # Module scope.

    def module_(self) -> nodes.Module:
        module = empty_module()
        while self.token.kind == "word" and self.token.text in ("enable", "requires", "diagnostic", "struct"):
            self.directive(module, self.word())
        if self.take("root"):
            self.expect("{")
            self.root(module)
        while self.token.kind != "end":
            self.function(module)
        return module

    def directive(self, module: nodes.Module, word: str) -> None:
        match word:
            case "enable":
                module.enables.append(self.one_of(ENABLE_EXTENSIONS, "an extension"))
            case "requires":
                module.requires.append(self.one_of(LANGUAGE_FEATURES, "a language feature"))
            case "diagnostic":
                module.diagnostics.append(self.diagnostic())
            case _:
                module.structs.append(self.struct())

    def diagnostic(self) -> nodes.DiagnosticFilter:
        self.expect("(")
        severity = self.one_of(SEVERITIES, "a severity")
        self.expect(",")
        rule = self.word("a diagnostic rule")  # WGSL only warns of unknown rules, which have no effect
        if self.take("."):
            rule += "." + self.word()
        self.expect(")")
        return nodes.DiagnosticFilter(severity, rule)

    def struct(self) -> Struct:
        name = self.word()
        self.expect("{")
        members: list[StructMember] = []
        while not self.take("}"):
            members.append(self.member())
        made = Struct(name, tuple(members))
        known = next((it for it in self.known_structs if _is_same_struct(it, made)), made)
        self.structs[name] = known
        return known

    def member(self) -> StructMember:
        name = self.word("a member")
        self.expect(":")
        type = self.type_()
        align = self.number_attribute("@align")
        size = self.number_attribute("@size")
        return StructMember(name, type, align, size, self.io())

    def number_attribute(self, name: str) -> int | None:
        if not self.take(name):
            return None
        self.expect("(")
        number = self.integer()
        self.expect(")")
        return number

    def io(self) -> IoAttributes:
        builtin, depth_mode = self.builtin_attribute()
        location, blend_src, color = map(self.number_attribute, ("@location", "@blend_src", "@color"))
        interpolate = self.interpolation()
        return IoAttributes(builtin, location, blend_src, color, interpolate, self.take("@invariant"), depth_mode)

    def interpolation(self) -> tuple[str, ...]:
        """The type of interpolation, and the sampling if the attribute has one."""
        if not self.take("@interpolate"):
            return ()
        self.expect("(")
        kind = self.one_of(SAMPLINGS, "a type of interpolation")
        words = (kind, self.one_of(SAMPLINGS[kind], "a way of sampling")) if self.take(",") else (kind,)
        self.expect(")")
        return words

    def builtin_attribute(self) -> tuple[str | None, str | None]:
        if not self.take("@builtin"):
            return None, None
        self.expect("(")
        builtin = self.one_of(BUILTIN_VALUES, "a built-in value")
        depth_mode = self.one_of(DEPTH_MODES, "a promise of depth") if self.take(",") else None
        self.expect(")")
        return builtin, depth_mode

    def root(self, module: nodes.Module) -> None:
        self.values = self.root_values
        while not self.take("}"):
            if self.take("count"):
                count = self.count()
                self.expect("=")
                module.counts.append(nodes.ArrayCount(count, self.operand()))
            else:
                module.root.instructions.append(self.instruction())

    def count(self) -> OverrideCount:
        name = self.next("string", "a count in quotes").text[1:-1]
        return OverrideCount(name, self.integer() if self.take("#") else 0)

    def extent(self) -> Extent:
        return self.count() if self.token.kind == "string" else self.integer()

    # Functions and blocks.

    def function(self, module: nodes.Module) -> None:
        self.values, self.labels, self.defined = {}, {}, set()
        function = nodes.Function("", None, (), (), VOID, IoAttributes(), empty_block(), nodes.Terminator())
        while self.token.text != "fn":
            self.function_attribute(function)
        self.expect("fn")
        function.name = self.next("at", "a function's name").text[1:]
        self.functions[function.name] = function
        self.expect("(")
        function.parameters = self.several(self.parameter, ")")
        self.expect("->")
        function.return_type = self.type_()
        function.return_io = self.io()
        self.end_target = function.end_target
        self.expect("{")
        self.body(function)
        module.functions.append(function)

    def body(self, function: nodes.Function) -> None:
        is_first = True
        while not self.take("}"):
            block = self.block()
            if is_first:
                function.start_target, is_first = block, False
        for label, (_, token) in self.labels.items():
            if label not in self.defined:
                self.fail(f"there is no block {label}", token)

    def function_attribute(self, function: nodes.Function) -> None:
        token = self.next("at", "a function")
        name = token.text[1:]
        if name in {stage.value for stage in Stage}:
            function.stage = Stage(name)
        elif name == "must_use":
            function.must_use = True
        elif name == "diagnostic":
            function.diagnostics.append(self.diagnostic())
        elif name == "workgroup_size":
            self.expect("(")
            function.workgroup_size = tuple(self.several(self.operand, ")"))
        elif name == "subgroup_size":
            self.expect("(")
            function.subgroup_size = self.extent()
            self.expect(")")
        elif name == "resources":
            self.expect("(")
            function.resources = self.several(self.resource, ")")
        else:
            self.fail("unknown attribute of a function", token)

    def resource(self) -> nodes.Var | nodes.Override:
        token = self.token
        value = self.operand()
        if not isinstance(value, (nodes.Var, nodes.Override)):
            self.fail("a resource is a variable or an override", token)
        return value

    def parameter(self) -> nodes.FunctionParameter:
        name, token = self.definition()
        type = self.type_()
        return self.defines(token, nodes.FunctionParameter(self.io(), type, name))

    def block_argument(self) -> nodes.BlockArgument:
        name, token = self.definition()
        return self.defines(token, nodes.BlockArgument(self.type_(), name))

    def definition(self) -> tuple[str | None, _Token]:
        """`%name:`; the name is None for a number."""
        token = self.next("value", "a value")
        self.expect(":")
        name = token.text[1:]
        return (None if name[0].isdigit() else name), token

    def defines(self, token: _Token, value: V) -> V:
        if token.text in self.values or token.text in self.root_values:
            self.fail("this value is made twice", token)
        self.values[token.text] = value
        return value

    def label(self) -> nodes.Block:
        """The block of a label, which may be defined later."""
        token = self.next("word", "a block")
        return self.labels.setdefault(token.text, (empty_block(), token))[0]

    def block(self) -> nodes.Block:
        token = self.token
        block = self.label()
        if token.text in self.defined:
            self.fail("this block is made twice", token)
        self.defined.add(token.text)
        if self.take("("):
            block.arguments = self.several(self.block_argument, ")")
        while self.take("@diagnostic"):
            block.diagnostics.append(self.diagnostic())
        self.expect(":")
        self.expect("{")
        while not self.take("}"):
            branch = self.branch()
            if branch is None:
                block.instructions.append(self.instruction())
                continue
            block.branch = branch
            self.expect("}")
            break
        return block

    # Branches.

    def branch(self) -> nodes.Branch | None:
        """A branch, or None where an instruction stands."""
        match self.token.text:
            case "branch":
                self.index += 1
                return nodes.Branch(self.label(), self.arguments())
            case "unreachable":
                self.index += 1
                return nodes.Branch(nodes.Terminator(unreachable=True), ())
            case "return":
                self.index += 1
                return nodes.Branch(self.end_target, () if self.is_at("}") else (self.operand(),))
            case "if":
                return self.enter_if()
            case "loop":
                return self.enter_loop()
            case "switch":
                return self.enter_switch()
            case _:
                return None

    def arguments(self) -> list[nodes.AnyValue]:
        return self.several(self.operand, ")") if self.take("(") else []

    def target(self, word: str) -> nodes.Block:
        self.expect(word)
        self.expect(":")
        return self.label()

    def enter_if(self) -> nodes.Branch:
        self.expect("if")
        condition = self.operand()
        self.expect("[")
        true = self.target("true")
        self.expect(",")
        false = self.target("false")
        merge = self.target("merge") if self.take(",") else None
        self.expect("]")
        return nodes.Branch(nodes.If(condition, true, false, merge), ())

    def enter_loop(self) -> nodes.Branch:
        self.expect("loop")
        self.expect("[")
        start = self.target("start")
        arguments = self.arguments()
        self.expect(",")
        continuing = self.target("continuing")
        self.expect(",")
        merge = self.target("merge")
        self.expect("]")
        return nodes.Branch(nodes.Loop(start, continuing, merge), arguments)

    def enter_switch(self) -> nodes.Branch:
        self.expect("switch")
        condition = self.operand()
        self.expect("[")
        cases = [self.case()]
        merge = None
        while self.take(","):
            if self.token.text == "merge":
                merge = self.target("merge")
                break
            cases.append(self.case())
        self.expect("]")
        return nodes.Branch(nodes.Switch(condition, cases, merge), ())

    def case(self) -> nodes.SwitchCase:
        self.expect("case")
        selectors: list[ConstantValue] = []
        is_default = False
        while self.token.text != ":":
            if selectors:
                self.expect(",")
            if self.take("default"):
                is_default = True
                break
            selectors.append(self.constant())
        self.expect(":")
        return nodes.SwitchCase(selectors, is_default, self.label())

    # Instructions.

    def instruction(self) -> nodes.Instruction:
        if self.token.kind != "value":
            return self.operation(VOID, None)
        name, token = self.definition()
        type = self.type_()
        self.expect("=")
        return self.defines(token, self.operation(type, name))

    def operation(self, type: Type, name: str | None) -> nodes.Instruction:
        token = self.next("word", "an instruction")
        match token.text:
            case nodes.Swizzle.WORD:
                return self.swizzle(type, name)
            case nodes.Var.WORD:
                binding = self.binding()
                return nodes.Var(self.optional_operand(), type, name, binding=binding)
            case nodes.Override.WORD:
                id = self.number_attribute("@id")
                return nodes.Override(self.optional_operand(), type, name, id=id)
            case nodes.Call.WORD:
                return self.call(type, name)
            case nodes.BuiltinCall.WORD:
                return self.builtin_call(type, name)
            case word if word in _OPERATORS:
                return self.plain(*_OPERATORS[word], type, name)
            case word if word in nodes.BY_WORD:
                return self.plain(nodes.BY_WORD[word], None, type, name)
            case _:
                return self.fail("unknown instruction", token)

    def plain(self, kind: type[nodes.Instruction], op: object, type: Type, name: str | None) -> nodes.Instruction:
        """Reads the fields in the order of the schema; `op` is the operator that the instruction's word names."""
        values: dict[str, object] = {"type": type, "name": name}
        is_first = True
        for info in kind.FIELDS:
            if info.is_word:
                values[info.name] = op
            elif info.name not in values and not info.note:
                values[info.name] = self.field(info, is_first=is_first)
                is_first = False
        return kind.of(values)

    def field(self, info: FieldInfo, *, is_first: bool) -> object:
        """The value of a field. A comma precedes every field but the first; a list in the first field is not empty."""
        readers: Mapping[str, Callable[[], object]] = {"value": self.operand, "int": self.integer, "str": self.word}
        read = readers[info.type]
        if info.count is not Count.MANY:
            if not is_first:
                self.expect(",")
            return read()
        items = [read()] if is_first else []
        while self.take(","):
            items.append(read())
        return items

    def swizzle(self, type: Type, name: str | None) -> nodes.Swizzle:
        object = self.operand()
        self.expect(",")
        token = self.next("word", "components")
        if not set(token.text) <= set(_COMPONENTS):
            self.fail("expected components", token)
        return nodes.Swizzle(object, map(_COMPONENTS.index, token.text), type, name)

    def binding(self) -> BindingPoint | None:
        group = self.number_attribute("@group")
        number = self.number_attribute("@binding")
        return None if group is None or number is None else BindingPoint(group, number)

    def call(self, type: Type, name: str | None) -> nodes.Call:
        token = self.next("at", "a function")
        callee = self.functions.get(token.text[1:])
        if callee is None:
            self.fail("there is no such function before this one", token)
        self.expect("(")
        return nodes.Call(callee, self.several(self.operand, ")"), type, name)

    def builtin_call(self, type: Type, name: str | None) -> nodes.BuiltinCall:
        function = self.word("a builtin function")
        types = self.several(self.type_, ">") if self.take("<") else []
        self.expect("(")
        return nodes.BuiltinCall(function, types, self.several(self.operand, ")"), type, name)

    # Operands and constants.

    def optional_operand(self) -> nodes.AnyValue | None:
        """The initializer, if one follows on the same line."""
        before = self.tokens[self.index - 1]
        between = self.source.data[before.span.end : self.token.span.start]
        return None if b"\n" in between or self.token.text == "}" else self.operand()

    def operand(self) -> nodes.AnyValue:
        if self.token.kind != "value":
            constant = self.constant()
            return nodes.Constant(constant, constant.type, None)
        token = self.next("value", "an operand")
        value = self.values.get(token.text) or self.root_values.get(token.text)
        if value is None:
            self.fail("no such value has been made", token)
        return value

    def constant(self) -> ConstantValue:
        token = self.token
        if token.kind == "number":
            return self.number()
        if self.take("true") or self.take("false"):
            return ConstantValue(SCALARS["bool"], token.text == "true")
        type = self.type_()
        return ConstantValue(type, self.composite(type))

    def number(self) -> ConstantValue:
        token = self.next("number", "a constant")
        body, scalar = token.text[:-1], _SCALARS_BY_SUFFIX.get(token.text[-1])
        if scalar is None:
            self.fail("a constant needs the suffix i, u, f or h", token)
        if scalar.is_integer:
            if not re.fullmatch("[+-]?[0-9]+", body):
                self.fail("expected a whole number", token)
            if len(body) > _MOST_DIGITS or not fits(scalar, int(body)):
                self.fail(f"the number is no {scalar}", token)
            return ConstantValue(scalar, int(body))
        if body.endswith("_"):
            return ConstantValue(scalar, float(body[:-1]))
        sign = -1.0 if body.startswith("-") else 1.0
        try:
            return ConstantValue(scalar, sign * parse_float_literal(body.lstrip("+-"), scalar))
        except EvaluationError:
            self.fail(f"the number is no {scalar}", token)

    def composite(self, type: Type) -> RawValue:
        """The raw value of a composite in braces."""
        start = self.token
        expected = element_count(type)
        if not isinstance(expected, int):
            self.fail(f"there are no constants of type {type}")
        self.expect("{")
        if self.token.kind == "number" and self.tokens[self.index + 1].text == "*":
            count = self.integer()
            self.expect("*")
            items: Sequence[RawValue] = Repeated(self.raw(type, 0), count)
            self.expect("}")
        else:
            items = self.raw_items(type)
        if len(items) != expected:
            self.fail(f"{type} has {expected} parts, not {len(items)}", start)
        return items

    def raw_items(self, type: Type) -> tuple[RawValue, ...]:
        items: list[RawValue] = []
        while not self.take("}"):
            if items:
                self.expect(",")
            items.append(self.raw(type, len(items)))
        return tuple(items)

    def raw(self, whole: Type, index: int) -> RawValue:
        """The part of a composite at `index`."""
        part = element_type(whole, index)
        if part is None:
            self.fail(f"{whole} has no such part")
        if not isinstance(part, Scalar):
            return self.composite(part)
        token = self.token
        constant = self.constant()
        if constant.type is not part:
            self.fail(f"expected a constant of type {part}", token)
        return constant.value

    # Types.

    def type_(self) -> Type:
        self.depth += 1
        if self.depth > _DEEPEST_TYPE:
            self.fail("a type nests too deep")
        type = self.nested_type()
        self.depth -= 1
        return type

    def nested_type(self) -> Type:
        token = self.next("word", "a type")
        name = token.text
        if name in SCALARS:
            return SCALARS[name]
        if name in self.structs:
            return self.structs[name]
        if match := re.fullmatch(r"vec([234])", name):
            return vector(int(match[1]), self.scalar(SCALARS.values()))
        if match := re.fullmatch(r"mat([234])x([234])", name):
            return matrix(int(match[1]), int(match[2]), self.scalar((F32, F16)))
        match name:
            case "void":
                return VOID
            case "array":
                return self.array()
            case "atomic":
                return atomic(self.scalar((I32, U32)))
            case "buffer":
                return self.buffer()
            case "ptr":
                return self.pointer()
            case "sampler" | "sampler_comparison":
                return sampler(comparison=name != "sampler")
            case _:
                return self.texture(name) or _builtin_structs().get(name) or self.fail("unknown type", token)

    def scalar(self, fitting: Iterable[Scalar]) -> Scalar:
        """A scalar type in angle brackets, which must be one of `fitting`."""
        self.expect("<")
        token = self.next("word", "a scalar type")
        scalar = next((it for it in fitting if SCALARS.get(token.text) is it), None)
        if scalar is None:
            self.fail("expected a scalar type that fits here", token)
        self.expect(">")
        return scalar

    def array(self) -> Array:
        self.expect("<")
        element = self.stored_type()
        count = self.positive_extent() if self.take(",") else None
        self.expect(">")
        return array(element, count)

    def stored_type(self) -> Type:
        """A type that values in memory can have: neither void nor a pointer."""
        token = self.token
        type = self.type_()
        if type is VOID or isinstance(type, Pointer):
            self.fail(f"{type} is not the type of anything in memory", token)
        return type

    def positive_extent(self) -> Extent:
        token = self.token
        extent = self.extent()
        if extent == 0:
            self.fail("an array has at least one element", token)
        return extent

    def buffer(self) -> Buffer:
        if not self.take("<"):
            return buffer(None)
        size = self.positive_extent()
        self.expect(">")
        return buffer(size)

    def pointer(self) -> Pointer:
        self.expect("<")
        space = self.enumerant(AddressSpace)
        self.expect(",")
        store = self.stored_type()
        access = self.enumerant(Access) if self.take(",") else default_access(space)
        self.expect(">")
        return pointer(space, store, access)

    def enumerant(self, kind: type[E]) -> E:
        token = self.next("word", "an enumerant")
        found = next((it for it in kind if it.value == token.text), None)
        return found if found is not None else self.fail(f"unknown {kind.__name__}", token)

    def texture(self, name: str) -> Texture | None:
        """A texture type; the family is the longest name that fits."""
        if name == "texture_external":
            return texture(TextureKind.EXTERNAL, "2d")
        families = sorted(TextureKind, key=lambda kind: -len(kind.value))
        kind = next((kind for kind in families if name.startswith(kind.value + "_")), None)
        if kind is None:
            return None
        dimension = name[len(kind.value) + 1 :]
        if dimension not in _DIMENSIONS[kind]:
            return None
        if kind is TextureKind.STORAGE:
            self.expect("<")
            format = self.one_of(TEXEL_FORMATS, "a texel format")
            self.expect(",")
            access = self.enumerant(Access)
            self.expect(">")
            return texture(kind, dimension, None, format, access)
        is_sampled = kind in (TextureKind.SAMPLED, TextureKind.MULTISAMPLED)
        return texture(kind, dimension, self.scalar((F32, I32, U32)) if is_sampled else None)


@cache
def _builtin_structs() -> Mapping[str, Struct]:
    """The structures that only builtin functions return, by name."""
    shapes = [shape for scalar in (F32, F16) for shape in (scalar, *(vector(width, scalar) for width in (2, 3, 4)))]
    made = [make(shape) for make in (frexp_result, modf_result) for shape in shapes]
    return {struct.name: struct for struct in (*made, *map(compare_exchange_result, (I32, U32)))}


def _is_same_struct(left: Struct, right: Struct) -> bool:
    """Whether two declarations are the same: equal members, with identical types."""

    def key(struct: Struct) -> Sequence[tuple[object, ...]]:
        return [(it.name, id(it.type), it.align, it.size, it.io) for it in struct.members]

    return left.name == right.name and key(left) == key(right)
