"""Several tables of counters for one binding, so that lanes that count the same thing do not wait for each other.

An increment loads what the one before it stored, if both are of one counter, and waits for it. Neighbouring elements
are often equal, so lanes count in different tables. The tables are in scratch memory, where each call of the machine
code clears them first and adds them to the binding in the end. That is possible where workers have private copies of
the binding (see `privatise`): nobody looks at it before. A dispatch that is stopped loses what its tables hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...base.records import dataclass
from ...ir.hercules import nodes as h
from ...ir.hercules.graph import positions_of
from .emitted import Private
from .gangs.analysis.bounds import greatest
from .layout import ArrayLayout, ScalarLayout
from .machine import costs_so_far
from .memory import STORAGE_ALIGN
from .storage import Storage, StoragePlan

_MOST = 8
"""The most tables: processors forward what was stored in less time than eight increments take."""
_SHARE = 4
"""Tables take at most this part of the first-level cache."""
_FIRST_CACHE = 1 << 15
"""The size of a first-level cache that was not measured."""
_VECTOR = 16
"""The counters that are added at once, if their number is known and a multiple of that."""
_FEWEST = 4
"""The fewest counters that have tables."""
_WORD = 4
_UNBOUNDED = 1 << 32


@dataclass(frozen=True, slots=True)
class CounterTables:
    """`count` tables of so many 32-bit `words`, from `offset` in the scratch memory on, for a binding of `extent`
    words. Lanes count in no words beyond.
    """

    parameter: int
    extent: h.DynamicLiteral | h.DynamicParameter
    words: int
    count: int
    offset: int

    @property
    def stride(self) -> int:
        """The bytes of a table, in whole cache lines."""
        return -(-_WORD * self.words // STORAGE_ALIGN) * STORAGE_ALIGN

    @property
    def end(self) -> int:
        """Where the tables end in the scratch memory."""
        return self.offset + self.count * self.stride


def find_tables(
    live: Iterable[h.Node], plan: StoragePlan, types: Mapping[h.Node, h.Type], privates: Sequence[Private]
) -> list[CounterTables]:
    """The tables of all private bindings that are arrays of counters of which few are used."""
    words: dict[Storage, int] = {}
    scattered: set[Storage] = set()
    for node in live:
        if isinstance(node, h.Atomic) and plan.of(node).is_binding:
            words[plan.of(node)] = max(words.get(plan.of(node), 0), _words(node, types))
            scattered |= {plan.of(node)} if _is_scattered(node) else set()
    added = {it.parameter for it in privates if it.kind == "add"}
    tables: list[CounterTables] = []
    for storage, used in words.items():
        if storage.parameter not in added or storage not in scattered or used < _FEWEST:
            continue
        match storage.layout:
            case ArrayLayout(ScalarLayout(size=4), h.DynamicLiteral() | h.DynamicParameter() as extent, stride=4):
                used = min(used, extent.value) if isinstance(extent, h.DynamicLiteral) else used
                count = min(_MOST, _most_bytes() // (_WORD * used))
                if count > 1:
                    offset = tables[-1].end if tables else 0
                    count = 1 << (count.bit_length() - 1)
                    tables.append(CounterTables(storage.parameter, extent, used, count, offset))
            case _:
                pass
    return tables


def _is_scattered(node: h.Atomic) -> bool:
    """Whether lanes may update different counters."""
    positions = positions_of(node.indices)
    return not all(isinstance(it, h.ConstantNode) for it in positions)


def _words(node: h.Atomic, types: Mapping[h.Node, h.Type]) -> int:
    """The number of counters of which an operation may update one."""
    bounds = [greatest(it, types) for it in positions_of(node.indices)]
    return 1 + max((_UNBOUNDED if it is None else it for it in bounds), default=0)


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
    number, is_known = tables.parameter, isinstance(tables.extent, h.DynamicLiteral)
    lanes = _VECTOR if is_known and tables.words % _VECTOR == 0 else 1
    type = f"<{lanes} x i32>" if lanes > 1 else "i32"
    sums = [line for table in range(tables.count) for line in _sum(tables, table, type)]
    return [
        *_extent(tables),
        f"  %some{number} = icmp ne i64 %extent{number}, 0",
        f"  br i1 %some{number}, label %add{number}, label %added{number}",
        f"add{number}:",
        f"  %i{number} = phi i64 [ 0, %{before} ], [ %next{number}, %add{number} ]",
        f"  %to{number} = getelementptr i32, ptr %p{number}, i64 %i{number}",
        f"  %sum{number}.0 = load {type}, ptr %to{number}, align 4",
        *sums,
        f"  store {type} %sum{number}.{tables.count}, ptr %to{number}, align 4",
        f"  %next{number} = add nuw i64 %i{number}, {lanes}",
        f"  %more{number} = icmp ult i64 %next{number}, %extent{number}",
        f"  br i1 %more{number}, label %add{number}, label %added{number}",
        f"added{number}:",
    ]


def _extent(tables: CounterTables) -> list[str]:
    """Instructions that compute how many counters the binding has that lanes may have updated."""
    number = tables.parameter
    match tables.extent:
        case h.DynamicLiteral():
            return [f"  %extent{number} = add i64 {tables.words}, 0"]
        case h.DynamicParameter(index=index):
            return [
                f"  %length{number}.at = getelementptr inbounds i64, ptr %dynamic, i64 {index}",
                f"  %length{number} = load i64, ptr %length{number}.at, align 8",
                f"  %fits{number} = icmp ult i64 %length{number}, {tables.words}",
                f"  %extent{number} = select i1 %fits{number}, i64 %length{number}, i64 {tables.words}",
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
