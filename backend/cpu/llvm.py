"""Writing LLVM IR as text: modules, functions, blocks, and arithmetic on scalars or on vectors of lanes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, contextmanager
from typing import TypeAlias

from ...base.records import dataclass, field
from ...ir.hercules import nodes as h
from .folding import folded_binary, folded_conversion
from .machine import AccessCosts, costs_so_far
from .target import Target, current_target

UNROLL_METADATA = '!2 = !{!"llvm.loop.unroll.full"}'
"""The metadata node that `ModuleText.unrolled_loop` refers to."""
_FIRST_LOOP = 10
_Known: TypeAlias = "tuple[dict[str, str], ...]"
_SUMS = ("fadd", "fsub", "fmul")
_SUFFIXES = {"half": "f16", "float": "f32", "double": "f64"}


@dataclass(slots=True)
class ModuleText:
    """The parts of a module. Declarations and helper functions are written once, however often they are asked for.

    `fused`: sums and differences that are one operation together with a product that goes into them.
    `has_short_nests`: lanes have nests of loops that are to be unrolled. `is_quicker_alone`: there is other code for a
    worker beside which no other works. `costs`: what accesses cost, the same for all code of the module.
    """

    fused: dict[h.Node, h.Binary | h.Intrinsic] = field(default_factory=dict[h.Node, "h.Binary | h.Intrinsic"])
    has_short_nests: bool = False
    is_quicker_alone: bool = False
    target: Target = field(default_factory=current_target)
    costs: AccessCosts = field(default_factory=lambda: costs_so_far().access)
    _declarations: dict[str, None] = field(default_factory=dict[str, None])
    _globals: dict[str, str] = field(default_factory=dict[str, str])
    _functions: dict[str, str] = field(default_factory=dict[str, str])
    _alignments: dict[str, int] = field(default_factory=dict[str, int])
    _loops: int = 0

    def declare(self, declaration: str) -> None:
        """A function from elsewhere."""
        self._declarations[f"declare {declaration}"] = None

    def constant(self, initializer: str, align: int) -> str:
        """The name of a private constant with this typed initializer."""
        if initializer not in self._globals:
            self._globals[initializer] = f"@constant{len(self._globals)}"
        name = self._globals[initializer]
        self._alignments[name] = max(align, self._alignments.get(name, 1))
        return name

    def helper(self, name: str, write: Callable[[], str]) -> None:
        """A function of our own, written when it is first asked for."""
        if name not in self._functions:
            self._functions[name] = ""  # a helper may call itself
            self._functions[name] = write()

    def unrolled_loop(self) -> str:
        """The metadata for a loop's back edge by which LLVM unrolls it fully if it knows the trip count."""
        number = self._loops + _FIRST_LOOP
        self._loops += 1
        self._functions[f"loop {number}"] = f"!{number} = distinct !{{!{number}, !2}}\n"
        return f", !llvm.loop !{number}"

    def add_function(self, name: str, text: str) -> None:
        """Add a function."""
        self._functions[name] = text

    def __str__(self) -> str:
        constants = [
            f"{name} = private unnamed_addr constant {text}, align {self._alignments[name]}"
            for text, name in self._globals.items()
        ]
        return "\n".join([*constants, "", *self._functions.values(), *self._declarations, ""])


@dataclass(frozen=True, slots=True)
class Gap:
    """Room for one instruction in a block."""

    _body: list[str]
    _at: int

    def fill(self, instruction: str) -> None:
        """Put an instruction without a result there."""
        self._body[self._at] = f"  {instruction}"


