"""Functions as kernels: which results are copied."""

from __future__ import annotations

from tinct.ir.hercules.nodes import ConstantNode, Fork, Parameter, Reduce
from tinct.ir.hercules.text import parse
from tinct.ir.hercules.types import constant_type, is_collection
from tinct.ir.hercules.verify import check
from tinct.transforms.hercules.as_kernel import as_kernel

from .support import load


def test_a_result_that_starts_as_zeros_is_not_copied() -> None:
    module = load("histogram")
    kernel = as_kernel(module.functions[0])
    check(module)
    bins, olds = kernel.results
    (zero_bins,) = [it for it in kernel.function.nodes if isinstance(it, Parameter) and it.index == bins]
    assert any(isinstance(it, Reduce) and it.init is zero_bins for it in kernel.function.nodes)
    constants = [it.value for it in kernel.function.nodes if isinstance(it, ConstantNode)]
    assert not any(is_collection(constant_type(it)) for it in constants)
    assert sum(isinstance(it, Fork) for it in kernel.function.nodes) == 2  # the second copies what is collected
    assert olds != bins


def test_a_zero_that_is_made_in_a_loop_is_copied() -> None:
    module = parse(
        """
        fn f(count: u32) -> array<u32, 2> {
          zero = constant(u32 0)
          one = constant(u32 1)
          first = constant(u64 0)
          header = region(start, body)
          i = phi(header, zero, next)
          fresh = constant(array<u32, 2> zero)
          at = cast(u64, i)
          filled = write(fresh, i, position(at))
          head = read(filled, position(first))
          more = less(i, count)
          goes_on = equal(head, zero)
          both = and(more, goes_on)
          test = if(header, both)
          out = read(test, control(0))
          body = read(test, control(1))
          next = add(i, one)
          done = return(out, filled)
        }
        """
    )
    check(module)
    kernel = as_kernel(module.functions[0])
    check(module)
    assert kernel.results == (1,)
    assert sum(isinstance(it, Fork) for it in kernel.function.nodes) == 1
