"""Kernels and graphs over Dask arrays: block by block, with halos for stencils, and folds of blocks; streams over a
cluster. Needs `tinct[dask]`.

Dask decides where and when a block runs; a kernel goes to a worker as text and is compiled there once.
"""

from .arrays import DaskArray
from .fold import fold_blocks
from .grid import Block
from .map import map_blocks
from .stream import stream

__all__ = ["Block", "DaskArray", "fold_blocks", "map_blocks", "stream"]
