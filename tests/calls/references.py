"""What the kernels in `kernels` must answer, by Python's integers, and by numpy over all pixels at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]
Floats = npt.NDArray[np.float32]
F = np.float32

# secp256k1 (SEC 2, "Recommended Elliptic Curve Domain Parameters", 2.4.1), affine, with Python's integers

P = 2**256 - 2**32 - 977
G = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)
Affine = tuple[int, int] | None


def add_affine(p: Affine, q: Affine) -> Affine:
    if p is None or q is None:
        return p or q
    if p[0] == q[0] and (p[1] + q[1]) % P == 0:
        return None
    slope = 3 * p[0] ** 2 * pow(2 * p[1], -1, P) if p == q else (q[1] - p[1]) * pow(q[0] - p[0], -1, P)
    x = (slope**2 - p[0] - q[0]) % P
    return x, (slope * (p[0] - x) - p[1]) % P


def field(scalars: Words, bits: int) -> Words:
    """The multiples of G by the lowest bits of each scalar, as x and y of eight words."""
    result = np.zeros((len(scalars), 16), np.uint32)
    for row, words in zip(result, scalars, strict=True):
        scalar = sum(int(word) << (32 * index) for index, word in enumerate(words)) & ((1 << bits) - 1)
        point: Affine = None
        for bit in range(bits - 1, -1, -1):
            point = add_affine(point, point)
            point = add_affine(point, G) if scalar >> bit & 1 else point
        for index, coordinate in enumerate(point or (0, 0)):
            row[8 * index : 8 * index + 8] = [coordinate >> (32 * word) & 0xFFFFFFFF for word in range(8)]
    return result


# Twisted Edwards formulas over the scalar field of BLS12-377; products are Montgomery's, with R = 2^260

Q = 8444461749428370424248824938781546531375899335154063827935233455917409239041
R = pow(2**260, -1, Q)
Extended = tuple[int, int, int, int]


def _add_extended(p: Extended, q: Extended) -> Extended:
    a, b, c, d = (one * other * R % Q for one, other in zip(p, q, strict=True))
    e = ((p[0] + p[1]) * (q[0] + q[1]) * R - a - b) % Q
    f, g, h = (d - c) % Q, (d + c) % Q, (a + b) % Q
    return e * f * R % Q, g * h * R % Q, e * h * R % Q, f * g * R % Q


def limbs(given: Words, rounds: int) -> Words:
    result = np.zeros_like(given)
    for row, words in zip(result, given, strict=True):
        x = sum(int(word) << (13 * index) for index, word in enumerate(words))
        # The kernel's order of coordinates is x, y, t, z; its products are of x, y, t, z in that order.
        p: Extended = (x, Q - 1, Q - 1, x)
        q = p
        for turn in range(rounds):
            q = _add_extended(q, q)
            q = _add_extended(q, p) if turn & 1 else q
            q = _add_extended(q, q)
            p = _add_extended(_add_extended(q, p), q)
        value = (q[0] * p[1] * R + q[3]) % Q
        row[:] = [value >> (13 * index) & 8191 for index in range(20)]
    return result


# The machine


def machine(code: Words, inputs: Words, turns: int) -> Words:
    result = np.zeros((len(inputs), 4), np.uint32)
    for number, (first, second) in enumerate(inputs):
        registers = [int(first), int(second), number, 0, 0, 0, 0, 0]
        counter = _run(registers, [int(word) for word in code], turns)
        result[number] = [registers[0], registers[1], registers[7], counter]
    return result


def _run(r: list[int], code: list[int], turns: int) -> int:
    counter, is_zero = 0, False
    for _ in range(turns):
        if counter >= len(code):
            break
        word = code[counter]
        counter += 1
        operation, a, b, c, value = word & 31, word >> 8 & 7, word >> 12 & 7, word >> 16 & 7, word >> 20
        x, y = r[b], r[c]
        if operation in (16, 17, 18):
            taken = {16: is_zero, 17: not is_zero, 18: True}[operation]
            counter = value if taken else counter
            continue
        if operation in (19, 24):
            for one, other in [(a, b), (b, c)][: 1 if operation == 19 else 2]:
                r[one], r[other] = r[other], r[one]
                is_zero = r[other] == 0
            continue
        found = _compute(operation, x, y, value, code)
        if found is not None:
            r[a] = found & 0xFFFFFFFF
            is_zero = r[a] == 0
    return counter


def _compute(operation: int, x: int, y: int, value: int, code: list[int]) -> int | None:
    match operation:
        case 0 | 12:
            return x + (y if operation == 0 else value)
        case 1:
            return x - y
        case 2:
            return x * y
        case 3:
            return x // y if y else x
        case 4:
            return x % y if y else 0
        case 5:
            return x & y
        case 6:
            return x | y
        case 7:
            return x ^ y
        case 8:
            return x << (y & 31)
        case 9:
            return x >> (y & 31)
        case 10:
            return x << (y & 31) | x >> (-y & 31)
        case 11:
            return value
        case 13:
            return x.bit_count()
        case 14:
            return int(np.floor(np.sqrt(np.longdouble(x))))
        case 15:
            return int(np.gcd(x, y))
        case 20 | 21:
            return min(x, y) if operation == 20 else max(x, y)
        case 22:
            return int(f"{x:032b}"[::-1], 2)
        case 23:
            return code[(x + value) % (1 << 32) % len(code)]
        case _:
            return None


# Noise

Vec = tuple[Floats, Floats, Floats]


def _mixed(v: Words) -> Words:
    h = v * np.uint32(747796405) + np.uint32(2891336453)
    h = ((h >> ((h >> np.uint32(28)) + np.uint32(4))) ^ h) * np.uint32(277803737)
    return (h >> np.uint32(22)) ^ h


def _corner(cell: list[Words], offset: tuple[int, int, int], f: list[Floats], seed: int) -> Floats:
    h = _mixed(np.full_like(cell[0], seed))
    for axis in (2, 1, 0):
        h = _mixed((cell[axis] + np.uint32(offset[axis])) ^ h)
    x, y, z = (part - F(step) for part, step in zip(f, offset, strict=True))
    low = h & np.uint32(15)
    u = np.where(low < 8, x, y)
    v = np.where(low < 4, y, np.where((low == 12) | (low == 14), x, z))
    return np.where(h & np.uint32(1), -u, u) + np.where(h & np.uint32(2), -v, v)


def _mix(a: Floats, b: Floats, t: Floats) -> Floats:
    return a * (F(1) - t) + b * t


def _noise(p: Vec, seed: int) -> Floats:
    floors = [np.floor(part) for part in p]
    f = [part - floor for part, floor in zip(p, floors, strict=True)]
    cell = [floor.astype(np.int32).view(np.uint32) for floor in floors]
    u = [t * t * t * (t * (t * F(6) - F(15)) + F(10)) for t in f]
    corners = [_corner(cell, (n & 1, n >> 1 & 1, n >> 2), f, seed) for n in range(8)]
    planes = [_mix(*(_mix(corners[k], corners[k + 1], u[0]) for k in (n, n + 2)), u[1]) for n in (0, 4)]
    return _mix(planes[0], planes[1], u[2])


def _moved(p: Vec, by: tuple[float, float, float], scale: float = 1) -> Vec:
    x, y, z = (part * F(scale) + F(step) for part, step in zip(p, by, strict=True))
    return x, y, z


def _plus(p: Vec, q: Vec, scale: float = 1) -> Vec:
    x, y, z = (one + F(scale) * other for one, other in zip(p, q, strict=True))
    return x, y, z


def _fbm(p: Vec, octaves: int, seed: int) -> Floats:
    total, scale = np.zeros_like(p[0]), F(0.5)
    for octave in range(octaves):
        total = total + scale * _noise(p, seed + octave)
        p = _moved((p[1], p[2], p[0]), (1.5, 0.25, 3), 2)
        scale *= F(0.5)
    return total


def _ridged(p: Vec, seed: int) -> Floats:
    total, weight = np.zeros_like(p[0]), np.ones_like(p[0])
    for octave in range(4):
        n = F(1) - np.abs(_noise(p, seed + octave))
        total = total + n * n * weight
        weight = np.clip(n * F(2), F(0), F(1)) * F(0.5)
        p = _moved(p, (0, 0, 0), 2)
    return total


def _warp(p: Vec, seed: int) -> Vec:
    moves = ((0, 0, 0), (5.25, 1.25, 2.5), (-1.5, -7.75, -0.5))
    x, y, z = (_fbm(_moved(p, by), 3, seed) for by in moves)
    return x, y, z


def _height(p: Vec, seed: int) -> Floats:
    rough = _ridged(_plus(p, _warp(p, seed)), seed + 1) * _fbm(p, 4, seed)
    return F(0.5) * _ridged(p, seed) + F(0.5) * rough


def noise(width: int, height: int, seed: int) -> Floats:
    y, x = (axis.astype(F).ravel() * F(0.125) for axis in np.mgrid[:height, :width])
    p = x, y, np.full_like(x, (seed & 7) * F(0.125))
    second = _warp(_plus(p, _warp(p, seed), 4), seed + 7)
    clouds = _fbm(_plus(p, second, 4), 5, seed + 13)
    slopes = [
        _height(_moved(p, by), seed) - _height(_moved(p, (-by[0], -by[1], 0)), seed)
        for by in ((0.125, 0.0, 0.0), (0.0, 0.125, 0.0))
    ]
    return np.stack([clouds, _height(p, seed), *slopes], axis=1)


# Ray marching: a hit is (distance, material)

Hit = tuple[Floats, Words]


def _length(*parts: Floats) -> Floats:
    return np.sqrt(sum((part * part for part in parts), np.zeros_like(parts[0])))


def _sphere(p: Vec, radius: float) -> Floats:
    return _length(*p) - F(radius)


def _box(p: Vec, size: tuple[float, float, float]) -> Floats:
    q = [np.abs(part) - F(extent) for part, extent in zip(p, size, strict=True)]
    outside = _length(*(np.maximum(part, F(0)) for part in q))
    return outside + np.minimum(np.maximum(q[0], np.maximum(q[1], q[2])), F(0))


def _cylinder(p: Vec, radius: float, height: float) -> Floats:
    x, y = _length(p[0], p[2]) - F(radius), np.abs(p[1]) - F(height)
    return np.minimum(np.maximum(x, y), F(0)) + _length(np.maximum(x, F(0)), np.maximum(y, F(0)))


def _turned(p: Vec, cosine: float, sine: float) -> Vec:
    return F(cosine) * p[0] - F(sine) * p[2], p[1], F(sine) * p[0] + F(cosine) * p[2]


def _hit(distance: Floats, material: int) -> Hit:
    return distance, np.full(distance.shape, material, np.uint32)


def _nearer(a: Hit, b: Hit) -> Hit:
    first = a[0] < b[0]
    return np.where(first, a[0], b[0]), np.where(first, a[1], b[1])


def _smooth(a: Hit, b: Hit, k: float) -> Hit:
    h = np.clip(F(0.5) + F(0.5) * (b[0] - a[0]) / F(k), F(0), F(1))
    return _mix(b[0], a[0], h) - F(k) * h * (F(1) - h), np.where(h > 0.5, a[1], b[1])


def _wheel(p: Vec) -> Hit:
    x, y, z = p[0], p[2], p[1]
    hit = _hit(_length(_length(x, z) - F(0.5), y) - F(0.12), 1)
    for spoke in range(5):
        q = _turned((x, y, z), 0.5, 0.75)
        hit = _nearer(hit, _hit(_cylinder(_moved(q, (0, 0, F(0.1) * F(spoke))), 0.05, 0.5), 2))
    return np.maximum(hit[0], -_sphere(p, 0.1)), hit[1]


def _axle(p: Vec) -> Hit:
    wheels = _nearer(_wheel(_moved(p, (0, 0, -0.9))), _wheel(_moved(p, (0, 0, 0.9))))
    return _nearer(wheels, _hit(_cylinder((p[0], p[2], p[1]), 0.08, 0.9), 3))


def _cabin(p: Vec) -> Hit:
    distance = np.maximum(_box(p, (0.6, 0.4, 0.7)), -_box(p, (0.5, 0.35, 0.6)))
    distance = np.maximum(distance, -_box(_moved(p, (0, 0.1, -0.7)), (0.2, 0.25, 0.2)))
    return _hit(np.maximum(distance, _sphere(p, 0.95)), 4)


def _wagon(p: Vec) -> Hit:
    axles = _nearer(_axle(_moved(p, (-0.9, 0.4, 0))), _axle(_moved(p, (0.9, 0.4, 0))))
    body = _smooth(_hit(_box(p, (1.2, 0.2, 0.6)), 5), _cabin(_moved(p, (0.4, -0.5, 0))), 0.2)
    return _nearer(axles, body)


def _train(p: Vec) -> Hit:
    hit = _nearer(_wagon(p), _wagon(_moved(p, (-3, 0, 0))))
    hit = _smooth(hit, _wagon(_moved(_turned(p, 0, 1), (3, 0, 0.5))), 0.05)
    return _nearer(hit, _hit(p[1] + F(1), 6))


def _normalized(p: Vec) -> Vec:
    length = _length(*p)
    return p[0] / length, p[1] / length, p[2] / length


def _along(p: Vec, direction: Vec, t: Floats) -> Vec:
    x, y, z = (start + part * t for start, part in zip(p, direction, strict=True))
    return x, y, z


def march(width: int, height: int, steps: int, time: float) -> Floats:
    row, column = (axis.ravel() for axis in np.mgrid[:height, :width])
    u = (column.astype(F) + F(0.5)) / F(width) - F(0.5)
    v = (row.astype(F) + F(0.5)) / F(height) - F(0.5)
    one = np.ones_like(u)
    origin = one, F(1.5) * one, (F(6) + F(time)) * one
    direction = _normalized((u, -v - F(0.2), -one))
    t, material, going = np.zeros_like(u), np.zeros_like(u), np.ones(u.shape, bool)
    for _ in range(steps):
        distance, found = _train(_along(origin, direction, t))
        hit = going & (distance < F(0.02))
        material = np.where(hit, found.astype(F), material)
        t = np.where(going & ~hit, t + distance, t)
        going = going & ~hit & (t <= F(20))
    p = _along(origin, direction, t)
    color = _shaded(p, material)
    sky = np.array([0.4, 0.6, 0.9], F)
    return np.concatenate([np.where(material[:, None] > 0, color, sky), t[:, None]], axis=1).astype(F)


def _shaded(p: Vec, material: Floats) -> Floats:
    slopes = [
        _train(_moved(p, by))[0] - _train(_moved(p, (-by[0], -by[1], -by[2])))[0]
        for by in ((0.01, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.01))
    ]
    n = _normalized((slopes[0], slopes[1] + F(1e-6), slopes[2]))
    sun = _normalized((np.full_like(material, 0.5), np.ones_like(material), np.full_like(material, 0.6)))
    light, s = np.ones_like(material), np.full_like(material, 0.1)
    for _ in range(8):
        distance = _train(_along(p, sun, s))[0]
        light = np.minimum(light, F(8) * distance / s)
        s = s + np.clip(distance, F(0.05), F(0.5))
    lit = np.maximum(sum((one * other for one, other in zip(n, sun, strict=True)), np.zeros_like(material)), F(0))
    share = material / F(6)
    color = np.stack([share, np.full_like(share, 0.5), F(1) - share], axis=1)
    return color * (F(0.2) + F(0.8) * lit * np.maximum(light, F(0)))[:, None]


Inputs = Mapping[str, object]
