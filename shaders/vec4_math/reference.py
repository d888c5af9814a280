import numpy as np
from numpy.typing import NDArray


def vec4_math(x: NDArray[np.float32], exponent: NDArray[np.float32]) -> dict[str, NDArray[np.float64]]:
    exact = x.astype(np.float64)
    return {
        "exp_x": np.exp(exact),
        "sin_x": np.sin(exact),
        "sqrt_x": np.sqrt(np.abs(exact)),
        "pow_x": np.power(np.abs(exact) + 0.5, float(exponent)),
    }
