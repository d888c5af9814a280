import numpy as np
from numpy.typing import NDArray


def fft(signal: NDArray[np.float32]) -> dict[str, NDArray[np.float64]]:
    """Complex numbers are pairs of reals along the last axis."""
    spectrum = np.fft.fft(signal[..., 0] + 1j * signal[..., 1], axis=1)
    return {"spectrum": np.stack([spectrum.real, spectrum.imag], axis=-1)}
