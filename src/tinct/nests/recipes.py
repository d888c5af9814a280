"""Reductions of several values: the greatest with its index, mean and variance, softmax's maximum and sum.

Each carries values that update each other, and says how parts of them are joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .values import Carried, Dim, Value, ValueLike

if TYPE_CHECKING:
    from .builder import Nest

Parts = Sequence[Value]


def extreme(nest: Nest, value: Value, on: Dim, *, first: float, better: str) -> tuple[Value, Value]:
    """The best value along a dimension by `better`, > or <, and its index, the least one if there are several."""
    type = nest.type_of(value)
    best, place = nest.fby(first, [on], type), nest.fby(0, [on], "u32")
    is_better = nest.call(better, value, best)
    following = nest.call("select", place, nest.index(on), is_better)
    best.next, place.next = nest.call("select", best, value, is_better), following

    def join(left: Parts, right: Parts) -> tuple[Value, Value]:
        is_before = nest.call("==", right[0], left[0]) & (right[1] < left[1])
        is_second = nest.call(better, right[0], left[0]) | is_before
        return nest.call("select", left[0], right[0], is_second), nest.call("select", left[1], right[1], is_second)

    nest.combine([best, place], join)
    return nest.last(best, [on]), nest.last(place, [on])


def mean_variance(nest: Nest, value: Value, on: Sequence[Dim]) -> tuple[Value, Value]:
    """The mean and the variance of all elements: B. P. Welford, "Note on a method for calculating corrected sums of
    squares and products", Technometrics 4 (1962); parts are joined as by T. F. Chan, G. H. Golub and R. J. LeVeque,
    "Updating formulae and a pairwise algorithm for computing sample variances" (1979).
    """
    type = nest.type_of(value)
    count, mean, squares = nest.fby(0, on, "u32"), nest.fby(0.0, on, type), nest.fby(0.0, on, type)
    more, away = count + 1, value - mean
    nearer = mean + away / nest.call(type, more)
    count.next, mean.next, squares.next = more, nearer, squares + away * (value - nearer)

    def join(left: Parts, right: Parts) -> tuple[Value, Value, Value]:
        total = left[0] + right[0]
        away = right[1] - left[1]
        share = nest.call(type, right[0]) / nest.call(type, nest.call("max", total, 1))
        between = away * away * nest.call(type, left[0]) * share
        return total, left[1] + away * share, left[2] + right[2] + between

    nest.combine([count, mean, squares], join)
    total = nest.call("max", nest.last(count, on), 1)
    return nest.last(mean, on), nest.last(squares, on) / nest.call(type, total)


def scaled_sum(nest: Nest, value: Value, on: Sequence[Dim], *, first: float) -> tuple[Value, Value]:
    """The greatest element m, and the sum of exp(x - m) of all elements x, in one loop: M. Milakov and N. Gimelshein,
    "Online normalizer calculation for softmax" (2018). One exponential for each element: that of the greater of x and
    the maximum so far is 1.
    """
    most, total, _, _ = _scaled(nest, value, on, first)

    def join(left: Parts, right: Parts) -> tuple[ValueLike, ValueLike]:
        greater = nest.call("max", left[0], right[0])
        scaled = [it[1] * nest.call("exp", it[0] - greater) for it in (left, right)]
        return greater, scaled[0] + scaled[1]

    nest.combine([most, total], join)
    return nest.last(most, on), nest.last(total, on)


def weighted_sum(nest: Nest, score: Value, value: Value, on: Sequence[Dim], *, first: float) -> Value:
    """The sum of values times exp(score - m), over the sum of these factors, in one loop; m is the greatest score:
    M. N. Rabe and C. Staats, "Self-attention does not need O(n^2) memory" (2021).
    """
    _, total, scale, is_greater = _scaled(nest, score, on, first)
    weighted = nest.fby(0.0, on, nest.type_of(value))
    weighted.next = nest.call("select", weighted + value * scale, weighted * scale + value, is_greater)
    return nest.last(weighted, on) / nest.last(total, on)


def _scaled(nest: Nest, value: Value, on: Sequence[Dim], first: float) -> tuple[Carried, Carried, Value, Value]:
    """The greatest element so far, the sum of exponentials relative to it, what one of the old sum and the new element
    is multiplied by in an iteration, and whether that is the old sum, since the element is greater.
    """
    type = nest.type_of(value)
    most, total = nest.fby(first, on, type), nest.fby(0.0, on, type)
    is_greater = value > most
    scale = nest.call("exp", -nest.call("abs", value - most))
    most.next = nest.call("select", most, value, is_greater)
    total.next = nest.call("select", total + scale, total * scale + 1.0, is_greater)
    return most, total, scale, is_greater
