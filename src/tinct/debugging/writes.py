"""Who wrote a part of memory: all writes of a dispatch to an element or a member, in order."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..base.errors import InputError
from ..ir import layout
from ..ir.constants import RawValue
from ..ir.core import nodes
from ..ir.core.interp import Triple, run
from ..ir.core.interp_frame import INVOCATION, Frame, Invocation, Memory, Operation
from ..ir.core.interp_observer import Observer
from ..ir.core.root_values import RootValues
from ..ir.core.sanitizer.paths import path_to
from ..ir.core.sanitizer.texels import TexelAccess
from ..ir.diagnostics import Diagnostic, ShaderError
from ..ir.hints import unknown_name
from ..ir.source import Source
from ..ir.textures import is_written
from ..ir.types import Access, AddressSpace, Atomic, Pointer, Texture, Type
from ..transforms.core.bind_immediates import BindImmediates
from ..transforms.from_wgsl.build import build
from .launch import Launch
from .paths import Part, parse_path, resolve
from .texts import value_text

_TEXEL = re.compile(r"\s*([^\W\d]\w*)\s*\[\s*(\d+(?:\s*,\s*\d+)*)\s*\]\s*")
_RESULT_OF_EXCHANGE = 1
"""The index of `exchanged` in the result of atomicCompareExchangeWeak."""


@dataclass(frozen=True, slots=True)
class Write:
    """One write: the invocation by its global id, its workgroup, the line and its text, the path of what was written,
    its value before (empty for texels) and after as text, and the atomic function if one wrote.
    """

    invocation: Triple
    workgroup: Triple
    line: int
    text: str
    path: str
    before: str
    after: str
    function: str = ""

    def __str__(self) -> str:
        change = f"{self.before} → {self.after}" if self.before else self.after
        return f"invocation {self.invocation}, line {self.line}: {self.path}: {change}   {self.text}"


@dataclass(frozen=True, slots=True)
class Writes:
    """All writes to a path, in order. Of more than `limit`, `writes` has the first ones and the last one."""

    path: str
    count: int
    writes: tuple[Write, ...]

    def __str__(self) -> str:
        times = {0: "never written", 1: "written once"}.get(self.count, f"written {self.count} times")
        lines = [f"  {write}" for write in self.writes]
        if self.count > len(self.writes):
            lines.insert(len(lines) - 1, f"  … {self.count - len(self.writes)} more …")
        return "\n".join([f"{self.path} is {times}{':' if lines else ''}", *lines])


def who_wrote(launch: Launch, path: str, limit: int = 1000, timeout: float | None = None) -> Writes:
    """The writes of a dispatch to a path, such as `out[3].pos.x`, or `image[4, 2]` for a texel.

    The dispatch runs on the interpreter. Raises InputError for a path that does not fit, ShaderError and DeviceError.
    """
    if limit < 2:
        raise InputError(f"at least 2 writes are kept, not {limit}")
    module = build(launch.program)
    BindImmediates().run(module)
    entry = next(it for it in module.functions if it.name == launch.entry)
    target = _target(path, entry, launch)
    watcher = _Watcher(target, RootValues(module, launch.constants).counts, launch.program.source, limit)
    run(
        module,
        launch.entry,
        launch.buffers,
        launch.workgroups,
        launch.constants,
        timeout=timeout,
        observer=watcher,
    )
    return Writes(path.strip(), watcher.count, (*watcher.first, *watcher.last))


@dataclass(frozen=True, slots=True)
class _Target:
    """The variable, and the steps to its part, or the coordinates of a texel."""

    variable: nodes.Var
    steps: list[str | int]
    texel: tuple[int, ...] | None


def _target(path: str, entry: nodes.Function, launch: Launch) -> _Target:
    known = {it.name: it for it in entry.resources if isinstance(it, nodes.Var) and it.name is not None}
    texel = _TEXEL.fullmatch(path)
    name, steps = parse_path(path) or (texel[1] if texel else None, [])
    if name is None:
        raise InputError(f"{path!r} is no path, such as out[3].pos.x; indices are numbers")
    if name not in known:
        raise InputError(unknown_name(f"the entry point {launch.entry!r} uses no variable named {name!r}", name, known))
    variable = known[name]
    _check_shared(variable)
    assert isinstance(variable.type, Pointer)
    if not isinstance(variable.type.store, Texture):
        if texel is not None and "," in texel[2]:
            raise InputError(f"'{name}' is no texture: write {name}[…][…] for an element of an element")
        return _Target(variable, steps, None)
    if texel is None and steps:
        raise InputError(f"'{name}' is a texture: its texels are {name}[x, y]")
    return _Target(variable, [], () if texel is None else tuple(map(int, texel[2].split(","))))


def _check_shared(variable: nodes.Var) -> None:
    type = variable.type
    assert isinstance(type, Pointer)
    if type.space is AddressSpace.PRIVATE:
        raise InputError(f"'{variable.name}' is private to each invocation: a trace shows its values")
    is_texture = isinstance(type.store, Texture) and is_written(type.store)
    is_buffer = type.space is AddressSpace.STORAGE and type.access is not Access.READ
    if not (is_texture or is_buffer or type.space is AddressSpace.WORKGROUP):
        raise InputError(f"'{variable.name}' cannot be written by a shader")


class _Watcher(Observer):
    def __init__(self, target: _Target, counts: layout.Counts, source: Source, limit: int) -> None:
        self.target = target
        self.counts = counts
        self.source = source
        self.limit = limit
        self.count = 0
        self.first: list[Write] = []
        self.last: deque[Write] = deque(maxlen=1)
        assert isinstance(target.variable.type, Pointer)
        self.type = layout.resolve_counts(target.variable.type.store, counts)
        self.name = target.variable.name or ""
        self.memory: Memory = b""  # type: ignore[assignment]
        self.part = Part(self.name, self.type)
        self.end = 0
        self.has_size = True

    def start_workgroup(self, memories: Mapping[nodes.Var, Memory]) -> None:
        """Find the part: workgroup memory is new in each workgroup."""
        self.memory = memories[self.target.variable]
        if isinstance(self.type, Texture):
            return
        self.part = resolve(self.name, self.type, self.target.steps, self.memory)
        self.has_size = layout.runtime_array(self.part.type) is None
        self.end = self.part.offset + layout.size_of(self.part.type) if self.has_size else len(self.memory)

    def pass_barrier(self, node: nodes.BuiltinCall) -> None:
        """Nothing: writes are in order."""

    def abandon_workgroup(self, problem: Diagnostic) -> None:
        """Raise the error, as a run without observer does."""
        raise ShaderError([problem], self.source)

    def watched(self, node: nodes.Instruction, arguments: tuple[int, ...], target: int, run: Operation) -> Operation:
        """Wraps stores, atomic functions and stores of texels."""
        match node:
            case nodes.Store(pointer=pointer, value=value) if self._may_reach(pointer.type):
                return self._watch(node, value.type, arguments[0], run)
            case nodes.BuiltinCall(function=name) if name.startswith("atomic") and name != "atomicLoad":
                return self._watch_atomic(node, arguments[0], target, run)
            case nodes.BuiltinCall(function="textureStore") if self.target.texel is not None:
                access = TexelAccess.of(node, arguments)
                return run if access is None else self._watch_texel(access, arguments[-1], run)
            case _:
                return run

    def _may_reach(self, type: Type) -> bool:
        assert isinstance(type, Pointer)
        assert isinstance(self.target.variable.type, Pointer)
        return type.space is self.target.variable.type.space

    def _watch(
        self,
        node: nodes.Instruction,
        type: Type,
        pointer: int,
        run: Operation,
        happened: Callable[[Frame], bool] = lambda frame: True,
    ) -> Operation:
        size = layout.size_of(type)

        def store(frame: Frame) -> None:
            memory, offset = frame[pointer]
            if memory is not self.memory or offset >= self.end or offset + size <= self.part.offset:
                run(frame)
                return
            inner = self.has_size and offset <= self.part.offset and self.end <= offset + size
            start, shown = (self.part.offset, self.part.type) if inner else (offset, type)
            read = layout.reader(shown)
            before = read(memory, start)
            run(frame)
            if happened(frame):
                path = path_to(self.name, self.type, start, shown)
                self._add(node, frame[INVOCATION], (path, shown, before, read(memory, start)))

        return store

    def _watch_atomic(self, node: nodes.BuiltinCall, pointer: int, target: int, run: Operation) -> Operation:
        type = node.arguments[0].type
        assert isinstance(type, Pointer)
        assert isinstance(type.store, Atomic)
        if not self._may_reach(type):
            return run
        if node.function != "atomicCompareExchangeWeak":
            return self._watch(node, type.store, pointer, run)
        return self._watch(node, type.store, pointer, run, lambda frame: bool(frame[target][_RESULT_OF_EXCHANGE]))

    def _watch_texel(self, access: TexelAccess, value: int, run: Operation) -> Operation:
        type = access.node.arguments[-1].type

        def store(frame: Frame) -> None:
            texel = access.texel(frame)
            run(frame)
            if texel.memory is self.memory and texel.offset is not None and self.target.texel in ((), texel.at):
                path = f"{self.name}[{str(texel)[1:-1]}]"
                self._add(access.node, frame[INVOCATION], (path, type, None, frame[value]))

        return store

    def _add(
        self, node: nodes.Instruction, invocation: Invocation, change: tuple[str, Type, RawValue | None, RawValue]
    ) -> None:
        self.count += 1
        if len(self.first) < self.limit - 1:
            self.first.append(self._write(node, invocation, change))
        else:
            self.last.append(self._write(node, invocation, change))

    def _write(
        self, node: nodes.Instruction, invocation: Invocation, change: tuple[str, Type, RawValue | None, RawValue]
    ) -> Write:
        path, type, before, after = change
        line = 0 if node.span is None else self.source.position(node.span.start).line
        return Write(
            _triple(invocation.builtins["global_invocation_id"]),
            _triple(invocation.builtins["workgroup_id"]),
            line,
            self.source.line_text(line).strip() if line else "",
            path,
            "" if before is None else value_text(type, before),
            value_text(type, after),
            node.function if isinstance(node, nodes.BuiltinCall) else "",
        )


def _triple(value: RawValue) -> Triple:
    assert isinstance(value, tuple)
    x, y, z = value
    assert isinstance(x, int)
    assert isinstance(y, int)
    assert isinstance(z, int)
    return x, y, z
