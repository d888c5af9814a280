"""Worker threads in C; see `tinct.backend.cpu.threads`."""

class Pool:
    """Workers, of which the caller of `run` is the first; the others begin when they are first of use. One run is done
    at a time, other callers wait.
    """

    def __new__(cls, workers: int, /) -> Pool: ...
    @property
    def workers(self) -> int:
        """How many they are at most."""

    def run(
        self,
        entry: int,
        bindings: bytes,
        numbers: bytes,
        count: int,
        scratch: int,
        privates: tuple[tuple[int, str, int], ...],
        stop: int,
        each: float,
        /,
    ) -> float:
        """Do all threads `[0, count)` of a dispatch in parts, and return the seconds that one of them seems to take.

        `entry` is the address of a C function `(bindings, numbers, begin, end, scratch, stop)`: the `bindings` are
        addresses and the `numbers` are dynamic constants, as packed 64-bit words; `scratch` is the address of as many
        bytes, aligned by 64, of the worker's own; `stop` that of a 32-bit word that is not 0 once the run is to end, of
        which 0 stands for a new one. `privates` are bindings of which every worker but the first gets a copy: (index,
        how copies are combined, bytes), combined as `add`, `and`, `or`, `xor`, `smin`, `smax`, `umin` or `umax`.
        `each` is what a run like this one returned, else 0.

        What a signal handler raises is raised here, once all workers have ended. Raises MemoryError, and ValueError for
        privates that make no sense.
        """
