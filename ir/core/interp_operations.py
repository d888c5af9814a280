"""Single operations that never wait, as closures over slots.

Bounds: an index is taken as unsigned and clamped to the last element. A runtime-sized array without elements reads
zero and drops what is written (WGSL, "Out-of-Bounds Access").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, assert_never

from .. import layout
from ..builtins import atomic_operation
from ..constants import RawValue
from ..diagnostics import ShaderError, not_supported
from ..operators import binary_evaluator, unary_evaluator
from ..scalars import Mode
from ..types import (
    AddressSpace,
    Array,
    Atomic,
    Matrix,
    Pointer,
    Sampler,
    Scalar,
    Struct,
    Texture,
    Type,
    Vector,
    element_type,
)
from . import nodes
from .interp_frame import Frame, Memory, Operation, PointerValue
from .operations import pure_evaluator
from .values import Value

Slots: TypeAlias = tuple[int, ...]
Step: TypeAlias = Callable[[Frame, PointerValue], PointerValue]
"""One index of an access: from a pointer to the pointer of the part."""


def operation(node: nodes.Instruction, arguments: Slots, target: int, counts: layout.Counts) -> Operation:
    """The closure of an instruction; `arguments` and `target` are the slots of its operands and its result."""
    match node:
        case nodes.Load(type=Texture() | Sampler()):
            return _load_handle(arguments[0], target)
        case nodes.Load(type=type):
            return _load(layout.resolve_counts(type, counts), arguments[0], target)
        case nodes.Store(pointer=pointer, value=value):
            return _store(_writer(value.type, pointer.type), arguments)
        case nodes.Var(type=Pointer(store=store)):
            return _var(store, arguments, target)
        case nodes.Access(object=object) if isinstance(object.type, Pointer):
            return _access(node, object.type.store, arguments, target, counts)
        case nodes.BuiltinCall(function="arrayLength"):
            return _array_length(node, arguments[0], target, counts)
        case nodes.BuiltinCall(function="bufferView" | "bufferArrayView" | "bufferLength"):
            from .interp_views import view_operation  # which few kernels need

            return view_operation(node, arguments, target, counts)
        case nodes.BuiltinCall(function=name) if name.startswith("atomic"):
            return _atomic(node, arguments, target)
        case nodes.BuiltinCall(function=name) if name.startswith("texture"):
            return _texture(node, arguments, target)
        case nodes.Binary() | nodes.Unary():
            return _operator(node, arguments, target)
        case nodes.PureInstruction() | nodes.BuiltinCall():
            return _pure(node, arguments, target)
        case nodes.Var() | nodes.Override() | nodes.Call() | nodes.Discard():
            raise _unsupported(node.WORD, node)
        case _:
            assert_never(node)


def load_operation(pointer: Type, slot: int, target: int, counts: layout.Counts) -> Operation:
    """A load of the whole value that the pointer in `slot`, of type `pointer`, points to."""
    assert isinstance(pointer, Pointer)
    store = pointer.store.element if isinstance(pointer.store, Atomic) else pointer.store
    return _load(layout.resolve_counts(store, counts), slot, target)


def _operator(node: nodes.Binary | nodes.Unary, arguments: Slots, target: int) -> Operation:
    if isinstance(node, nodes.Unary):
        unary, operand = unary_evaluator(node.op, node.operand.type, Mode.RUNTIME), arguments[0]

        def run_unary(frame: Frame) -> None:
            frame[target] = unary(frame[operand])

        return run_unary
    binary, (left, right) = binary_evaluator(node.op, node.lhs.type, node.rhs.type, Mode.RUNTIME), arguments

    def run_binary(frame: Frame) -> None:
        frame[target] = binary(frame[left], frame[right])

    return run_binary


def _texture(node: nodes.BuiltinCall, arguments: Slots, target: int) -> Operation:
    from .interp_sampling import sampling_operation  # which few kernels need, as textures
    from .interp_textures import texture_operation

    found = texture_operation(node, arguments, target) or sampling_operation(node, arguments, target)
    return found or _pure(node, arguments, target)


def _pure(node: nodes.Instruction, arguments: Slots, target: int) -> Operation:
    evaluate = pure_evaluator(node, Mode.RUNTIME)
    if evaluate is None:
        raise _unsupported(node.function if isinstance(node, nodes.BuiltinCall) else node.WORD, node)

    def run(frame: Frame) -> None:
        frame[target] = evaluate([frame[argument] for argument in arguments])

    return run


def _unsupported(what: str, node: nodes.Instruction) -> ShaderError:
    return ShaderError([not_supported(f"{what} in the interpreter", node.span)])


def _load(type: Type, pointer: int, target: int) -> Operation:
    read = layout.reader(type)

    def run(frame: Frame) -> None:
        memory, offset = frame[pointer]
        frame[target] = read(memory, offset)

    return run


def _load_handle(pointer: int, target: int) -> Operation:
    """A load of a handle: the raw value of a texture or a sampler is its memory."""

    def run(frame: Frame) -> None:
        frame[target], _ = frame[pointer]

    return run


def _writer(type: Type, pointer: Type) -> layout.Writer:
    """The writer of a store. Stores to an element of an empty runtime-sized array are dropped: the memory that stands
    for the element is read-only zeros.
    """
    write = layout.writer(type)
    if not isinstance(pointer, Pointer) or pointer.space not in (AddressSpace.STORAGE, AddressSpace.WORKGROUP):
        return write

    def write_unless_empty(memory: Memory, offset: int, value: RawValue) -> None:
        if not (isinstance(memory, memoryview) and memory.readonly):
            write(memory, offset, value)

    return write_unless_empty


def _store(write: layout.Writer, arguments: Slots) -> Operation:
    pointer, value = arguments

    def run(frame: Frame) -> None:
        memory, offset = frame[pointer]
        write(memory, offset, frame[value])

    return run


def _var(store: Type, arguments: Slots, target: int) -> Operation:
    size = layout.size_of(store)
    if not arguments:

        def zero(frame: Frame) -> None:
            frame[target] = (bytearray(size), 0)

        return zero
    write, initial = layout.writer(store), arguments[0]

    def run(frame: Frame) -> None:
        memory = bytearray(size)
        write(memory, 0, frame[initial])
        frame[target] = (memory, 0)

    return run


def _access(node: nodes.Access, whole: Type, arguments: Slots, target: int, counts: layout.Counts) -> Operation:
    steps: list[Step] = []
    part: Type = whole
    for index, slot in zip(node.indices, arguments[1:], strict=True):
        part = layout.resolve_counts(part, counts)
        position = index.value.value if isinstance(index, nodes.Constant) else 0
        steps.append(_step(part, index, slot))
        inner = element_type(part, position if isinstance(position, int) else 0)
        assert inner is not None
        part = inner
    base = arguments[0]
    if len(steps) == 1:
        only = steps[0]

        def run_one(frame: Frame) -> None:
            frame[target] = only(frame, frame[base])

        return run_one

    def run(frame: Frame) -> None:
        pointer = frame[base]
        for step in steps:
            pointer = step(frame, pointer)
        frame[target] = pointer

    return run


def _step(whole: Type, index: Value, slot: int) -> Step:
    match whole:
        case Struct():
            assert isinstance(index, nodes.Constant)
            assert isinstance(index.value.value, int)
            return _member_step(layout.member_offsets(whole)[index.value.value])
        case Array(count=None):
            return _runtime_step(layout.stride_of(whole), slot)
        case Array(count=int() as count):
            return _element_step(count, layout.stride_of(whole), slot)
        case Matrix(columns=columns):
            return _element_step(columns, layout.stride_of(whole), slot)
        case Vector(width=width, element=element):
            return _element_step(width, layout.size_of(element), slot)
        case _:
            raise AssertionError(f"{whole} has no parts")


def _member_step(distance: int) -> Step:
    return lambda frame, pointer: (pointer[0], pointer[1] + distance)


def _element_step(count: int, stride: int, slot: int) -> Step:
    def step(frame: Frame, pointer: PointerValue) -> PointerValue:
        index = frame[slot]
        if not 0 <= index < count:
            index = count - 1
        return pointer[0], pointer[1] + index * stride

    return step


def _runtime_step(stride: int, slot: int) -> Step:
    nothing = memoryview(bytes(stride))

    def step(frame: Frame, pointer: PointerValue) -> PointerValue:
        memory, offset = pointer
        count = (len(memory) - offset) // stride
        if count <= 0:
            return nothing, 0
        index = frame[slot]
        return memory, offset + (index if 0 <= index < count else count - 1) * stride

    return step


def _array_length(node: nodes.BuiltinCall, pointer: int, target: int, counts: layout.Counts) -> Operation:
    type = node.arguments[0].type
    assert isinstance(type, Pointer)
    array = layout.resolve_counts(type.store, counts)
    assert isinstance(array, Array)
    stride, fixed = layout.stride_of(array), array.count

    def run(frame: Frame) -> None:
        memory, offset = frame[pointer]
        frame[target] = max(0, len(memory) - offset) // stride if fixed is None else fixed

    return run


def _atomic(node: nodes.BuiltinCall, arguments: Slots, target: int) -> Operation:
    type = node.arguments[0].type
    assert isinstance(type, Pointer)
    assert isinstance(type.store, Atomic)
    scalar = type.store.element
    match node.function:
        case "atomicLoad":
            return _load(scalar, arguments[0], target)
        case "atomicStore":
            return _store(_writer(scalar, type), arguments)
        case "atomicCompareExchangeWeak":
            return _compare_exchange(type, scalar, arguments, target)
        case name:
            return _read_modify_write(name, type, scalar, arguments, target)


def _read_modify_write(name: str, type: Pointer, scalar: Scalar, arguments: Slots, target: int) -> Operation:
    change = atomic_operation(name, scalar)
    read, write, (pointer, operand) = layout.reader(scalar), _writer(scalar, type), arguments

    def run(frame: Frame) -> None:
        memory, offset = frame[pointer]
        old = read(memory, offset)
        assert isinstance(old, int)
        write(memory, offset, change(old, frame[operand]))
        frame[target] = old

    return run


def _compare_exchange(type: Pointer, scalar: Scalar, arguments: Slots, target: int) -> Operation:
    read, write, (pointer, expected, operand) = layout.reader(scalar), _writer(scalar, type), arguments

    def run(frame: Frame) -> None:
        memory, offset = frame[pointer]
        old = read(memory, offset)
        is_equal = old == frame[expected]
        if is_equal:
            write(memory, offset, frame[operand])
        frame[target] = (old, is_equal)

    return run
