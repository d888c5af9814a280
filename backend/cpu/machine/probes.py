"""LLVM IR of the loops whose times are the costs of a machine.

The module has one external function, `kernel`, with the parameters of compiled kernels. Its numbers are the probe, the
rounds, and the bytes to read or to copy; its one binding is an area of at least `AREA` bytes: data, vectors of indices
into the data, and room for results. A round of a probe does what it measures `UNROLLED` times, without waiting for one
result before the next begins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from ....base.records import dataclass
from ..target import Target

WORDS: Final = 1024
"""The 32-bit words of data."""
VECTORS: Final = 16
"""The vectors of indices, which are used in turn, each of at most 64 bytes."""
UNROLLED: Final = 2
INDICES_AT: Final = 4 * WORDS
RESULTS_AT: Final = INDICES_AT + VECTORS * 64
AREA: Final = RESULTS_AT + VECTORS * 64
READ: Final = "read"
"""The probe that reads the whole area, once a round."""
WAIT: Final = "wait"
"""The probe that counts rounds, each a few nanoseconds long."""
COPY: Final = "copy"
"""The probe that copies the first half of the area to the second one, once: each thread, of `PIECES`, a piece."""
COPY_PAST: Final = "copy_past"
"""The same, with stores past the caches."""
COPY_APART: Final = "copy_apart"
"""The probe that copies each line to a place far from the one before, as transposing does."""
COPY_APART_PAST: Final = "copy_apart_past"
"""The same, with stores past the caches."""
COPIES: Final = (COPY, COPY_PAST, COPY_APART, COPY_APART_PAST)
PIECES: Final = 1024
_LINES: Final = 128
"""The bytes that are read, or copied, together. A piece to copy has a multiple of so many."""
LEAST_COPIED: Final = 2 * PIECES * _LINES
"""The fewest bytes of an area to copy. Others are multiples of that, by no multiple of 67 (see `_APART`)."""
_LINE: Final = 64
_APART: Final = 67 * _LINE
"""The bytes between lines that are stored one after another, far apart: more than a page, and a number of lines that
has no common divisor with that of half of the area, so that all of its lines are stored.
"""


@dataclass(frozen=True, slots=True)
class Operation:
    """One of the operations of a round. Its values have names that end in its number."""

    lanes: int
    number: int

    @property
    def vector(self) -> str:
        """The type of a vector."""
        return f"<{self.lanes} x i32>"

    @property
    def indices(self) -> str:
        """The vector of indices."""
        return f"%indices.{self.number}"

    def taken(self) -> str:
        """The vector of indices, and the addresses where it comes from and where results may go."""
        it, size = self.number, 4 * self.lanes
        return (
            f"%turn.{it} = add i64 %first, {it}\n"
            f"%slot.{it} = and i64 %turn.{it}, {VECTORS - 1}\n"
            f"%start.{it} = mul i64 %slot.{it}, {size}\n"
            f"%at.{it} = getelementptr i8, ptr %all.indices, i64 %start.{it}\n"
            f"%out.{it} = getelementptr i8, ptr %all.results, i64 %start.{it}\n"
            f"{self.indices} = load {self.vector}, ptr %at.{it}, align {size}\n"
            f"%places.{it} = getelementptr i32, ptr %memory, {self.vector} {self.indices}\n"
        )

    def loaded_index(self, lane: int, *, volatile: bool = False, where: str = "at") -> str:
        """`%place.…`: the address of a lane's data, from its index in memory."""
        name = f"{self.number}.{lane}"
        return (
            f"%from.{name} = getelementptr i32, ptr %{where}.{self.number}, i64 {lane}\n"
            f"%lane.{name} = load {'volatile ' if volatile else ''}i32, ptr %from.{name}, align 4\n"
            f"%place.{name} = getelementptr i32, ptr %memory, i32 %lane.{name}\n"
        )

    def taken_index(self, lane: int) -> str:
        """The same, from its index in the vector."""
        name = f"{self.number}.{lane}"
        return (
            f"%lane.{name} = extractelement {self.vector} {self.indices}, i32 {lane}\n"
            f"%place.{name} = getelementptr i32, ptr %memory, i32 %lane.{name}\n"
        )

    def increment(self, lane: int) -> str:
        """Add 1 to the data of a lane."""
        name = f"{self.number}.{lane}"
        return (
            f"%old.{name} = load i32, ptr %place.{name}, align 4\n"
            f"%new.{name} = add i32 %old.{name}, 1\n"
            f"store i32 %new.{name}, ptr %place.{name}, align 4\n"
        )

    def combined(self, value: str) -> str:
        """Use a vector, so that LLVM keeps what made it."""
        return f"%sum.{self.number + 1} = xor {self.vector} %sum.{self.number}, {value}\n"

    def combined_call(self, function: str, arguments: str) -> str:
        """Use the vector that a function gives."""
        name = f"%found.{self.number}"
        return f"{name} = call {self.vector} @{function}({arguments})\n" + self.combined(name)

    @property
    def kept(self) -> str:
        """For what has no result."""
        return self.combined("zeroinitializer")


