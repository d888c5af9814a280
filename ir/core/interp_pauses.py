"""Operations at which an invocation waits for others, as generators: barriers, subgroup operations, and calls that
lead there.
"""

from __future__ import annotations

from .. import layout
from ..types import VOID, Atomic, Pointer, Type
from . import nodes
from .interp_frame import RESULT, CompiledFunction, Frame, PausingOperation, Request, Waiting


def pausing_call(function: CompiledFunction, arguments: tuple[int, ...], target: int) -> PausingOperation:
    """A call of a function that may wait."""

    def run(frame: Frame) -> Waiting:
        inner = function.frame(frame[0], [frame[argument] for argument in arguments])
        yield from function.run_pausing(inner)
        frame[target] = inner[RESULT]

    return run


def pausing_operation(node: nodes.BuiltinCall, arguments: tuple[int, ...], target: int) -> PausingOperation:
    """A barrier, `workgroupUniformLoad`, or an operation of subgroups or quads."""
    if node.function == "workgroupUniformLoad":
        return _uniform_load(node, arguments[0], target)
    if node.type is VOID:
        return _barrier(node)

    def run(frame: Frame) -> Waiting:
        frame[target] = yield Request(node, tuple([frame[argument] for argument in arguments]))

    return run


def _barrier(node: nodes.BuiltinCall) -> PausingOperation:
    request = Request(node)

    def run(frame: Frame) -> Waiting:
        yield request

    return run


def _uniform_load(node: nodes.BuiltinCall, pointer: int, target: int) -> PausingOperation:
    """A load between two barriers."""
    read, request = layout.reader(_stored(node.arguments[0].type)), Request(node)

    def run(frame: Frame) -> Waiting:
        yield request
        memory, offset = frame[pointer]
        frame[target] = read(memory, offset)
        yield request

    return run


def _stored(type: Type) -> Type:
    assert isinstance(type, Pointer)
    return type.store.element if isinstance(type.store, Atomic) else type.store
