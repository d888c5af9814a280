"""Numbers that nodes write, in a plan: computed by dispatches of our kernel, and in buffers that a device can read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..ir import types as wgsl
from ..ir.dataflow.nodes import BinaryOp
from .arithmetic import (
    ARITHMETIC_LEAF,
    RESULT_BYTES,
    NumberWord,
    ResultForm,
    WordForm,
    arithmetic_kernel,
    packed_operation,
)
from .numbers_in import without_atomic
from .plan import HOST, Bound, Computation, Dispatch, Transfer
from .plan_values import ComputedNumber, DataNumber, PlannedNumber, Unplannable

if TYPE_CHECKING:
    from .plan_draft import PlanDraft

_FORMS: Final[dict[wgsl.Type, tuple[WordForm, ResultForm]]] = {
    wgsl.U32: (WordForm.U32, ResultForm.U32),
    wgsl.I32: (WordForm.I32, ResultForm.I32),
}


@dataclass(frozen=True, slots=True)
class NumberPlace:
    """Where a number lies when the plan is followed: 4 bytes at `offset` of a buffer."""

    buffer: int
    offset: int


@dataclass(frozen=True, slots=True)
class _Operand:
    """A number that is known, or the buffer that it is in and its word there."""

    number: int | NumberWord
    buffer: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedNumbers:
    """Records what computes and copies numbers. `node` is the path of the node that takes them, on `device`."""

    draft: PlanDraft
    node: str
    device: str

    def extent(self, number: PlannedNumber) -> NumberPlace:
        """A computed number of invocations, or one as it was written."""
        if isinstance(number, DataNumber):
            return self._written(number, f"the extent of {self.node!r} is in it")
        return NumberPlace(self._computed(number, ResultForm.EXTENT), 0)

    def value(self, number: PlannedNumber, type: wgsl.Type, why: str) -> NumberPlace:
        """A number as a value of that type."""
        known = _FORMS.get(without_atomic(type))
        if known is None:
            raise Unplannable(f"{why}, as {type}, but a node writes a whole number")
        if isinstance(number, ComputedNumber):
            return NumberPlace(self._computed(number, known[1]), 0)
        if without_atomic(number.type) is without_atomic(type):
            return NumberPlace(self.draft.on(number.content, self.device, why), number.offset)
        return NumberPlace(self._computed(ComputedNumber(BinaryOp.ADD, number, 0), known[1]), 0)

    def _written(self, number: DataNumber, why: str) -> NumberPlace:
        """A number where the device has it, or else in a copy of nothing but the number."""
        draft, content, offset = self.draft, number.content, number.offset
        if self.device in content.buffers or not content.buffers:
            return NumberPlace(draft.on(content, self.device, why), offset)
        copy = draft.new(content.label, self.device, 4, "transient")
        draft.steps.append(Transfer(next(iter(content.buffers.values())), offset, copy, 0, 4, why))
        return NumberPlace(copy, 0)

    def _computed(self, number: ComputedNumber, form: ResultForm) -> int:
        """The buffer with a result, which is computed once on a device."""
        key = (self.device, form, number.key)
        if key not in self.draft.computed:
            self.draft.computed[key] = self._record(number, form)
        return self.draft.computed[key]

    def _record(self, number: ComputedNumber, form: ResultForm) -> int:
        draft, text = self.draft, str(number)
        lhs, rhs = self._operand(number.lhs, text), self._operand(number.rhs, text)
        step = len(draft.steps)
        packed = packed_operation(number.op, lhs.number, rhs.number, form, step)
        if packed is None:
            raise Unplannable(f"{text} has a number of more than 64 bits")
        request = draft.packed_constant(packed, text, self.device)
        result, error = draft.new(text, self.device, RESULT_BYTES, "transient"), draft.error(self.device)
        sources = (request if it.buffer is None else it.buffer for it in (lhs, rhs))
        buffers = dict(zip(("lhs_source", "rhs_source"), sources, strict=True))
        buffers |= {"request": request, "result": result, "error": error}
        bound = [
            Bound(it.name, it.group, it.binding, buffers[it.name], it.is_written) for it in arithmetic_kernel().bindings
        ]
        draft.steps.append(
            Dispatch(
                tuple(self.node.split("/")),
                ARITHMETIC_LEAF,
                "cpu" if self.device == HOST else self.device,
                (),
                (1, 1, 1),
                (1, 1, 1),
                None,
                tuple(bound),
                computes=Computation(text, form, error),
            )
        )
        return result

    def _operand(self, number: int | PlannedNumber, text: str) -> _Operand:
        if isinstance(number, int):
            return _Operand(number)
        if isinstance(number, ComputedNumber):
            return _Operand(NumberWord(0, WordForm.WIDE), self._computed(number, ResultForm.WIDE))
        place, form = self._written(number, f"{text} needs it"), _FORMS[without_atomic(number.type)][0]
        return _Operand(NumberWord(place.offset // 4, form), place.buffer)