Probe: TypeAlias = Callable[[Operation], str]
"""Writes an operation."""


def _gather(it: Operation) -> str:
    name = f"llvm.masked.gather.v{it.lanes}i32.v{it.lanes}p0"
    places, mask = f"<{it.lanes} x ptr> %places.{it.number}", f"<{it.lanes} x i1> splat (i1 true)"
    return it.combined_call(name, f"{places}, i32 4, {mask}, {it.vector} poison")


def _loads(it: Operation) -> str:
    text, whole = "", "poison"
    for lane in range(it.lanes):
        name = f"{it.number}.{lane}"
        text += it.loaded_index(lane) + f"%word.{name} = load i32, ptr %place.{name}, align 4\n"
        text += f"%whole.{name} = insertelement {it.vector} {whole}, i32 %word.{name}, i32 {lane}\n"
        whole = f"%whole.{name}"
    return text + it.combined(whole)


def _scatter(it: Operation) -> str:
    places, mask = f"<{it.lanes} x ptr> %places.{it.number}", f"<{it.lanes} x i1> splat (i1 true)"
    name = f"llvm.masked.scatter.v{it.lanes}i32.v{it.lanes}p0"
    return f"call void @{name}({it.vector} {it.indices}, {places}, i32 4, {mask})\n" + it.kept


def _stores(it: Operation) -> str:
    text = f"%values.{it.number} = add {it.vector} {it.indices}, splat (i32 1)\n"
    for lane in range(it.lanes):
        name = f"{it.number}.{lane}"
        text += it.loaded_index(lane)
        text += f"%value.{name} = extractelement {it.vector} %values.{it.number}, i32 {lane}\n"
        text += f"store i32 %value.{name}, ptr %place.{name}, align 4\n"
    return text + it.kept


def _masked_store(it: Operation) -> str:
    test = f"%some.{it.number} = icmp ugt {it.vector} {it.indices}, splat (i32 {WORDS // 2})\n"
    mask = f"<{it.lanes} x i1> %some.{it.number}"
    name = f"llvm.masked.store.v{it.lanes}i32.p0"
    return test + f"call void @{name}({it.vector} {it.indices}, ptr %out.{it.number}, i32 4, {mask})\n" + it.kept


def _counters(it: Operation) -> str:
    return "".join(it.taken_index(lane) + it.increment(lane) for lane in range(it.lanes)) + it.kept


def _stored_counters(it: Operation) -> str:
    text = f"store {it.vector} {it.indices}, ptr %out.{it.number}, align {4 * it.lanes}\n"
    for lane in range(it.lanes):  # volatile, or LLVM takes the elements out of the vector
        text += it.loaded_index(lane, volatile=True, where="out") + it.increment(lane)
    return text + it.kept


def _atomic(it: Operation) -> str:
    return f"%was.{it.number} = atomicrmw add ptr %memory, i32 1 monotonic, align 4\n" + it.kept


def _conflicts(it: Operation) -> str:
    return it.combined_call(f"llvm.x86.avx512.conflict.d.{32 * it.lanes}", f"{it.vector} {it.indices}")


def _shuffle(it: Operation) -> str:
    name = "avx512.permvar.si.512" if it.lanes == 16 else "avx2.permd"
    return it.combined_call(f"llvm.x86.{name}", f"{it.vector} {it.indices}, {it.vector} {it.indices}")


