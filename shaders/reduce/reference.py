import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
INTERLEAVED_BLOCK = 256
RING = 128
STRIDED_BLOCK = 256


def reduce(values: Floats, width: int) -> dict[str, Doubles]:
    return {"partial_sums": _block_sums(values, 2 * width)}


def halving(values: Floats, block: int) -> dict[str, Doubles]:
    return {"block_sums": _block_sums(values, block)}


def interleaved(values: NDArray[np.uint32]) -> dict[str, NDArray[np.uint32]]:
    starts = np.arange(0, len(values), INTERLEAVED_BLOCK)
    return {"block_sums": np.add.reduceat(values, starts, dtype=np.uint32)}


def ring(values: Floats) -> dict[str, Floats | Doubles]:
    starts = np.arange(0, len(values), RING)
    least, greatest = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    block = np.arange(len(values)) // RING
    low, extent = least[block].astype(np.float64), (greatest.astype(np.float64) - least)[block]
    scaled = np.divide(values - low, extent, out=np.zeros(len(values)), where=extent > 0)
    return {"extremes": np.column_stack([least, greatest]), "scaled": scaled}


def strided(x: Floats, y: Floats, groups: int) -> dict[str, Doubles]:
    products = x.astype(np.float64) * y
    block_sums = np.add.reduceat(products, np.arange(0, len(x), STRIDED_BLOCK))
    owners = np.arange(len(block_sums)) % groups
    return {"partial_products": np.bincount(owners, block_sums, minlength=groups)}


def _block_sums(values: Floats, block: int) -> Doubles:
    return np.add.reduceat(values, np.arange(0, len(values), block), dtype=np.float64)
