import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Indices = NDArray[np.intp]


def reflection(surroundings: NDArray[np.uint8], normals: NDArray[np.float32]) -> dict[str, Doubles]:
    sight, normal = np.array([0.36, 0.48, 0.8], np.float32).astype(float), normals[:, :3].astype(float)
    seen = sight - 2 * (normal @ sight)[:, None] * normal
    face, x, y = _on_face(seen, len(surroundings[0]))
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    across, down = x - left, y - top
    total = np.zeros((len(normals), 4))
    for i, j in ((0, 0), (1, 0), (0, 1), (1, 1)):
        weight = (across if i else 1 - across) * (down if j else 1 - down)
        total += weight[:, None] * _texels(surroundings / 255, face, left + i, top + j)
    return {"colours": total}


def _on_face(seen: Doubles, size: int) -> tuple[Indices, Doubles, Doubles]:
    """The face that a direction meets, and the place there in texels, where the centre of the first is at 0."""
    length = np.abs(seen)
    # Of equal components, z counts before y, and y before x.
    axis = 2 - np.argmax(length[:, ::-1], axis=1)
    major = np.take_along_axis(seen, axis[:, None], 1)[:, 0]
    face = 2 * axis + (major < 0)
    (x, y, z), zero = seen.T, np.zeros(len(seen))
    s = np.choose(face, [-z, z, x, x, x, -x])
    t = np.choose(face, [-y, -y, z, -z, -y, -y])
    divisor = np.maximum(np.abs(major), np.finfo(float).tiny)
    return face, *((0.5 * it / divisor + 0.5) * size - 0.5 + zero for it in (s, t))


def _texels(faces: Doubles, face: Indices, x: Indices, y: Indices) -> Doubles:
    """Texels that are at most one beyond an edge of their face. Beyond a corner is the mean of the three around it."""
    last = faces.shape[1] - 1
    is_corner = ((x < 0) | (x > last)) & ((y < 0) | (y > last))
    inside = _neighbours(faces, face, np.clip(x, 0, last), np.clip(y, 0, last))
    beside = _neighbours(faces, face, x, np.clip(y, 0, last)) + _neighbours(faces, face, np.clip(x, 0, last), y)
    return np.where(is_corner[:, None], (inside + beside) / 3, _neighbours(faces, face, x, y))


def _neighbours(faces: Doubles, face: Indices, x: Indices, y: Indices) -> Doubles:
    """The texels in the directions of these, also beyond an edge."""
    size = faces.shape[1]
    s, t = ((2 * it + 1) / size - 1 for it in (x, y))
    one = np.ones(len(face))
    seen = np.stack([
        np.choose(face, [one, -one, s, s, s, -s]),
        np.choose(face, [-t, -t, one, -one, -t, -t]),
        np.choose(face, [-s, s, t, -t, one, -one]),
    ], axis=1)  # fmt: skip
    other, column, row = _on_face(seen, size)
    return faces[other, *(np.clip(np.round(it).astype(int), 0, size - 1) for it in (row, column))]