def _shuffle_of_bytes(name: str) -> Probe:
    """What processors with vectors of 16 bytes have."""

    def write(it: Operation) -> str:
        bytes = f"<16 x i8> %bytes.{it.number}"
        return (
            f"%bytes.{it.number} = bitcast {it.vector} {it.indices} to <16 x i8>\n"
            f"%moved.{it.number} = call <16 x i8> @llvm.{name}({bytes}, {bytes})\n"
            f"%found.{it.number} = bitcast <16 x i8> %moved.{it.number} to {it.vector}\n"
        ) + it.combined(f"%found.{it.number}")

    return write


def probes(target: Target) -> Mapping[str, Probe]:
    """The probes that a target has, by the names of `AccessCosts`."""
    of_bytes = _shuffle_of_bytes("aarch64.neon.tbl1.v16i8" if target.is_arm else "x86.ssse3.pshuf.b.128")
    found = {
        "gather": _gather,
        "loads": _loads,
        "scatter": _scatter,
        "stores": _stores,
        "shuffle": of_bytes if target.vector_bytes == 16 else _shuffle,
        "masked_store": _masked_store,
        "counters": _counters,
        "stored_counters": _stored_counters,
        "atomic": _atomic,
    }
    return found | ({"conflicts": _conflicts} if target.has_avx512 else {})


def numbers(target: Target) -> Mapping[str, int]:
    """The number of each probe, as the module takes it."""
    return {name: number for number, name in enumerate((*probes(target), READ, WAIT, *COPIES))}


def module(target: Target) -> str:
    """The module for a target."""
    lanes = target.vector_bytes // 4
    functions = [_function(name, lanes, write) for name, write in probes(target).items()]
    cases = [(number, name) for name, number in numbers(target).items()]
    switch = " ".join(f"i64 {number}, label %{name}" for number, name in cases)
    calls = "".join(f"{name}:\n  call void @{name}({_given(name)})\n  ret void\n" for _, name in cases)
    return f"""
define void @kernel(ptr noalias %bindings, ptr noalias %numbers, i64 %begin, i64 %end, ptr noalias %scratch,
                    i1 zeroext %is.shared) nounwind {{
  %memory = load ptr, ptr %bindings
  %rounds.at = getelementptr i64, ptr %numbers, i64 1
  %size.at = getelementptr i64, ptr %numbers, i64 2
  %probe = load i64, ptr %numbers
  %rounds = load i64, ptr %rounds.at
  %size = load i64, ptr %size.at
  switch i64 %probe, label %none [{switch}]
none:
  ret void
{calls}}}
{"".join(functions)}{_READ_AND_WAIT}{"".join(map(_copying, COPIES))}{_declared(target)}
!0 = !{{i32 1}}
"""


def _given(name: str) -> str:
    """The parameters of a probe."""
    return "ptr %memory, " + ("i64 %begin, i64 %end" if name in COPIES else "i64 %rounds") + ", i64 %size"


def _function(name: str, lanes: int, write: Probe) -> str:
    """The loop of a probe. Each operation takes the next vector of indices."""
    operations = [Operation(lanes, number) for number in range(UNROLLED)]
    vector = operations[0].vector
    body = "".join(it.taken() + write(it) for it in operations)
    return f"""
define internal void @{name}({_given(name)}) noinline {{
  %all.indices = getelementptr i8, ptr %memory, i64 {INDICES_AT}
  %all.results = getelementptr i8, ptr %memory, i64 {RESULTS_AT}
  br label %loop
loop:
  %round = phi i64 [ 0, %0 ], [ %following, %loop ]
  %sum.0 = phi {vector} [ zeroinitializer, %0 ], [ %sum.{UNROLLED}, %loop ]
  %first = mul i64 %round, {UNROLLED}
{body}%following = add i64 %round, 1
  %more = icmp ult i64 %following, %rounds
  br i1 %more, label %loop, label %done
done:
  store {vector} %sum.{UNROLLED}, ptr %all.results, align {4 * lanes}
  ret void
}}
"""


