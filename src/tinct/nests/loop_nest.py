"""What all nests can do, built in Python or parsed: run, and be lowered with decisions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from ..arguments import count_of, flag_of, mapping_of, name_of, search_time_of, seconds_of, text_of
from ..base.errors import InputError
from ..ir.dataflow.nodes import NestShader
from ..ir.hints import unknown_name
from ..ir.layout_numbers import is_flag, shown
from ..ir.schedule import interp
from ..ir.schedule.extents import extents_of, size_mistakes
from ..ir.schedule.nodes import Array, Decisions, Direction
from ..ir.schedule.nodes import Nest as NestNode
from ..ir.schedule.scope import Scope
from ..ir.schedule.text import parse, parse_decisions, print_nest
from ..ir.schedule.verify import VerifyError, check
from ..ir.tokens import TextError
from ..transforms.schedule.decided import Decided
from ..transforms.schedule.join import NotJoinable, join
from ..transforms.schedule.legality import illegal
from ..transforms.schedule.stages import stages_of
from .lowered import LoweredNest
from .lowered_stages import LoweredStages
from .tune_options import TuneOptions

if TYPE_CHECKING:
    from ..tuning.search import Progress
    from .tuned import TunedNest

Arrays = Mapping[str, npt.ArrayLike]
Sizes = Mapping[str, int]


class LoopNest(ABC):
    """A nest. Arrays are given and returned by name, row by row as numpy has them."""

    name: str

    @property
    @abstractmethod
    def ir(self) -> NestNode:
        """The nest, verified."""

    def __str__(self) -> str:
        """Its text, which `parse_nest` reads. Raises InputError while it is not whole."""
        return print_nest(self.ir)

    def run(
        self,
        arrays: Arrays,
        *,
        sizes: Sizes | None = None,
        decisions: str | Decisions = "",
        reassociate: bool = False,
        device: str = "interp",
        timeout: float | None = None,
    ) -> dict[str, npt.NDArray[Any]]:
        """The outputs by name.

        On "interp" without decisions, the nest is evaluated by its definition; on another device, or with decisions,
        it is lowered (see `lower`) and dispatched. Sizes are found from the inputs' shapes where extents are single
        sizes; `sizes` gives others. Raises InputError for what does not fit, ShaderError and DeviceError as kernels do.
        """
        if decisions == "" and name_of(device, "a device", "cpu") == "interp":
            inputs, known = self.prepared(arrays, sizes)
            return interp.run(self.ir, inputs, known, timeout=seconds_of(timeout))
        lowered = self.lower(decisions, reassociate=reassociate)
        return lowered.run(arrays, sizes=sizes, device=device, timeout=timeout)

    def lower(
        self, decisions: str | Decisions = "", *, sizes: Sizes | None = None, reassociate: bool = False
    ) -> LoweredNest:
        """The nest as a kernel, with decisions as text or as a value: one point of the space of schedules.

        Sizes are overrides of the kernel, but for those in `sizes`, for which alone the kernel is then right; with
        them, tests for tails that the sizes rule out are left out. `reassociate` allows sums of floats and the like to
        be accumulated in parts. Raises InputError for decisions that break a rule.
        """
        known = self.known_sizes(sizes)
        chosen = _decisions(decisions)
        decided = Decided(self.ir, chosen, known, flag_of(reassociate, "reassociate"))
        found = illegal(decided)
        if found:
            raise InputError("\n".join(f"decisions: {sentence} [{name}]" for name, sentence in found))
        split = stages_of(decided)
        return LoweredNest(self, decided) if len(split.stages) == 1 else LoweredStages(self, decided, split)

    def tune(
        self,
        sizes: Sizes,
        *,
        device: str = "cpu",
        seconds: float = 30.0,
        reassociate: bool = False,
        contract: bool = False,
        seed: int = 0,
        renew: bool = False,
        watch: Callable[[Progress], None] | None = None,
    ) -> TunedNest:
        """Search for the decisions with which the nest is fastest at these sizes on a device, for so many seconds.

        The best result is kept on disk (see `tinct tune`); as long as it is there, the same search returns it at once,
        unless `renew`. `reassociate` is as for `lower`, `contract` as for `Kernel.run`. Each candidate is compared with
        the definition at small sizes, and with the CPU at these. `watch` is told the progress, which otherwise a bar
        on a terminal shows. Ctrl-C ends the search, which keeps what it has found.

        Raises InputError for what cannot be tuned, DeviceError if no decisions work on the device.
        """
        from .tuned import tuned

        options = TuneOptions(
            device=name_of(device, "a device", "cpu"),
            seconds=search_time_of(seconds),
            reassociate=flag_of(reassociate, "reassociate"),
            contract=flag_of(contract, "contract"),
            seed=count_of(seed, "seed"),
            renew=flag_of(renew, "renew"),
        )
        return tuned(self, self.all_sizes(sizes), options, watch)

    def all_sizes(self, sizes: Sizes) -> dict[str, int]:
        """All sizes of the nest, in order. Raises InputError for a missing one, and for sizes that do not fit."""
        known = self.known_sizes(sizes)
        missing = [it for it in self.ir.sizes if it not in known]
        if missing:
            raise InputError(f"size {missing[0]!r} is missing")
        for mistake in size_mistakes(Scope(self.ir), known):
            raise InputError(f"nest {self.name!r}: {mistake}")
        return {it: known[it] for it in self.ir.sizes}

    def then(self, second: LoopNest, arrays: Mapping[str, str]) -> ParsedNest:
        """The nest that does what this one does and then `second`, without the arrays between them.

        `arrays` has inputs of the second nest by the outputs of this one that they are. Either the second loads each
        element in the iteration in which this one stores it; or this one carries no values, so that its elements can be
        computed wherever they are loaded. The names of this nest stay if it carries values, else those of the
        second, and decisions for that one are decisions for the new nest. Names of the other that both have get a
        number. Raises InputError, which says why two nests cannot be one.
        """
        if not isinstance(cast("object", second), LoopNest):
            raise InputError(f"expected a nest, not {shown(second)}")
        names = {it: name_of(to, "an input", "x") for it, to in mapping_of(arrays, "arrays", ("y",)).items()}
        try:
            return ParsedNest(join(self.ir, second.ir, names).nest)
        except NotJoinable as error:
            raise InputError(f"{self.name!r} and {second.name!r} stay two nests: {error}") from None

    def known_sizes(self, sizes: Sizes | None) -> dict[str, int]:
        """Sizes as numbers. Raises InputError for other names, and for what is no size."""
        known = {} if sizes is None else dict(mapping_of(sizes, "sizes", self.ir.sizes or ("n",)))
        for name, size in known.items():
            if name not in self.ir.sizes:
                raise InputError(unknown_name(f"nest {self.name!r} has no size {name!r}", name, self.ir.sizes))
            known[name] = _size(name, size)
        return known

    def prepared(self, arrays: Arrays, sizes: Sizes | None) -> tuple[dict[str, npt.NDArray[Any]], dict[str, int]]:
        """The inputs as arrays of their types, and all sizes. Raises InputError for what does not fit."""
        nest, known = self.ir, self.known_sizes(sizes)
        inputs = [it for it in nest.arrays if it.direction is Direction.IN]
        given = mapping_of(arrays, "arrays", [it.name for it in inputs] or ["x"])
        names = [it.name for it in inputs]
        for name in given:
            if name not in names:
                raise InputError(unknown_name(f"nest {self.name!r} has no input {name!r}", str(name), names))
        found = {it.name: _array(it, given) for it in inputs}
        for it in inputs:
            _find_sizes(it, found[it.name].shape, known)
        missing = [it for it in nest.sizes if it not in known]
        if missing:
            raise InputError(f"size {missing[0]!r} does not follow from the inputs: give sizes=")
        for it in inputs:
            wanted = extents_of(it, known)
            if found[it.name].shape != wanted:
                raise InputError(f"{it.name!r} has the shape {found[it.name].shape}, not {wanted}")
        for mistake in size_mistakes(Scope(nest), known):
            raise InputError(f"nest {self.name!r}: {mistake}")
        return found, known


def _size(name: str, value: object) -> int:
    try:
        size = -1 if is_flag(value) else index(cast("SupportsIndex", value))
    except TypeError:
        size = -1
    if not 0 <= size < 2**32:
        raise InputError(f"size {name!r} is a whole number from 0 to 2^32 - 1, not {shown(value)}")
    return size


def _array(array: Array, given: Mapping[str, Any]) -> npt.NDArray[Any]:
    if array.name not in given:
        raise InputError(f"input {array.name!r} is missing")
    try:
        found = np.asarray(given[array.name])
    except ValueError as error:
        raise InputError(f"{array.name!r} is no array: {error}") from None
    wanted = np.dtype(interp.DTYPES[array.type])
    if found.dtype != wanted and not (
        isinstance(given[array.name], (list, tuple, int, float)) and found.dtype.kind in "if"
    ):
        raise InputError(f"{array.name!r} has elements of type {found.dtype}, not {wanted}")
    if found.ndim != len(array.extents):
        raise InputError(f"{array.name!r} has {found.ndim} dimensions, not {len(array.extents)}")
    return np.ascontiguousarray(found, wanted).reshape(found.shape)


def _find_sizes(array: Array, shape: tuple[int, ...], known: dict[str, int]) -> None:
    """Sizes from extents that are single sizes; the first array that has one decides."""
    for extent, length in zip(array.extents, shape, strict=True):
        if len(extent.terms) == 1 and extent.terms[0].coefficient == 1:
            known.setdefault(extent.terms[0].name, length - extent.constant)


def _decisions(decisions: str | Decisions) -> Decisions:
    if isinstance(decisions, Decisions):
        return decisions
    try:
        return parse_decisions(text_of(decisions, "decisions", "i: loop"))
    except TextError as error:
        raise InputError(f"decisions: {error}") from None


class ParsedNest(LoopNest):
    """A nest from a text."""

    def __init__(self, nest: NestNode) -> None:
        self.name = nest.name
        self._nest = nest

    def __repr__(self) -> str:
        return f"<ParsedNest {self.name}: {', '.join(it.name for it in self._nest.arrays) or 'no array'}>"

    @property
    def ir(self) -> NestNode:
        """The nest."""
        return self._nest


def parse_nest(text: str) -> ParsedNest:
    """The nest of a text, as `str` of a nest gives it. Raises InputError for one that breaks the grammar or a rule."""
    try:
        nest = parse(text_of(text, "a nest", "nest f(n) { … }"))
        check(nest)
    except (TextError, VerifyError) as error:
        raise InputError(str(error)) from None
    return ParsedNest(nest)


def lowered_nest(source: NestShader) -> LoweredNest:
    """The nest with decisions that a shader of a graph is made from. Raises InputError for one that breaks a rule."""
    sizes = {it.name: int(it.value.value) for it in source.sizes}
    return parse_nest(source.nest).lower(source.decisions, sizes=sizes, reassociate=source.reassociate).of_scalars()