class FunctionText:
    """The body of one function, block by block. Instructions go to the end of the current block.

    The block that is opened first comes before all others.
    """

    def __init__(self, module: ModuleText) -> None:
        self.module = module
        self._blocks: dict[str, list[str]] = {}
        self._phis: dict[str, list[Callable[[], str]]] = {}
        self._starts: dict[str, list[str]] = {}
        self._known: dict[str, _Known] = {}
        """For each block the results of pure instructions that it, and what control has passed before it, has."""
        self._count = 0
        self._added = 0.0
        self.size = 0.0
        """The instructions so far, after loops are unrolled."""
        self.current = ""
        self._summed = ""
        """The block that has sums or products of vectors since its last fence."""

    def open(self, block: str) -> None:
        """Continue writing in a block."""
        if block not in self._blocks:
            self._blocks[block] = []
            first = next(iter(self._known.values()), ())
            self._known[block] = ({}, *first)
        self.current = block

    @contextmanager
    def elsewhere(self, block: str) -> Generator[None]:
        """Write to the end of another block."""
        current = self.current
        self.open(block)
        yield
        self.open(current)

    def at_entry(self) -> AbstractContextManager[None]:
        """Write to the function's first block, `entry`."""
        return self.elsewhere("entry")

    def open_arm(self, block: str, before: str) -> None:
        """Begin a block to which control only comes from, or after, another one, which has ended."""
        self._blocks[block] = []
        self._known[block] = ({}, *self._known[before])
        self.current = block

    def open_merge(self, block: str, before: str) -> None:
        """Begin a block to which control only comes after another one, whose arms have all been written."""
        self._blocks[block] = []
        self._known[block] = self._known[before]
        self.current = block

    def fresh_block(self, hint: str) -> str:
        """A new block's name; it begins when it is opened."""
        self._count += 1
        return f"{hint}.{self._count}"

    def name(self) -> str:
        """A new value's name."""
        self._count += 1
        return f"%v{self._count}"

    def value(self, instruction: str) -> str:
        """Append an instruction and return its result's name."""
        name = self.name()
        self.do(f"{name} = {instruction}")
        return name

    def pure(self, instruction: str) -> str:
        """The name of the result of an instruction that has no effect and reads no memory: it is appended unless
        control is sure to have passed one like it.
        """
        known = self._known[self.current]
        for results in known:
            if instruction in results:
                return results[instruction]
        name = known[0][instruction] = self.value(instruction)
        return name

    def do(self, instruction: str) -> None:
        """Append an instruction without a result."""
        self.size += 1
        self._blocks[self.current].append(f"  {instruction}")

    def note_sum(self) -> None:
        """The current block has a sum or a product of vectors."""
        self._summed = self.current

    def keep_order(self) -> None:
        """What is loaded next stays behind the sums that the current block has so far: by a fence that is no
        instruction of a processor.

        LLVM puts up to four loads from one base next to each other if they are within 512 bytes
        (`X86InstrInfo::shouldScheduleLoadsNear`), before all sums between them. Where sums take most registers, as in
        blocks of convolutions, some are then stored and loaded again in each turn: blocks of 12 sums take 1.2 to 1.3
        times as long if loads are from a tile of 34 columns, and up to 1.7 times if a window is written out (Zen 3).
        """
        if self._summed == self.current:
            self.do('fence syncscope("singlethread") acq_rel')
            self._summed = ""

    def phi(self, type: str, incoming: Callable[[], Iterable[tuple[str, str]]]) -> str:
        """A phi at the start of the current block; the pairs of value and block are asked for at the end."""
        name = self.name()

        def text() -> str:
            pairs = ", ".join(f"[ {value}, %{block} ]" for value, block in incoming())
            return f"  {name} = phi {type} {pairs}"

        self._phis.setdefault(self.current, []).append(text)
        return name

    def unrolled_loop(self, began: float, turns: float, most: int) -> str:
        """The metadata by which LLVM unrolls a loop, for the jump back, which is written next; nothing if all unrolled
        loops would add more than `most` instructions to the function, which had the size `began` before the loop.
        """
        added = (self.size - began) * (turns - 1)
        if self._added + added > most:
            return ""
        self._added += added
        self.size += added
        return self.module.unrolled_loop()

    def gap(self) -> Gap:
        """A place at the end of the current block for an instruction that may be wanted later."""
        body = self._blocks[self.current]
        body.append("")
        return Gap(body, len(body) - 1)

    def begin_with(self, block: str, instruction: str) -> None:
        """Put an instruction without a result at the beginning of a block; it changes no gaps there."""
        self._starts.setdefault(block, []).append(f"  {instruction}")

    def text(self) -> str:
        """All blocks, in the order in which they were first opened."""
        lines: list[str] = []
        for block, body in self._blocks.items():
            lines += [f"{block}:", *(phi() for phi in self._phis.get(block, ())), *self._starts.get(block, ())]
            lines += filter(None, body)
        return "\n".join(lines)


