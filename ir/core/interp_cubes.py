"""The faces of cube textures (Vulkan, "Cube Map Face Selection" and "Cube Map Edge Handling").

Faces are numbered +x, -x, +y, -y, +z, -z. A direction is turned to a face's s and t, and r out of the face.
"""

from __future__ import annotations

from typing import TypeAlias

Triple: TypeAlias = tuple[float, float, float]


def face_of(direction: Triple) -> int:
    """The face that a direction meets: that of its largest component; of z before y before x if some are equal."""
    x, y, z = direction
    if abs(z) >= abs(x) and abs(z) >= abs(y):
        return 5 if z < 0 else 4
    if abs(y) >= abs(x):
        return 3 if y < 0 else 2
    return 1 if x < 0 else 0


def on_face(face: int, direction: Triple) -> Triple:
    """A direction along s, t and r of a face."""
    x, y, z = direction
    turned: tuple[Triple, ...] = ((-z, -y, x), (z, -y, -x), (x, z, y), (x, -z, -y), (x, -y, z), (-x, -y, -z))
    return turned[face]


def from_face(face: int, place: Triple) -> Triple:
    """The inverse of `on_face`."""
    s, t, r = place
    turned: tuple[Triple, ...] = ((r, -t, -s), (-r, -t, s), (s, r, t), (s, -r, -t), (s, -t, r), (-s, -t, -r))
    return turned[face]


def cube_texel(face: int, i: int, j: int, extent: int) -> tuple[int, int, int]:
    """The texel (x, y, face) at an index of a face that may be out of the face by one: past an edge it is the adjacent
    texel of the neighbour, past a corner the face's own.

    In units of half a texel from the centre of the cube, the face is at `extent`, and the neighbour's first row of
    texels is half a texel below the edge.
    """
    last = extent - 1
    if 0 <= i <= last and 0 <= j <= last:
        return i, j, face
    if is_corner(i, j, extent):
        return min(max(i, 0), last), min(max(j, 0), last), face
    s, t = (max(-extent, min(2 * it - last, extent)) for it in (i, j))
    direction = from_face(face, (s, t, last))
    other = face_of(direction)
    x, y, _ = on_face(other, direction)
    return (int(x) + last) // 2, (int(y) + last) // 2, other


def is_corner(i: int, j: int, extent: int) -> bool:
    """Whether an index is out of a face along both axes, where no texel is."""
    return not 0 <= i < extent and not 0 <= j < extent
