import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]
BLOCKED_BINS = 128


def histogram(words: Words, counts: Words) -> dict[str, Words]:
    return {"counts": counts + _counts(words.view(np.uint8), 256)}


def top_bytes(keys: Words, counts: Words) -> dict[str, Words]:
    return {"counts": counts + _counts(keys >> 24, 256)}


def text_bytes(length: int, text: Words, frequencies: Words) -> dict[str, Words]:
    return {"frequencies": frequencies + _counts(text.view(np.uint8)[:length], 256)}


def blocked(samples: NDArray[np.float32], histogram: Words) -> dict[str, Words]:
    bins = np.clip(samples * BLOCKED_BINS, 0, BLOCKED_BINS - 1).astype(np.uint32)
    return {"histogram": histogram + _counts(bins, BLOCKED_BINS)}


def rgb(pixels: Words, counts: Words) -> dict[str, Words]:
    return {"counts": counts + np.concatenate([_counts(pixels.ravel() >> it & 255, 256) for it in (0, 8, 16)])}


def _counts(bins: NDArray[np.uint8] | Words, size: int) -> Words:
    return np.bincount(bins, minlength=size).astype(np.uint32)
