"""Several tables of counters for one binding, so that lanes that count the same thing do not wait for each other.

An increment loads what the one before it stored, if both are of one counter, and waits for it. Neighbouring elements
are often equal, so lanes count in different tables. The tables are in scratch memory, where each call of the machine
code clears them first and adds them to the binding in the end. That is possible where workers have private copies of
the binding (see `privatise`): nobody looks at it before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...base.records import dataclass
from ...ir.hercules import nodes as h
from .emitted import Private
from .layout import ArrayLayout, ScalarLayout, constant_size
from .machine import costs_so_far
from .memory import STORAGE_ALIGN
from .storage import StoragePlan

_MOST = 8
"""The most tables: processors forward what was stored in less time than eight increments take."""
_SHARE = 4
"""Tables take at most this part of the first-level cache."""
_FIRST_CACHE = 1 << 15
"""The size of a first-level cache that was not measured."""
_VECTOR = 16
"""The counters that are added at once, if there is a multiple of that."""


@dataclass(frozen=True, slots=True)
class CounterTables:
    """`count` tables for a binding of so many 32-bit `words`, from `offset` in the scratch memory on."""

    parameter: int
    words: int
    count: int
    offset: int

    @property
    def stride(self) -> int:
        """The bytes of a table, in whole cache lines."""
        return -(-4 * self.words // STORAGE_ALIGN) * STORAGE_ALIGN

    @property
    def end(self) -> int:
        """Where the tables end in the scratch memory."""
        return self.offset + self.count * self.stride


def find_tables(live: Iterable[h.Node], plan: StoragePlan, privates: Sequence[Private]) -> list[CounterTables]:
    """The tables of all private bindings that are arrays of counters, and small enough."""
    counted = {plan.of(it) for it in live if isinstance(it, h.Atomic) and _is_scattered(it)}
    added = {it.parameter for it in privates if it.kind == "add"}
    tables: list[CounterTables] = []
    for storage in counted:
        size, parameter = constant_size(storage.layout), storage.parameter
        count = 0 if size is None else min(_MOST, _most_bytes() // max(size, STORAGE_ALIGN))
        if parameter in added and size is not None and count > 1 and _has_words(storage.layout):
            assert parameter is not None
            offset = tables[-1].end if tables else 0
            tables.append(CounterTables(parameter, size // 4, 1 << (count.bit_length() - 1), offset))
    return tables


def _is_scattered(node: h.Atomic) -> bool:
    """Whether lanes may update different counters."""
    return any(
        isinstance(it, h.PositionIndex) and not isinstance(it.position, h.ConstantNode) for it in node.indices
    )


def _has_words(layout: object) -> bool:
    match layout:
        case ArrayLayout(element=ScalarLayout(size=4), stride=4):
            return True
        case _:
            return False


def _most_bytes() -> int:
    first = next((it.size for it in costs_so_far().caches if it.level == 1), _FIRST_CACHE)
    return first // _SHARE


def cleared(tables: Iterable[CounterTables]) -> list[str]:
    """Instructions that clear tables in `%scratch`."""
    return [line for it in tables for line in _cleared(it)]


def _cleared(tables: CounterTables) -> list[str]:
    at, size = f"%tables{tables.parameter}", tables.count * tables.stride
    return [
        f"  {at} = getelementptr i8, ptr %scratch, i64 {tables.offset}",
        f"  call void @llvm.memset.p0.i64(ptr align {STORAGE_ALIGN} {at}, i8 0, i64 {size}, i1 false)",
    ]


def added(tables: Iterable[CounterTables]) -> list[str]:
    """Instructions that add tables to their bindings, from the block `called` on."""
    lines, before = list[str](), "called"
    for it in tables:
        lines += _added(it, before)
        before = f"added{it.parameter}"
    return lines


def _added(tables: CounterTables, before: str) -> list[str]:
    """A loop over the counters, and the begin of the block after it."""
    number, lanes = tables.parameter, _VECTOR if tables.words % _VECTOR == 0 else 1
    type = f"<{lanes} x i32>" if lanes > 1 else "i32"
    sums = [line for table in range(tables.count) for line in _sum(tables, table, type)]
    return [
        f"  br label %add{number}",
        f"add{number}:",
        f"  %i{number} = phi i64 [ 0, %{before} ], [ %next{number}, %add{number} ]",
        f"  %to{number} = getelementptr i32, ptr %p{number}, i64 %i{number}",
        f"  %sum{number}.0 = load {type}, ptr %to{number}, align 4",
        *sums,
        f"  store {type} %sum{number}.{tables.count}, ptr %to{number}, align 4",
        f"  %next{number} = add nuw i64 %i{number}, {lanes}",
        f"  %more{number} = icmp ult i64 %next{number}, {tables.words}",
        f"  br i1 %more{number}, label %add{number}, label %added{number}",
        f"added{number}:",
    ]


def _sum(tables: CounterTables, table: int, type: str) -> list[str]:
    """Instructions that add the counters of one table to those before it."""
    name, number = f"{tables.parameter}.{table}", tables.parameter
    return [
        f"  %table{name} = getelementptr i8, ptr %tables{number}, i64 {table * tables.stride}",
        f"  %from{name} = getelementptr i32, ptr %table{name}, i64 %i{number}",
        f"  %found{name} = load {type}, ptr %from{name}, align 4",
        f"  %sum{number}.{table + 1} = add {type} %sum{name}, %found{name}",
    ]
