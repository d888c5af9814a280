"""Fits the polynomials of the CPU's float functions and writes backend/cpu/math/coefficients.py.

    python tools/fit_polynomials.py [--check]

Each is the minimax polynomial of a function on an interval, by Remez' exchange (E. Remez, 1934; J.-M. Muller,
"Elementary Functions", 3rd edition, 2016, chapters 3 and 4). The lowest coefficient is rounded to f32 first, then the
others are fitted again around it, and so on, as long as that helps. Functions are evaluated with 40 decimal
digits and systems are solved in fractions, so that every machine writes the same file.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, getcontext
from fractions import Fraction
from pathlib import Path

getcontext().prec = 40
TARGET = Path(__file__).parents[1] / "backend" / "cpu" / "math" / "coefficients.py"
GRID = 600
Function = Callable[[Decimal], Decimal]


# Functions, to the context's precision


def _series(x: Decimal, term: Decimal, ratio: Callable[[int], Decimal]) -> Decimal:
    """The sum of terms, the k-th being the one before times ratio(k), until they are too small to count."""
    total, k = term, 0
    while abs(term) > abs(total) * Decimal("1e-42") and k < 2000:
        k += 1
        term *= ratio(k)
        total += term
    return total


def sin(x: Decimal) -> Decimal:
    return _series(x, x, lambda k: -x * x / (2 * k * (2 * k + 1)))


def cos(x: Decimal) -> Decimal:
    return _series(x, Decimal(1), lambda k: -x * x / (2 * k * (2 * k - 1)))


def sinh(x: Decimal) -> Decimal:
    return _series(x, x, lambda k: x * x / (2 * k * (2 * k + 1)))


def cosh(x: Decimal) -> Decimal:
    return _series(x, Decimal(1), lambda k: x * x / (2 * k * (2 * k - 1)))


def asin(x: Decimal) -> Decimal:
    return _series(x, x, lambda k: x * x * (2 * k - 1) * (2 * k - 1) / (2 * k * (2 * k + 1)))


def atan(x: Decimal) -> Decimal:
    """Euler's series, which converges for every x."""
    y = x * x / (1 + x * x)
    return _series(x, x / (1 + x * x), lambda k: y * (2 * k) / (2 * k + 1))


LN2 = Decimal(2).ln()
PI = 4 * atan(Decimal(1))


# Fitting


@dataclass(frozen=True)
class Fit:
    """`head(x) + scale(x) * P(u(x))` for `function` on [low, high], with the least greatest relative error.

    P has `count` coefficients, the constant first; the first are those `given`.
    """

    name: str
    doc: str
    function: Function
    low: Decimal
    high: Decimal
    count: int
    head: Function = lambda x: Decimal(0)
    scale: Function = lambda x: Decimal(1)
    variable: Function = lambda x: x
    given: tuple[Fraction, ...] = ()


@dataclass(frozen=True)
class Point:
    """A sample: the polynomial's variable, the value P should have, and what an error of P weighs."""

    u: float
    wanted: float
    weight: float


def f32(value: Fraction | Decimal | float) -> Fraction:
    """The nearest f32, as a fraction."""
    (rounded,) = struct.unpack("<f", struct.pack("<f", float(value)))
    return Fraction(rounded)


def samples(fit: Fit) -> list[Point]:
    """The grid: Chebyshev's nodes, denser towards the ends, where extrema are."""
    points: list[Point] = []
    for index in range(GRID):
        t = -cos(PI * (2 * index + 1) / (2 * GRID))
        x = (fit.low + fit.high) / 2 + (fit.high - fit.low) / 2 * t
        value, scale = fit.function(x), fit.scale(x)
        wanted, weight = (value - fit.head(x)) / scale, abs(scale / value)
        points.append(Point(float(fit.variable(x)), float(wanted), float(weight)))
    return points


def evaluate(coefficients: Sequence[Fraction], u: float) -> float:
    total = 0.0
    for it in reversed(coefficients):
        total = total * u + float(it)
    return total


def solve(rows: list[list[Fraction]]) -> list[Fraction]:
    """The solution of a linear system given as rows of the augmented matrix, by elimination."""
    size = len(rows)
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(size):
            factor = rows[row][column] / rows[column][column]
            if row != column and factor:
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[column], strict=True)]
    return [rows[index][size] / rows[index][index] for index in range(size)]


