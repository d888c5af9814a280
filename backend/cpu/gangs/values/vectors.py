"""Operations on vectors of lanes and on masks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ...llvm import Ops

_WORDS = ("i32", "float")
_WORDS_OF_AVX512 = 16
_BYTE = 8
"""The fewest lanes whose mask is an integer that a register can hold."""


def is_miscompiled(numbers: Sequence[int]) -> bool:
    """Whether LLVM may take the wrong elements in a shuffle of 16 words by constant numbers.

    Where all words go by twos, LLVM shuffles words of 64 bits. If only the first four words count of several minima or
    maxima of such shuffles, which take them from the first four of their sources, LLVM 22.1 narrows the shuffles, and
    takes words 0 and 1 where 2 and 3 are asked for. (As if it made VPERMILPD of VPERMQ, whose numbers are in other bits
    of the mask; LLVM pull request 133923 made it narrow them. Shuffles that do the same in both halves of a vector have
    no mask. Of 16,000 random shuffles no other was wrong.)
    """
    firsts = numbers[::2]
    are_pairs = all(it % 2 == 0 for it in firsts) and list(numbers[1::2]) == [it + 1 for it in firsts]
    half = len(firsts) // 2
    are_halves_alike = list(firsts[half:]) == [it + len(firsts) for it in firsts[:half]]
    return are_pairs and list(firsts[:2]) in ([2, 0], [2, 2]) and not are_halves_alike


class LaneVectors:
    """Builds vectors of `vec.lanes` lanes and takes them apart. A mask is a vector of i1, or None for all lanes."""

    def __init__(self, ops: Ops) -> None:
        self.vec = ops
        self.one = Ops(ops.out)
        self.out = ops.out
        self.lanes = ops.lanes

    def splat(self, value: str, scalar: str) -> str:
        """One value in all lanes."""
        if not value.startswith("%"):
            return f"splat ({scalar} {value})"
        first = self.out.pure(f"insertelement {self.vec.type(scalar)} poison, {scalar} {value}, i64 0")
        return self.shuffle(scalar, first, "poison", [0] * self.lanes)

    def hidden(self, value: str, scalar: str) -> str:
        """The same integer, passed through empty assembly code that LLVM cannot look into.

        LLVM therefore does not hoist what is computed from it out of a loop, where it may be rarely needed.
        """
        return self.out.value(f'call {scalar} asm sideeffect "", "=r,0"({scalar} {value})')

    def lane_numbers(self, scalar: str, stride: int = 1) -> str:
        """The constant vector of lane numbers times a stride."""
        bits = int(scalar[1:])
        return vector_text(scalar, ((lane * stride) & ((1 << bits) - 1) for lane in range(self.lanes)))

    def shuffle(self, scalar: str, left: str, right: str, numbers: Iterable[int]) -> str:
        """A shuffle of two vectors; elements of the second one are numbered after those of the first."""
        type, wanted = self.vec.type(scalar), list(numbers)
        if scalar in _WORDS and len(wanted) == self.lanes == _WORDS_OF_AVX512 and self.out.module.target.has_avx512:
            is_second = left == "poison"
            own = [it - self.lanes for it in wanted] if is_second else wanted
            if (is_second or right == "poison") and is_miscompiled(own):
                return self._by_hidden_numbers(scalar, right if is_second else left, own)
        mask = vector_text("i32", wanted)
        return self.out.pure(f"shufflevector {type} {left}, {type} {right}, <{len(wanted)} x i32> {mask}")

    def _by_hidden_numbers(self, scalar: str, vector: str, numbers: Sequence[int]) -> str:
        """A shuffle of one vector, by an instruction whose numbers are hidden from LLVM."""
        words, type = self.vec.type("i32"), self.vec.type(scalar)
        with self.out.at_entry():
            hidden = self._hidden_constant(words, "v", vector_text("i32", numbers))
        name = f"@llvm.x86.avx512.permvar.{'si' if scalar == 'i32' else 'sf'}.512"
        self.out.module.declare(f"{type} {name}({type}, {words})")
        return self.out.pure(f"call {type} {name}({type} {vector}, {words} {hidden})")

    def _hidden_constant(self, type: str, register: str, value: str) -> str:
        """A constant in a kind of register, of which LLVM knows nothing."""
        return self.out.pure(f'call {type} asm "", "={register},0"({type} {value}) memory(none)')

    def both(self, mask: str, other: str) -> str:
        """The lanes that both masks have; those that `mask` does not have may be poison in the other one.

        Of a selection by a constant mask LLVM makes a shuffle of bits, which with AVX-512 turns masks into vectors and
        back. There, the constant is hidden from it, so that it stays in a mask register.
        """
        is_literal, type = mask.startswith("<"), self.vec.type("i1")
        if not is_literal or not other.startswith("%") or not self.out.module.target.has_avx512 or self.lanes < _BYTE:
            return self.vec.select(mask, "i1", other, "zeroinitializer")
        bits = sum(1 << lane for lane, it in enumerate(mask.split(",")) if "true" in it)
        with self.out.at_entry():
            word = self._hidden_constant(f"i{self.lanes}", "r", str(bits))
            hidden = self.out.pure(f"bitcast i{self.lanes} {word} to {type}")
        return self.out.pure(f"and {type} {self.out.pure(f'freeze {type} {other}')}, {hidden}")

    def any(self, mask: str) -> str:
        """An i1: whether a mask has a lane."""
        return self.one.binary("icmp ne", f"i{self.lanes}", self.bits(mask), "0")

    def is_full(self, mask: str) -> str:
        """An i1: whether a mask has all lanes."""
        return self.one.binary("icmp eq", f"i{self.lanes}", self.bits(mask), "-1")

    def is_empty(self, mask: str) -> str:
        """An i1: whether a mask has no lane."""
        return self.one.binary("icmp eq", f"i{self.lanes}", self.bits(mask), "0")

    def bits(self, mask: str) -> str:
        """A mask as an integer; lane 0 is the lowest bit."""
        return self.out.pure(f"bitcast {self.vec.type('i1')} {mask} to i{self.lanes}")

    def lane(self, scalar: str, vector: str, number: str) -> str:
        """One lane of a vector."""
        return self.out.pure(f"extractelement {self.vec.type(scalar)} {vector}, i64 {number}")

    def either(
        self,
        test: str,
        scalars: Sequence[str],
        fast: Callable[[], Sequence[str]],
        slow: Callable[[], Sequence[str]],
        *,
        is_likely: bool = True,
    ) -> list[str]:
        """Vectors of these types, made in the `fast` way if a test holds, as it likely does, else in the `slow` one."""
        out, ways = self.out, list[tuple[Sequence[str], str]]()
        blocks = [out.fresh_block(name) for name in ("as.expected", "otherwise")]
        done = out.fresh_block("accessed")
        before = out.current
        weights = ", !prof !1" if is_likely else ""
        out.do(f"br i1 {test}, label %{blocks[0]}, label %{blocks[1]}{weights}")
        for block, make in zip(blocks, (fast, slow), strict=True):
            out.open_arm(block, before)
            ways.append((make(), out.current))
            out.do(f"br label %{done}")
        out.open_merge(done, before)
        return [self._phi(scalar, [(it[number], block) for it, block in ways]) for number, scalar in enumerate(scalars)]

    def do_either(self, test: str, fast: Callable[[], None], slow: Callable[[], None]) -> None:
        """Write what makes no vectors in the `fast` way if a test holds, as it likely does, else in the `slow` one."""

        def returning(write: Callable[[], None]) -> Callable[[], Sequence[str]]:
            def written() -> Sequence[str]:
                write()
                return ()

            return written

        self.either(test, (), returning(fast), returning(slow))

    def _phi(self, scalar: str, ways: Sequence[tuple[str, str]]) -> str:
        return self.out.phi(self.vec.type(scalar), lambda: ways)

    def all_lanes(self, scalar: str, vector: str) -> list[str]:
        """Each lane of a vector (see `each_lane`)."""
        return list(self.each_lane(scalar, vector))

    def each_lane(self, scalar: str, vector: str) -> Iterator[str]:
        """Each lane of a vector, taken out when it is asked for. Of four or more, lanes of 32-bit integers are taken
        out by twos, as halves of 64 bits.

        Assembly code that LLVM cannot look into keeps it from making 32-bit extractions of that. With these, Zen 4
        takes 4.5 ns for each of a row of increments at the lanes' addresses, with halves 0.5: extractions directly
        before make it expect, wrongly, that an increment loads what an earlier one stored.
        """
        if scalar != "i32" or self.lanes % 2 or self.lanes < 4 or not vector.startswith("%"):
            yield from (self.lane(scalar, vector, str(number)) for number in range(self.lanes))
            return
        pairs = Ops(self.out, self.lanes // 2)
        words = self.out.pure(f"bitcast {self.vec.type(scalar)} {vector} to {pairs.type('i64')}")
        for number in range(pairs.lanes):
            pair = self.hidden(self.out.pure(f"extractelement {pairs.type('i64')} {words}, i64 {number}"), "i64")
            upper = self.one.binary("lshr", "i64", pair, "32")
            for it in (pair, upper):
                yield self.one.convert("trunc", "i64", it, scalar)

    def a_lane(self, scalar: str, vector: str, mask: str | None) -> str:
        """The value of the last lane of a mask that is not empty."""
        if mask is None:
            return self.lane(scalar, vector, str(self.lanes - 1))
        bits = self.bits(mask)
        zeros = self.one.intrinsic("llvm.ctlz", f"i{self.lanes}", bits, flags=("true",))
        last = self.one.binary("sub", f"i{self.lanes}", str(self.lanes - 1), zeros)
        wide = "zext" if self.lanes < 64 else "bitcast"
        return self.lane(scalar, vector, self.one.convert(wide, f"i{self.lanes}", last, "i64"))

    def of_some_lane(self, scalar: str, vector: str, mask: str | None) -> str:
        """The value of a lane of a mask, in all lanes; if the mask is empty, the value of any lane."""
        vec, one, type = self.vec, self.one, self.vec.type(scalar)
        if mask is None:
            return self.shuffle(scalar, vector, "poison", [0] * vec.lanes)
        if self.out.module.target.has_avx512:
            name = f"llvm.experimental.vector.compress.{vec.suffix(scalar)}"
            self.out.module.declare(f"{type} @{name}({type}, {vec.type('i1')}, {type})")
            moved = self.out.pure(f"call {type} @{name}({type} {vector}, {vec.type('i1')} {mask}, {type} {vector})")
            return self.shuffle(scalar, moved, "poison", [0] * vec.lanes)
        width = f"i{vec.lanes}"
        first = one.intrinsic("llvm.cttz", width, self.bits(mask), flags=("false",))
        number = one.convert("zext", width, one.binary("and", width, first, str(vec.lanes - 1)), "i64")
        return self.splat(self.lane(scalar, vector, number), scalar)


def vector_text(scalar: str, values: Iterable[int]) -> str:
    """A constant vector of integers."""
    return f"<{', '.join(f'{scalar} {it}' for it in values)}>"


def mask_text(lanes: Iterable[bool]) -> str:
    """A constant mask."""
    return f"<{', '.join('i1 true' if it else 'i1 false' for it in lanes)}>"
