"""Transient buffers that need no zeros: those that the first dispatch on them is proved to write whole.

The proof is `transforms.dataflow.one_to_one.written_whole`, for the numbers of one dispatch. A kernel that the analysis
refuses proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from ..base.errors import InputError
from ..ir import types as wgsl
from ..ir.core.cooperation import first_cooperation
from ..ir.dataflow.nodes import Element, Member
from ..ir.diagnostics import ShaderError
from ..ir.entry_points import entry_point
from ..ir.layout import runtime_count, stride_of
from ..reflection import BindingInfo
from ..transforms.dataflow.accesses import KernelAccesses, kernel_accesses
from ..transforms.dataflow.forms import LengthOf, Scalar
from ..transforms.dataflow.grids import Grid
from ..transforms.dataflow.kernel_graph import port_of
from ..transforms.dataflow.one_to_one import written_whole
from ..transforms.dataflow.refusal import Refused
from .linking import Links


def leaf_accesses(links: Links, leaf: str) -> KernelAccesses:
    """The accesses of a leaf's kernel, which are found once. Raises Refused."""
    if leaf not in links.accesses:
        try:
            compilation = links.kernels[leaf].compilation(links.constants[leaf])
            entry = entry_point(compilation.core.functions, compilation.entry)
            links.accesses[leaf] = kernel_accesses(compilation.hercules, first_cooperation(entry))
        except (ShaderError, InputError) as error:
            links.accesses[leaf] = str(error)
    found = links.accesses[leaf]
    if isinstance(found, str):
        raise Refused(found, None)
    return found


@dataclass(frozen=True, slots=True)
class LaunchNumbers:
    """What is known about a dispatch of a leaf before it runs. `sizes` are the bytes of its ports, and `number` gives
    the whole number that selectors lead to in a port; None where it is not known.
    """

    leaf: str
    workgroups: tuple[int, int, int]
    sizes: Mapping[str, int]
    number: Callable[[str, tuple[Member | Element, ...]], int | None]

    def writes_whole(self, links: Links, info: BindingInfo, size: int) -> bool:
        """Whether the dispatch writes all elements of a binding of so many bytes before it reads any of them."""
        if not isinstance(info.type, wgsl.Array):
            return False
        length = size // stride_of(info.type)
        if isinstance(info.type.count, int) and info.type.count != length:
            return False
        try:
            accesses = leaf_accesses(links, self.leaf)
        except Refused:
            return False
        return written_whole(accesses, info.name, self._grid(accesses), length)

    def _grid(self, accesses: KernelAccesses) -> Grid:
        (x, y, z), (width, height, depth) = self.workgroups, accesses.entry.workgroup_size

        def value(symbol: Hashable) -> int | None:
            if isinstance(symbol, LengthOf):
                return runtime_count(accesses.binding(symbol.binding).type, self.sizes[symbol.binding])
            if not isinstance(symbol, Scalar):
                return None
            port, selectors = port_of(accesses.binding(symbol.binding), symbol.path, self.sizes)
            return self.number(port, selectors)

        return Grid((x * width, y * height, z * depth), self.workgroups, value)