class Ops:
    """Arithmetic on `lanes` lanes at once; 1 means scalars. Types are named by their scalar: `float`, `i32`."""

    def __init__(self, out: FunctionText, lanes: int = 1) -> None:
        self.out = out
        self.lanes = lanes

    def type(self, scalar: str) -> str:
        """The LLVM type."""
        return scalar if self.lanes == 1 else f"<{self.lanes} x {scalar}>"

    def constant(self, scalar: str, value: float) -> str:
        """A constant."""
        text = constant_text(scalar, value)
        return text if self.lanes == 1 else f"splat ({scalar} {text})"

    def binary(self, instruction: str, scalar: str, lhs: str, rhs: str) -> str:
        """`add`, `fmul`, …; also comparisons such as `icmp eq`."""
        folded = folded_binary(instruction, scalar, lhs, rhs)
        if folded is not None:
            return folded
        if self.lanes > 1 and instruction in _SUMS:
            self.out.note_sum()
        return self.out.pure(f"{instruction} {self.type(scalar)} {lhs}, {rhs}")

    def unary(self, instruction: str, scalar: str, operand: str) -> str:
        """`fneg`, …"""
        return self.out.pure(f"{instruction} {self.type(scalar)} {operand}")

    def convert(self, instruction: str, source: str, operand: str, target: str) -> str:
        """`zext`, `fptrunc`, `bitcast`, …; nothing where source and target are one type."""
        if source == target:
            return operand
        folded = folded_conversion(instruction, operand, target) if self.lanes == 1 else None
        if folded is not None:
            return folded
        return self.out.pure(f"{instruction} {self.type(source)} {operand} to {self.type(target)}")

    def select(self, condition: str, scalar: str, if_true: str, if_false: str) -> str:
        """`condition ? if_true : if_false`."""
        type = self.type(scalar)
        if condition in ("true", "false"):
            return if_true if condition == "true" else if_false
        return self.out.pure(f"select {self.type('i1')} {condition}, {type} {if_true}, {type} {if_false}")

    def intrinsic(self, name: str, scalar: str, *operands: str, flags: tuple[str, ...] = ()) -> str:
        """An LLVM intrinsic whose operands and result are all of one type; `flags` are i1 immediates at the end."""
        type = self.type(scalar)
        full = f"@{name}.{self.suffix(scalar)}"
        types = ", ".join([*(type for _ in operands), *("i1 immarg" for _ in flags)])
        self.out.module.declare(f"{type} {full}({types})")
        arguments = ", ".join([*(f"{type} {it}" for it in operands), *(f"i1 {it}" for it in flags)])
        return self.out.pure(f"call {type} {full}({arguments})")

    def converting(self, name: str, source: str, operand: str, target: str) -> str:
        """An LLVM intrinsic from one type to another, such as `llvm.fptosi.sat`."""
        full = f"@{name}.{self.suffix(target)}.{self.suffix(source)}"
        self.out.module.declare(f"{self.type(target)} {full}({self.type(source)})")
        return self.out.pure(f"call {self.type(target)} {full}({self.type(source)} {operand})")

    def call(self, function: str, result: str, operands: Iterable[tuple[str, str]]) -> str:
        """Call a helper function with (type, value) operands."""
        arguments = ", ".join(f"{self.type(type)} {value}" for type, value in operands)
        return self.out.value(f"call {self.type(result)} @{function}({arguments})")

    def suffix(self, scalar: str) -> str:
        """How intrinsic names spell the type: `f32`, `v16i32`."""
        name = _SUFFIXES.get(scalar, scalar)
        return name if self.lanes == 1 else f"v{self.lanes}{name}"


def constant_text(scalar: str, value: float) -> str:
    """A constant as LLVM writes it; floats in hexadecimal, so that they are exact."""
    match scalar:
        case "i1":
            return "true" if value else "false"
        case "half":
            (bits,) = struct.unpack("<H", struct.pack("<e", value))
            return f"0xH{bits:04X}"
        case "float" | "double":
            (bits,) = struct.unpack("<Q", struct.pack("<d", value))
            return f"0x{bits:016X}"
        case _:
            return str(int(value))
