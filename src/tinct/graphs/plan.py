"""The plan of one execution of a graph: a flat list of steps for given sizes of inputs.

A plan is data. It names kernels by their leaves and has all numbers: memory, what lies where in it, the grid of each
dispatch, what each binding is bound to. So a replay needs neither the graph nor its expressions. One plan is for the
devices that it was made for, for inputs of the same sizes, and for the values of those inputs that expressions read
(`facts`).

An execution: write `inputs` and `constants`, do `steps` in order, read `outputs`. For a repetition, let
the memory of each rotation change places, and do `steps` again; inputs and constants are still there.

    plan = graph.plan({"x": x, "n": 7})
    for step in plan.steps: ...
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..ir.types import Sampler, Texture
from .arithmetic import ResultForm

VERSION = 4
"""The version of this format, in `Plan.version`."""

HOST = "cpu"
"""The device of the host's memory, in which the CPU and the interpreters work."""

Kind: TypeAlias = Literal["input", "constants", "error", "transient", "state", "sampler"]
"""What memory is for.
  input: values that a run writes.
  constants: small values, each at a multiple of 256 bytes; a run writes it whole.
  error: constants that steps write, where an extent is refused (`Arguments`) or a computation fails (`Computation`).
  transient: values that nodes write, which share it.
  state: the same, but it changes places with an input in a rotation.
  sampler: nothing, on a GPU, where a sampler is no memory.
"""

Extents: TypeAlias = "tuple[int | DataExtent, ...]"
"""Numbers of invocations in up to three dimensions; none for one invocation."""

Step: TypeAlias = "Dispatch | Fill | Transfer"


@dataclass(frozen=True, slots=True)
class Allocation:
    """Memory of one device: a buffer on a GPU, or a texture, which has an allocation of its own. There no step writes
    one part of it and only reads another, which WebGPU forbids ("Usage Scopes"). On the host one allocation has all
    transients.
    """

    device: str
    size: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class Handle:
    """A texture or a sampler. `head` has all that a plan is made for: the header of a texture, and all of a sampler, as
    `ir.textures` and `ir.samplers` describe them.
    """

    type: Texture | Sampler
    head: bytes


@dataclass(frozen=True, slots=True)
class PlanBuffer:
    """A value that is bound: `size` bytes of an allocation from `offset` on, a multiple of 256.

    `label` is the input, or the port of the node that makes it (`blur.dst`). `handle` is None for all but
    textures and samplers. On the host these lie in memory as `ir.textures` and `ir.samplers` say.
    """

    label: str
    allocation: int
    offset: int
    size: int
    handle: Handle | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """`size` bytes of an input, from `start` on, that a run writes to a constant at `offset`."""

    input: str
    start: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Constant:
    """What a run writes to a buffer of the kind `constants`: `data`, over which the pieces are written.

    Steps may copy numbers that nodes wrote over it.
    """

    buffer: int
    data: bytes
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class PlanInput:
    """An input of the graph: its bytes, and the buffers that a run writes them to, with the reason for each."""

    name: str
    size: int
    buffers: tuple[int, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """A number in an input that an expression has read: the members and indices that lead to it, and its value."""

    input: str
    path: tuple[str | int, ...]
    value: int


@dataclass(frozen=True, slots=True)
class PlanOutput:
    """An output of the graph. It has the dtype and shape of the input `like`, where that is not empty."""

    name: str
    buffer: int
    like: str


@dataclass(frozen=True, slots=True)
class DataExtent:
    """A number of invocations that is in a buffer when the step starts: 4 bytes at `offset`, a u32 or an i32."""

    buffer: int
    offset: int
    is_signed: bool


@dataclass(frozen=True, slots=True)
class Bound:
    """A buffer at `@group(group) @binding(binding)`, the kernel's variable `name`."""

    name: str
    group: int
    binding: int
    buffer: int
    is_written: bool


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a dispatch on a GPU needs if an extent is in a buffer. These are buffers:

    `request` is a constant with what `indirect.packed_request` gives for the dispatch, and the number of the step.
    Before the dispatch the kernel of that module writes `workgroups`, three u32. Where it refuses the extents, these
    are zeros, and it leaves the number of the step and the extents in `error`, which is zeros when a run begins.
    After that all later ones are zeros as well. An error is looked at when the steps have ended.
    """

    request: int
    workgroups: int
    error: int


@dataclass(frozen=True, slots=True)
class Computation:
    """What a dispatch of the kernel in `arithmetic` computes, in words, and the form of its result.

    Where that fails, it leaves the number of the step, the reason and the number in the buffer `error`, which is zeros
    when a run begins. After that all later results, and numbers of workgroups, are zeros.
    """

    text: str
    form: ResultForm
    error: int


@dataclass(frozen=True, slots=True)
class Dispatch:
    """A dispatch of a leaf's kernel for the node `path`, on `device`: that of its buffers, or an interpreter.

    `workgroups` is None if an extent is in a buffer. Then they are the extents divided by `workgroup_size`, rounded up;
    more invocations than `capacity`, or more than 65,535 workgroups in a dimension, are an error. On a GPU `arguments`
    says how these are made. With `computes` it is no node's own, but computes a number that the node takes. Nor are the
    kernels of `texel_kernels`, which write a texture for the node, or for an output, if `path` is empty.
    """

    path: tuple[str, ...]
    leaf: str
    device: str
    extents: Extents
    workgroup_size: tuple[int, int, int]
    workgroups: tuple[int, int, int] | None
    capacity: int | None
    bindings: tuple[Bound, ...]
    arguments: Arguments | None = None
    computes: Computation | None = None


@dataclass(frozen=True, slots=True)
class Fill:
    """Zeros for a whole buffer. On the host, the header of a texture is zeros, too; on a GPU it is no texture, since
    WebGPU has no command that fills one: a dispatch does.
    """

    buffer: int


@dataclass(frozen=True, slots=True)
class Transfer:
    """A copy of `size` bytes between two buffers, which may be on different devices, for the reason `why`. On a GPU a
    texture is copied as a whole, to another one of its format and extents.
    """

    source: int
    source_offset: int
    target: int
    target_offset: int
    size: int
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """See the module's docstring. Numbers of allocations and buffers are places in the tuples.

    `feeds` are the outputs that become inputs of the next execution, with these inputs. `rotations` are allocations of
    one size: for the next execution the memory of each takes the place of the next one in the tuple, and that of the
    last takes the place of the first. `live_bytes` is the most that values which nodes write need at any step.
    """

    version: int
    graph: str
    allocations: tuple[Allocation, ...]
    buffers: tuple[PlanBuffer, ...]
    constants: tuple[Constant, ...]
    inputs: tuple[PlanInput, ...]
    facts: tuple[Fact, ...]
    steps: tuple[Step, ...]
    outputs: tuple[PlanOutput, ...]
    feeds: tuple[tuple[str, str], ...]
    rotations: tuple[tuple[int, ...], ...]
    live_bytes: int

    @property
    def errors(self) -> tuple[int, ...]:
        """The buffers in which steps leave that an extent is refused, or that a computation has failed."""
        dispatches = (it for it in self.steps if isinstance(it, Dispatch))
        made = (part for it in dispatches for part in (it.arguments, it.computes) if part is not None)
        return tuple(dict.fromkeys(it.error for it in made))

    @property
    def transient_bytes(self) -> int:
        """The bytes of all memory for what nodes write."""
        return sum(it.size for it in self.allocations if it.kind in ("transient", "state"))

    def device(self, buffer: int) -> str:
        """The device whose memory a buffer is in."""
        return self.allocations[self.buffers[buffer].allocation].device
