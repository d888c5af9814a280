import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray


def convolution(picture: NDArray[np.float32], weights: NDArray[np.float32]) -> dict[str, NDArray[np.float64]]:
    windows = sliding_window_view(picture.astype(np.float64), weights.shape)
    return {"filtered": np.einsum("yxij,ij->yx", windows, weights.astype(np.float64))}
