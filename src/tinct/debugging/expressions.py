"""Values of WGSL expressions over the variables of a paused invocation.

The expression is resolved by the frontend, as the initializer of a `let` that is inserted in the source where the
invocation stands. Then it is built as a function of its own, whose parameters are the values of the variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from .. import frontend
from ..base.errors import InputError
from ..ir import layout
from ..ir.constants import RawValue
from ..ir.core import nodes
from ..ir.core.interp_compile import Compiler
from ..ir.core.interp_frame import RESULT, CompiledFunction, Frame, PointerValue, Steps
from ..ir.core.root_values import RootValues
from ..ir.diagnostics import Diagnostic, Note, ShaderError
from ..ir.schema.traverse import walk
from ..ir.source import Source, Span
from ..ir.types import VOID, IoAttributes, Pointer, Type
from ..ir.wgsl import ast
from ..ir.wgsl.program import CallsBuiltin, CallsFunction, Program, Variable
from ..transforms.from_wgsl.build import ModuleBuilder
from ..transforms.from_wgsl.marks import Mark
from .launch import Prepared
from .machine import Activation, Group, MachineLane

_LIMIT = 1_000_000
"""Maximum number of instructions of an expression, which may call functions of the shader."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A value: its type, and either the value itself, or where it is in memory."""

    type: Type
    raw: RawValue | None
    pointer: PointerValue | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Expression:
    """A resolved expression; `locals` are the running variables for the parameters of its function, in order."""

    builder: ModuleBuilder
    function: nodes.Function
    locals: tuple[Variable, ...]
    has_effects: bool


class Evaluator:
    """Evaluates expressions, each of which is resolved once for each place."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self._known: dict[tuple[str, int], _Expression | ShaderError] = {}
        self._group: Group | None = None
        self._codes: dict[tuple[_Expression, int], CompiledFunction] = {}

    def evaluate(self, text: str, group: Group, lane: MachineLane, activation: Activation | None) -> Shown:
        """The value of an expression where the call stands; without a call, only module scope is visible.

        Raises ShaderError, with places in the expression, and InputError.
        """
        mark = None if activation is None else activation.mark
        expression = self._resolved(text, mark)
        values = [self.local_value(variable, activation) for variable in expression.locals]
        saved = group.save() if expression.has_effects else None
        try:
            raw = self._run(expression, values, group, lane)
        finally:
            if saved is not None:
                group.restore(saved)
        type = expression.function.return_type
        if not isinstance(type, Pointer):
            return Shown(type, as_value(raw))
        return Shown(layout.resolve_counts(type.store, self.prepared.root.counts), None, as_pointer(raw))

    def local_value(self, variable: Variable, activation: Activation | None) -> RawValue | PointerValue:
        """The value of a variable of a function; the pointer to a `var`. Raises InputError before it has one."""
        value = self.prepared.marked.values.get(variable)
        if isinstance(value, nodes.Constant):
            return value.value.value
        if activation is None or value is None or value not in activation.code.slots:
            raise InputError(f"'{variable.name}' has no value here")
        found: RawValue | PointerValue | None = activation.frame[activation.code.slots[value]]
        if found is None:
            raise InputError(f"'{variable.name}' has no value yet")
        return found

    def _resolved(self, text: str, mark: Mark | None) -> _Expression:
        key = (text, id(mark))
        if key not in self._known:
            try:
                self._known[key] = self._pointer_or_value(text, mark)
            except ShaderError as error:
                self._known[key] = error
        found = self._known[key]
        if isinstance(found, ShaderError):
            raise found
        return found

    def _pointer_or_value(self, text: str, mark: Mark | None) -> _Expression:
        """What is in memory is taken by its address: atomic and runtime-sized values cannot be loaded."""
        try:
            return self._resolve(text, mark, "&")
        except ShaderError:
            return self._resolve(text, mark, "")

    def _resolve(self, text: str, mark: Mark | None, operator: str) -> _Expression:
        running = self.prepared.launch.program
        data = running.source.data
        name = "tinct_value"
        while name.encode() in data:
            name += "_"
        head = f"let {name} = {operator}(" if mark is not None else f"\nfn {name}_() {{ let {name} = {operator}("
        tail = "\n);" if mark is not None else "\n); }\n"
        at = len(data) if mark is None else mark.insertion
        written = text.encode("utf-8", "surrogatepass")
        start = at + len(head)
        source = Source("<expression>", written)
        try:
            program = frontend.load_program(
                Source("<expression>", data[:at] + head.encode() + written + tail.encode() + data[at:])
            )
        except ShaderError as error:
            moved = [_moved(it, start, source) for it in error.diagnostics]
            placed = [it for it in moved if it.span is not None]  # others are of the text around it
            raise ShaderError(placed or moved, source) from None
        node = _let_named(program, name)
        inner = node.initializer
        if isinstance(inner, ast.Unary) and operator:
            inner = inner.operand
        if not isinstance(inner, ast.Paren) or inner.span != (start - 1, start + len(written) + 2):
            raise InputError(f"{text!r} is not one expression")
        return self._build(program, node.initializer, mark)

    def _build(self, program: Program, node: ast.Expression, mark: Mark | None) -> _Expression:
        builder = ModuleBuilder.of(program)
        builder.whole_module()
        used = {it.span: it for it in _locals_of(program, node) if it.constant is None}
        running = {it.span: it for it in (() if mark is None else mark.scope)}
        function = builder.builder.function("tinct_expression", (), VOID)
        locals: list[Variable] = []
        for span, variable in used.items():
            if span not in running:
                raise InputError(f"'{variable.name}' has no value here")
            locals.append(running[span])
            type = self.prepared.marked.values[running[span]].type
            made = nodes.FunctionParameter(IoAttributes(), type, variable.name)
            function.parameters.append(made)
            builder.values[variable] = made
        builder.function = function
        builder.builder.block = function.start_target
        result = builder.value(node)
        function.return_type = result.type
        builder.builder.return_(function, result)
        return _Expression(builder, function, tuple(locals), _has_effects(program, node))

    def _run(
        self,
        expression: _Expression,
        values: list[RawValue | PointerValue],
        group: Group,
        lane: MachineLane,
    ) -> RawValue | PointerValue:
        code = self._code(expression, group, lane)
        code.steps.taken = code.steps.pause = 0
        code.steps.deadline = self.prepared.steps.deadline
        frame: Frame = code.frame(lane.invocation, values)
        code.run(frame)
        result: RawValue | PointerValue = frame[RESULT]
        return result

    def _code(self, expression: _Expression, group: Group, lane: MachineLane) -> CompiledFunction:
        """The code for one invocation, whose variables it holds."""
        if self._group is not group:
            self._group, self._codes = group, {}
        key = (expression, lane.index)
        if key not in self._codes:
            module = expression.builder.builder.module
            pointers = self._pointers(module, group, lane)
            root = RootValues(module, self.prepared.launch.constants)
            compiler = Compiler(root, pointers, Steps(_LIMIT, self.prepared.steps.deadline))
            self._codes[key] = compiler.function(expression.function)
        code = self._codes[key]
        if code.pauses:
            raise InputError("the expression calls a function that waits for other invocations")
        return code

    def _pointers(self, module: nodes.Module, group: Group, lane: MachineLane) -> dict[nodes.Var, PointerValue]:
        """The memory of the module's variables, which have the names of the running ones."""
        known = module_pointers(self.prepared, group, lane)
        variables = (node for node in module.root.instructions if isinstance(node, nodes.Var))
        return {node: known[node.name] for node in variables if node.name in known}


