"""The passes that prepare any function for machine code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from ...ir.hercules import dynamic
from ...ir.hercules import nodes as h
from ...ir.hercules.copying import specialised
from ...ir.hercules.inference import infer_types
from ...ir.hercules.types import is_data
from .as_kernel import Kernel, as_kernel
from .cleanup import remove_dead
from .fold_zeros import fold_zeros
from .inline_calls import inline_calls
from .lower_products import lower_products
from .lower_sums import lower_sums
from .merge_returns import with_one_return


def kernel_for(function: h.Function, constants: Sequence[int]) -> Kernel:
    """The function as a kernel of products and arrays, for these values of its dynamic constants. It may be changed.

    The kernel takes them still, but may not depend on them: only arrays that are not inside of other collections, and
    not empty, may be of an extent that is not a literal.
    """
    with_own_control(function)
    return kernel_of(function if is_for_all(function, constants) else specialised(function, constants))


def prepare(function: h.Function, constants: Sequence[int]) -> h.Function:
    """The function, which may be changed, with one return and without calls, sums and products but its result. It may
    depend on the dynamic constants as `kernel_for` says.
    """
    with_own_control(function)
    function = function if is_for_all(function, constants) else specialised(function, constants)
    _lower(function)
    fold_zeros(function)
    return function


def with_own_control(function: h.Function) -> None:
    """Inline all calls of a function, in place, and let it return in one place."""
    inline_calls(function)
    function.nodes = with_one_return(function.nodes)


def is_for_all(function: h.Function, constants: Sequence[int]) -> bool:
    """Whether machine code for a function `with_own_control` serves these values of its dynamic constants without
    having them substituted: no array is empty, and extents inside of other collections are literals.
    """
    return all(_is_plain(type, constants) for type in _storage_types(function) if is_data(type))


def kernel_of(function: h.Function) -> Kernel:
    """A function `with_own_control` as a kernel; the function may be changed."""
    _lower(function)
    kernel = as_kernel(function)
    fold_zeros(function)
    return kernel


def _lower(function: h.Function) -> None:
    """Replace sums, and products of values."""
    lower_products(function)
    lower_sums(function)
    remove_dead(function)


def _storage_types(function: h.Function) -> Iterator[h.Type]:
    """The types of what lies in storage: not of the products that Atomics give and functions return."""
    (end,) = [it for it in function.nodes if isinstance(it, h.Return)]
    for node, type in infer_types(function).items():
        if node is end.value and isinstance(node, h.ProductNode):
            continue
        if not isinstance(node, h.Atomic):
            yield type


def _is_plain(type: h.Type, constants: Sequence[int]) -> bool:
    """Whether the type has no empty arrays, and literal extents on the inside."""
    if isinstance(type, h.Array):
        return dynamic.evaluate(type.extent, constants) > 0 and _is_literal(type.element)
    return _is_literal(type)


def _is_literal(type: h.Type) -> bool:
    match type:
        case h.Array(element=element, extent=h.DynamicLiteral(value=count)):
            return count > 0 and _is_literal(element)
        case h.Array():
            return False
        case h.Product(fields=parts) | h.Summation(variants=parts):
            return all(map(_is_literal, parts))
        case h.Bool() | h.Integer() | h.Float() | h.Control():
            return True
        case _:
            assert_never(type)
