"""Operations at which an invocation waits for others, as generators: barriers, subgroup operations, and calls of
functions that contain such operations.
"""

from __future__ import annotations

from ..types import VOID
from . import nodes
from .interp_frame import RESULT, CompiledFunction, Frame, Operation, PausingOperation, Request, Waiting


def pausing_call(function: CompiledFunction, arguments: tuple[int, ...], target: int) -> PausingOperation:
    """A call of a function that may wait."""

    def run(frame: Frame) -> Waiting:
        inner = function.frame(frame[0], [frame[argument] for argument in arguments])
        yield from function.run_pausing(inner)
        frame[target] = inner[RESULT]

    return run


def pausing_operation(node: nodes.BuiltinCall, arguments: tuple[int, ...], target: int) -> PausingOperation:
    """A barrier, or a subgroup or quad operation."""
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


def uniform_load(node: nodes.BuiltinCall, load: Operation) -> PausingOperation:
    """`workgroupUniformLoad`: a load between two barriers."""
    request = Request(node)

    def run(frame: Frame) -> Waiting:
        yield request
        load(frame)
        yield request

    return run