def module_pointers(prepared: Prepared, group: Group, lane: MachineLane) -> Mapping[str | None, PointerValue]:
    """The memory of the variables at module scope, by name."""
    shared: dict[str | None, PointerValue] = {node.name: (memory, 0) for node, memory in group.memories.items()}
    pairs = zip(prepared.compiler.variables, lane.invocation.variables, strict=True)
    return {**shared, **{node.name: pointer for node, pointer in pairs}}


def _let_named(program: Program, name: str) -> ast.Let:
    return next(it for it in walk(program.unit) if isinstance(it, ast.Let) and it.name == name)


def _locals_of(program: Program, node: ast.Expression) -> list[Variable]:
    names = (it for it in walk(node) if isinstance(it, ast.Identifier))
    found = (program.facts.names.get(it) for it in names)
    return [it for it in found if it is not None and not it.is_module_scope]


def _has_effects(program: Program, node: ast.Expression) -> bool:
    """Whether the expression calls what may write."""
    calls = [program.facts.calls.get(it) for it in walk(node) if isinstance(it, ast.Call)]
    for call in calls:
        if isinstance(call, CallsFunction):
            return True
        if isinstance(call, CallsBuiltin) and call.name.startswith(("atomic", "textureStore")):
            return True
    return False


def as_pointer(raw: RawValue | PointerValue) -> PointerValue:
    """What is known to be a pointer."""
    return cast("PointerValue", raw)


def as_value(raw: RawValue | PointerValue) -> RawValue:
    """What is known to be no pointer."""
    return raw


def _moved(diagnostic: Diagnostic, offset: int, source: Source) -> Diagnostic:
    """The diagnostic at its place in the expression."""

    def inside(span: Span | None) -> Span | None:
        if span is None or span.end <= offset or span.start > offset + len(source.data):
            return None
        start, end = (min(max(it - offset, 0), len(source.data)) for it in span)
        return Span(start, end)

    notes = tuple(Note(it.message, inside(it.span)) for it in diagnostic.notes)
    return Diagnostic(diagnostic.severity, diagnostic.code, diagnostic.message, inside(diagnostic.span), notes)


def read_pointer(shown: Shown) -> RawValue:
    """The value that a pointer designates, whose type has a fixed size."""
    assert shown.pointer is not None
    memory, offset = shown.pointer
    return layout.read(shown.type, memory, offset)
