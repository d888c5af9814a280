import numpy as np
from numpy.typing import NDArray


def matmul(a: NDArray[np.float32], b: NDArray[np.float32]) -> dict[str, NDArray[np.float64]]:
    return {"c": a.astype(np.float64) @ b.astype(np.float64)}


def matmul_vec4(a: NDArray[np.float32], b: NDArray[np.float32]) -> dict[str, NDArray[np.float64]]:
    """Rows are given as vectors of four."""
    product = a.reshape(len(a), -1).astype(np.float64) @ b.reshape(len(b), -1).astype(np.float64)
    return {"c": product.reshape(len(a), -1, 4)}


def matmul_bytes(a: NDArray[np.uint32], b: NDArray[np.uint32]) -> dict[str, NDArray[np.int32]]:
    left = a.view(np.int8).reshape(len(a), -1).astype(np.int32)
    right = b.view(np.int8).reshape(*b.shape, 4).transpose(0, 2, 1).reshape(-1, b.shape[1]).astype(np.int32)
    return {"c": left @ right}
