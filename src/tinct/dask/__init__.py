"""Kernels over Dask arrays: block by block, with halos for stencils, and folds of blocks. Needs `tinct[dask]`.

Dask decides where and when a block runs; a kernel goes to a worker as text and is compiled there once.
"""

from .arrays import DaskArray
from .blocks import Block
from .fold import fold_blocks
from .map import map_blocks

__all__ = ["Block", "DaskArray", "fold_blocks", "map_blocks"]
