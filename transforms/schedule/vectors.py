"""Vectors of values at adjacent indices: which arrays are bound as vectors, and operations on components."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir import types as w
from ...ir.builtins import NoMatch, builtin, resolve_call
from ...ir.core.builder import Builder, u32
from ...ir.core.values import Value
from ...ir.operators import binary_result
from ...ir.ops import BinaryOp
from ...ir.schedule.extents import value_of
from ...ir.schedule.nodes import Affine, Boundary, Gather, Load, Map, Store, Term
from ...ir.schedule.scope import used_by
from .decided import Decided
from .tiles import Tile, tile_of


def vector_arrays(decided: Decided) -> dict[str, int]:
    """The arrays all of whose accesses are vectors at multiples of their width, which is given: 2 or 4."""
    mapped = {
        load
        for it in decided.scope.values.values()
        if isinstance(it, Map)
        for load in decided.demand(used_by(it)).loads
    }
    tiles = [tile_of(it, decided) for it in decided.stages]
    staged = {load.name: tile for tile in tiles for load in tile.loads}

    def width_of_access(access: Load | Store) -> int:
        if not isinstance(access, Load):
            return aligned_width(access, decided)
        if access.name in mapped:
            return 1
        tile = staged.get(access.name)
        return aligned_width(access, decided) if tile is None else _width_of_copy(access, tile, decided)

    widths: dict[str, set[int]] = {}
    for it in decided.nest.body:
        if isinstance(it, (Load, Store)):
            widths.setdefault(it.array, set()).add(width_of_access(it))
        elif isinstance(it, Gather):
            widths.setdefault(it.array, set()).add(1)
    return {
        array: max(found)
        for array, found in widths.items()
        if len(found) == 1 and found != {1} and array not in decided.scalars
    }


def _width_of_copy(load: Load, tile: Tile, decided: Decided) -> int:
    """The width of the aligned vectors that a copy in workgroup memory consists of; 1 if the array has other ones."""
    inner = tile.inner
    if inner is None or tile.along != len(tile.extents) - 1 or load.boundary is not Boundary.INSIDE:
        return 1
    first = _without_sizes(tile.first[-1], decided)
    extent = _known(decided.scope.arrays[load.array].extents[-1], decided)
    if first is None or not extent or load.array in decided.partials or load.array in decided.packed:
        return 1
    steps = [
        it.coefficient * stride
        for it in first.terms
        for level, stride in decided.strides(it.name).items()
        if level != inner.level
    ]
    return 1 if any(it % inner.width for it in (extent, first.constant, *steps)) else inner.width


def aligned_width(access: Load | Store, decided: Decided) -> int:
    """The width of the vectors that an access names, if they are aligned; 1 if they are not, or if it names none."""
    level = decided.vector_in(access.dimensions)
    width = 1 if level is None else decided.count(level) or 1
    if level is None or width == 3 or not access.subscripts or access.array in decided.partials:
        return 1
    if isinstance(access, Load) and access.boundary is not Boundary.INSIDE:
        return 1
    *outer, last = access.subscripts
    coefficients = {it.name: it.coefficient for it in last.terms}
    if coefficients.get(level.dimension) != 1 or any(it.name == level.dimension for row in outer for it in row.terms):
        return 1
    extent = _known(decided.scope.arrays[access.array].extents[-1], decided)
    rest = _without_sizes(last, decided)
    if not extent or extent % width or rest is None or rest.constant % width:
        return 1
    return width if all(it.coefficient % width == 0 for it in rest.terms if it.name != level.dimension) else 1


def in_vectors(last: Affine, dimension: str, width: int, decided: Decided) -> Affine:
    """The last subscript of an aligned access, counted in vectors; the index of `dimension` is so, too."""
    rest = _without_sizes(last, decided)
    assert rest is not None
    terms = [it if it.name == dimension else Term(it.coefficient // width, it.name) for it in rest.terms]
    return Affine(tuple(terms), rest.constant // width)


def _known(affine: Affine, decided: Decided) -> int | None:
    return value_of(affine, decided.sizes) if all(it.name in decided.sizes for it in affine.terms) else None


def _without_sizes(affine: Affine, decided: Decided) -> Affine | None:
    """The sum with numbers in the place of sizes; None if some are not known."""
    sizes = [it for it in affine.terms if it.name in decided.scope.sizes]
    known = _known(Affine(tuple(sizes), affine.constant), decided)
    return None if known is None else Affine(tuple(it for it in affine.terms if it not in sizes), known)


def width_of(value: Value) -> int:
    """The number of components; 1 of a scalar."""
    return value.type.width if isinstance(value.type, w.Vector) else 1


def component(builder: Builder, value: Value, number: int) -> Value:
    """A component of a vector; a scalar itself."""
    return builder.access(value, [u32(number)]) if isinstance(value.type, w.Vector) else value


def components(builder: Builder, value: Value) -> list[Value]:
    """All components of a vector; a scalar alone."""
    return [component(builder, value, it) for it in range(width_of(value))]


def splat(builder: Builder, value: Value, width: int) -> Value:
    """A vector with a scalar in each component; a vector itself."""
    if width == 1 or not isinstance(value.type, w.Scalar):
        return value
    return builder.construct(w.vector(width, value.type), [value])


def lanes_from(builder: Builder, first: Value, width: int) -> Value:
    """The vector of the numbers from `first` on."""
    steps = builder.construct(w.vector(width, w.U32), [u32(it) for it in range(width)])
    return builder.binary(BinaryOp.ADD, splat(builder, first, width), steps)


def converted(builder: Builder, type: w.Scalar, operand: Value) -> Value:
    """A value, or the components of a vector, converted to a type."""
    wanted = w.vector(width_of(operand), type) if isinstance(operand.type, w.Vector) else type
    return operand if operand.type is wanted else builder.convert(wanted, operand)


def operated(builder: Builder, op: BinaryOp, operands: Sequence[Value]) -> Value | None:
    """An operator on vectors and scalars, by components; None where WGSL has no such operator on vectors."""
    width = max(map(width_of, operands))
    for arguments in (operands, [splat(builder, it, width) for it in operands]):
        left, right = arguments
        match = binary_result(op, left.type, right.type, concrete=True)
        if match is not None and match.operands == (left.type, right.type) and isinstance(match.result, w.Vector):
            return builder.binary(op, left, right)
    return None


def called(builder: Builder, function: str, operands: Sequence[Value]) -> Value | None:
    """A function of vectors, by components; None where WGSL has no such function of vectors."""
    found, width = builtin(function), max(map(width_of, operands))
    arguments = [splat(builder, it, width) for it in operands]
    types = tuple(it.type for it in arguments)
    call = None if found is None else resolve_call(found, (), types, concrete=True)
    if call is None or isinstance(call, NoMatch) or call.param_types != types:
        return None
    is_vector = isinstance(call.result_type, w.Vector) and call.result_type.width == width
    return builder.builtin_call(function, arguments) if is_vector else None


def by_components(builder: Builder, operands: Sequence[Value], apply: Callable[[Sequence[Value]], Value]) -> Value:
    """A function of scalars, applied to each component."""
    width = max(map(width_of, operands))
    results = [apply([component(builder, it, number) for it in operands]) for number in range(width)]
    return vector_of(builder, results)


def vector_of(builder: Builder, parts: Sequence[Value]) -> Value:
    """The vector of some scalars of one type."""
    first = parts[0].type
    assert isinstance(first, w.Scalar)
    return builder.construct(w.vector(len(parts), first), parts)
