"""The values of `root` for one pipeline: overrides, operations on them, workgroup sizes and array counts.

Values are computed on demand, so that an override without a value is an error only for the entry points that need the
override. Only the chosen operand of a `select` is computed, since `&&` and `||` in `root` are selects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...base.errors import InputError
from ...base.records import dataclass, field
from ..constants import RawValue
from ..overrides import Number, missing_override
from ..scalars import EvaluationError, Mode
from ..types import BOOL, OverrideCount
from . import nodes
from .operations import pure_evaluator
from .overrides import given_values
from .values import Value


class _CountsView(Mapping[OverrideCount, int]):
    """The element counts, each computed on demand."""

    def __init__(self, root: RootValues) -> None:
        self._root = root

    def __getitem__(self, count: OverrideCount) -> int:
        for known in self._root.module.counts:
            if known.count == count:
                return self._root.count_value(known)
        raise KeyError(count)

    def __iter__(self) -> Iterator[OverrideCount]:
        return (known.count for known in self._root.module.counts)

    def __len__(self) -> int:
        return len(self._root.module.counts)


@dataclass(slots=True)
class RootValues:
    """The values of `root` under the given pipeline constants: names, or ids as decimal text, to numbers.

    Raises InputError here for constants that do not fit the overrides (`given_values`), and for an override without a
    value when its value is requested.
    """

    module: nodes.Module
    constants: Mapping[str, Number] = field(default_factory=dict[str, Number])
    _known: dict[Value, RawValue] = field(default_factory=dict[Value, RawValue], init=False)

    def __post_init__(self) -> None:
        for override, value in given_values(self.module, self.constants).items():
            self._known[override] = value

    @property
    def counts(self) -> Mapping[OverrideCount, int]:
        """The override-sized array counts. Reading a count that is not positive raises InputError."""
        return _CountsView(self)

    def value(self, value: Value) -> RawValue:
        """The value of a constant, an override or an operation of `root`."""
        if value not in self._known:
            self._known[value] = self._compute(value)
        return self._known[value]

    def count_value(self, count: nodes.ArrayCount) -> int:
        """The number of elements that a count stands for."""
        number = self.value(count.value)
        if not isinstance(number, int) or number < 1:
            raise InputError(f"the element count '{count.count}' must be positive, not {number}")
        return number

    def workgroup_size(self, function: nodes.Function) -> tuple[int, int, int]:
        """The three workgroup sizes of an entry point."""
        sizes = [self.value(value) for value in function.workgroup_size]
        if not all(isinstance(size, int) and size >= 1 for size in sizes):
            raise InputError(f"the workgroup size {tuple(sizes)} of '{function.name}' must be positive")
        x, y, z = ([size for size in sizes if isinstance(size, int)] + [1, 1, 1])[:3]
        return x, y, z

    def _compute(self, value: Value) -> RawValue:
        if isinstance(value, nodes.Constant):
            return value.value.value
        if isinstance(value, nodes.Override):
            return self._override(value)
        if not isinstance(value, nodes.AnyPureInstruction | nodes.BuiltinCall):
            raise InputError("a value is not known before the shader runs")
        if isinstance(value, nodes.BuiltinCall) and value.function == "select":
            false, true, condition = value.arguments
            if condition.type is BOOL:
                return self.value(true if self.value(condition) else false)
        return self._operation(value)

    def _operation(self, node: nodes.Instruction) -> RawValue:
        evaluate = pure_evaluator(node, Mode.CONST)
        if evaluate is None:
            raise InputError("a value is not known before the shader runs")
        try:
            return evaluate([self.value(operand) for operand in node.operands])
        except EvaluationError as error:
            raise InputError(f"an expression of overrides has no value: {error.message}") from error

    def _override(self, override: nodes.Override) -> RawValue:
        if override.default is None:
            raise InputError(missing_override(override.name))
        return self.value(override.default)