def remez(points: list[Point], count: int) -> list[Fraction]:
    """The coefficients with the least greatest weighted error."""
    size = count + 1
    chosen = [points[(2 * k + 1) * len(points) // (2 * size)] for k in range(size)]
    best: list[Fraction] = []
    least = float("inf")
    for _ in range(40):
        rows: list[list[Fraction]] = []
        for index, point in enumerate(chosen):
            u = Fraction(point.u)
            error = Fraction((-1) ** index) / Fraction(point.weight)
            rows.append([*(u**k for k in range(count)), error, Fraction(point.wanted)])
        coefficients = [Fraction(float(it)) for it in solve(rows)[:count]]
        errors = [(point.wanted - evaluate(coefficients, point.u)) * point.weight for point in points]
        worst = max(map(abs, errors))
        if worst < least:
            best, least = coefficients, worst
        exchanged = exchange(points, errors, size)
        if exchanged is None or exchanged == chosen:
            break
        chosen = exchanged
    return best


def without(points: list[Point], coefficient: Fraction) -> list[Point]:
    """The samples of (g - coefficient) / u instead of g: what is left to fit when the constant is fixed.

    The division leaves a polynomial with a constant term, which Remez' alternation needs where u may be 0.
    """
    constant = float(coefficient)
    return [Point(it.u, (it.wanted - constant) / it.u, it.weight * abs(it.u)) for it in points]


def exchange(points: list[Point], errors: list[float], size: int) -> list[Point] | None:
    """Positions of the largest errors with alternating signs; None if there are too few."""
    extrema: list[int] = []
    for index, error in enumerate(errors):
        if extrema and (errors[extrema[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[extrema[-1]]):
                extrema[-1] = index
        else:
            extrema.append(index)
    while len(extrema) > size:
        extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
    return [points[index] for index in extrema] if len(extrema) == size else None


def fitted(fit: Fit) -> tuple[list[Fraction], float]:
    """The rounded coefficients and the greatest relative error on the grid.

    Of several candidates the best: the first k coefficients rounded one after the other, the others all at once.
    """
    points = samples(fit)
    candidates: list[tuple[float, list[Fraction]]] = []
    fixed: list[Fraction] = []
    rest = points
    for k in range(fit.count):
        if k < len(fit.given):
            fixed.append(fit.given[k])
        else:
            others = [f32(it) for it in remez(rest, fit.count - k)]
            coefficients = fixed + others
            errors = (abs(point.wanted - evaluate(coefficients, point.u)) * point.weight for point in points)
            candidates.append((max(errors), coefficients))
            fixed.append(others[0])
        rest = without(rest, fixed[-1])
    error, best = min(candidates)
    return best, error


# What is fitted


def square(x: Decimal) -> Decimal:
    return x * x


def cube(x: Decimal) -> Decimal:
    return x * x * x


def identity(x: Decimal) -> Decimal:
    return x


HALF_LN2, QUARTER_TURN = LN2 / 2 + Decimal("0.001"), Decimal("0.8")
MANTISSA = (Decimal("0.5").sqrt() - 1, Decimal(2).sqrt() - 1)
ONE = Fraction(1)
FITS = (
    Fit("EXP", "e^r for |r| ≤ ln 2 / 2.", Decimal.exp, -HALF_LN2, HALF_LN2, 7, given=(ONE, ONE)),
    Fit("EXP2", "2^r for |r| ≤ ½.", lambda r: (r * LN2).exp(), Decimal("-0.501"), Decimal("0.501"), 7, given=(ONE,)),
    Fit("LOG", "ln(1 + f) = f + f² P(f), 1 + f between √½ and √2.", lambda f: (1 + f).ln(), *MANTISSA, 9,
        head=identity, scale=square, given=(-ONE / 2,)),
    Fit("LOG2", "log2(1 + f) = f + f P(f), 1 + f between √½ and √2.", lambda f: (1 + f).ln() / LN2, *MANTISSA, 10,
        head=identity, scale=identity),
    Fit("LOG2_ATANH", "log2((1 + s) / (1 - s)) = 2 s / ln 2 + s³ P(s²), |s| ≤ 0.1716.",
        lambda s: ((1 + s) / (1 - s)).ln() / LN2, Decimal("0.001"), Decimal("0.1717"), 4,
        head=lambda s: 2 * s / LN2, scale=cube, variable=square),
    Fit("SIN", "sin r = r + r³ P(r²), |r| ≤ 0.8.", sin, Decimal(0), QUARTER_TURN, 3,
        head=identity, scale=cube, variable=square),
    Fit("COS", "cos r = P(r²), |r| ≤ 0.8.", cos, Decimal(0), QUARTER_TURN, 5, variable=square,
        given=(ONE, -ONE / 2)),
    Fit("TAN", "tan r = r + r³ P(r²), |r| ≤ 0.8.", lambda r: sin(r) / cos(r), Decimal(0), QUARTER_TURN, 7,
        head=identity, scale=cube, variable=square),
    Fit("ASIN", "asin a = a + a³ P(a²), |a| ≤ ½.", asin, Decimal(0), Decimal("0.501"), 5,
        head=identity, scale=cube, variable=square),
    Fit("ATAN", "atan t = t + t³ P(t²), |t| ≤ 1.", atan, Decimal(0), Decimal(1), 9,
        head=identity, scale=cube, variable=square),
    Fit("SINH", "sinh r = r + r³ P(r²), 0 ≤ r ≤ ln 2.", sinh, Decimal(0), Decimal("0.70"), 3,
        head=identity, scale=cube, variable=square),
    Fit("TANH", "tanh a = a + a³ P(a²), 0 ≤ a ≤ 0.625.", lambda a: sinh(a) / cosh(a), Decimal(0), Decimal("0.63"), 5,
        head=identity, scale=cube, variable=square),
    Fit("COSH", "cosh r = P(r²), 0 ≤ r ≤ ln 2.", cosh, Decimal(0), Decimal("0.70"), 5, variable=square,
        given=(ONE, ONE / 2)),
)  # fmt: skip


def parts(value: Decimal, bits: Sequence[int]) -> list[Fraction]:
    """The value as a sum of floats, the k-th truncated to its number of bits (the last is rounded)."""
    found: list[Fraction] = []
    rest = Fraction(value)
    for count in bits:
        exponent = 0
        while abs(rest) * Fraction(2) ** exponent < 1 << (count - 1):
            exponent += 1
        while abs(rest) * Fraction(2) ** exponent >= 1 << count:
            exponent -= 1
        part = Fraction(round(rest * Fraction(2) ** exponent)) / Fraction(2) ** exponent
        assert f32(part) == part
        found.append(part)
        rest -= part
    return found


CONSTANTS = (
    ("PI_2_PARTS", "π/2 as a sum.", parts(PI / 2, (24, 24, 24))),
    ("PI_PARTS", "π as a sum.", parts(PI, (24, 24))),
    ("LN2_PARTS", "ln 2 as a sum; products of the first term and 8-bit integers are exact.", parts(LN2, (16, 24))),
    ("TWO_BY_LN2_PARTS", "2 / ln 2 as a sum.", parts(2 / LN2, (24, 24))),
    ("DEGREES_PARTS", "180 / π as a sum of positive numbers.", parts(180 / PI, (23, 24))),
    ("RADIANS_PARTS", "π / 180 as a sum of positive numbers.", parts(PI / 180, (22, 24))),
)


def written(values: Sequence[Fraction]) -> str:
    body = "".join(f'    float.fromhex("{shortened(it)}"),\n' for it in values)
    return f"(\n{body})\n"


def shortened(value: Fraction) -> str:
    """In hexadecimal, without zeros at the end of the digits."""
    digits, exponent = float(value).hex().split("p")
    return (
        f"{digits.rstrip('0')}0p{exponent}" if digits.endswith(".0000000000000") else f"{digits.rstrip('0')}p{exponent}"
    )


def generated() -> str:
    """The text of the module."""
    heading = (
        "Coefficients as f32 values, written by tools/fit_polynomials.py. Each tuple begins with the constant term."
    )
    lines = [f'"""{heading}"""\n\n']
    for fit in FITS:
        coefficients, error = fitted(fit)
        bound = 0
        while error * 2.0 ** (bound + 1) < 1:
            bound += 1
        print(f"{fit.name}: {error:.3g} = 2^-{bound}", file=sys.stderr)
        lines.append(f'{fit.name} = {written(coefficients)}"""{fit.doc} Relative error below 2^-{bound}."""\n\n')
    for name, doc, values in CONSTANTS:
        lines.append(f'{name} = {written(values)}"""{doc}"""\n\n')
    return "".join(lines).rstrip("\n") + "\n"


if __name__ == "__main__":
    text = generated()
    if "--check" in sys.argv[1:]:
        sys.exit(TARGET.read_text(encoding="utf-8") != text)
    TARGET.write_text(text, encoding="utf-8")