_READ_AND_WAIT: Final = f"""
define internal void @{READ}({_given(READ)}) noinline {{
  br label %again
again:
  %round = phi i64 [ 0, %0 ], [ %following, %whole ]
  %before = phi <32 x i32> [ zeroinitializer, %0 ], [ %after, %whole ]
  br label %loop
loop:
  %at = phi i64 [ 0, %again ], [ %beyond, %loop ]
  %sum = phi <32 x i32> [ %before, %again ], [ %after, %loop ]
  %place = getelementptr i8, ptr %memory, i64 %at
  %line = load <32 x i32>, ptr %place, align 64
  %after = add <32 x i32> %sum, %line
  %beyond = add i64 %at, {_LINES}
  %more = icmp ult i64 %beyond, %size
  br i1 %more, label %loop, label %whole
whole:
  %following = add i64 %round, 1
  %others = icmp ult i64 %following, %rounds
  br i1 %others, label %again, label %done
done:
  store <32 x i32> %after, ptr %memory, align 64
  ret void
}}

define internal void @{WAIT}({_given(WAIT)}) noinline {{
  %place = alloca i64
  br label %loop
loop:
  %round = phi i64 [ 0, %0 ], [ %following, %loop ]
  store volatile i64 %round, ptr %place
  %seen = load volatile i64, ptr %place
  %following = add i64 %seen, 1
  %more = icmp ult i64 %following, %rounds
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


def _copying(name: str) -> str:
    """The loop that copies the pieces from `begin` to `end`. A goal is where a line goes to in the second half."""
    is_apart = name in (COPY_APART, COPY_APART_PAST)
    stored = ", !nontemporal !0" if name in (COPY_PAST, COPY_APART_PAST) else ""
    together = _LINE if is_apart else _LINES
    line = f"<{together // 4} x i32>"
    first, following = ("%first.apart", "%goal.apart") if is_apart else ("%first", "%beyond")
    return f"""
define internal void @{name}({_given(name)}) noinline {{
  %half = lshr i64 %size, 1
  %second = getelementptr i8, ptr %memory, i64 %half
  %piece = udiv i64 %half, {PIECES}
  %first = mul i64 %begin, %piece
  %last = mul i64 %end, %piece
  %apart = mul i64 %first, {_APART // _LINE}
  %first.apart = urem i64 %apart, %half
  br label %loop
loop:
  %at = phi i64 [ %first, %0 ], [ %beyond, %loop ]
  %goal = phi i64 [ {first}, %0 ], [ {following}, %loop ]
  %from = getelementptr i8, ptr %memory, i64 %at
  %to = getelementptr i8, ptr %second, i64 %goal
  %line = load {line}, ptr %from, align 64
  store {line} %line, ptr %to, align 64{stored}
  %beyond = add i64 %at, {together}
  %farther = add i64 %goal, {_APART}
  %wrapped = sub i64 %farther, %half
  %is.beyond = icmp uge i64 %farther, %half
  %goal.apart = select i1 %is.beyond, i64 %wrapped, i64 %farther
  %more = icmp ult i64 %beyond, %last
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


def _declared(target: Target) -> str:
    lanes = target.vector_bytes // 4
    words, places, mask = f"<{lanes} x i32>", f"<{lanes} x ptr>", f"<{lanes} x i1>"
    found = [
        f"{words} @llvm.masked.gather.v{lanes}i32.v{lanes}p0({places}, i32 immarg, {mask}, {words})",
        f"void @llvm.masked.scatter.v{lanes}i32.v{lanes}p0({words}, {places}, i32 immarg, {mask})",
        f"void @llvm.masked.store.v{lanes}i32.p0({words}, ptr, i32 immarg, {mask})",
    ]
    if target.vector_bytes == 16:
        name = "aarch64.neon.tbl1.v16i8" if target.is_arm else "x86.ssse3.pshuf.b.128"
        found.append(f"<16 x i8> @llvm.{name}(<16 x i8>, <16 x i8>)")
    else:
        found.append(f"{words} @llvm.x86.{'avx512.permvar.si.512' if lanes == 16 else 'avx2.permd'}({words}, {words})")
    if target.has_avx512:
        found.append(f"{words} @llvm.x86.avx512.conflict.d.{32 * lanes}({words})")
    return "".join(f"declare {it}\n" for it in found)
