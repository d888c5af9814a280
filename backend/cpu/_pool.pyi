"""What is written in C: worker threads (see `tinct.backend.cpu.threads`), and memory for machine code."""

def processor_identity() -> bytes:
    """What tells the processor from others with another model, or other instructions; empty if it does not tell."""

class Code:
    """An image of machine code (see `tinct.backend.cpu.code_image`) in memory, until the object is dropped.

    No memory is writable and executable at the same time.
    """

    def __new__(cls, content: bytes, executable: int, slots: tuple[tuple[int, str], ...], /) -> Code:
        """The first `executable` bytes are code, all others constants, and slots for the addresses of functions of this
        process: (offset, name).

        Raises ValueError for an image that makes no sense and for a function that is not there, OSError where the
        system gives no such memory.
        """

    @property
    def address(self) -> int:
        """Where the image begins, at the start of a page."""

class Stop:
    """Stops the run that it is given to, once."""

    def raise_(self) -> None:
        """Stop the run now, whatever its machine code is doing; before the run, so that it does nothing."""

    @property
    def is_raised(self) -> bool:
        """Whether `raise_` was called."""

class Pool:
    """Workers, of which the caller of `run` is the first; the others begin when they are first of use.

    Any number of threads may call it at once: each takes part in its own run, and the other workers do parts of all
    runs in turn, as long as there are no more workers than the pool has, callers included.
    """

    def __new__(cls, workers: int, worth_waking: float = 1e-4, lingering: float = 0.0, /) -> Pool:
        """A pool that wakes a sleeping worker for at least so many seconds of work. A thread that waits lingers so many
        seconds before it sleeps.
        """

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
        stop: Stop | None,
        each: float,
        pace: bytearray | None = None,
        /,
    ) -> float:
        """Do all threads `[0, count)` of a dispatch in parts, and return the seconds that one of them seems to take.

        `entry` is the address of a C function `(bindings, numbers, begin, end, scratch, is_shared)`: the `bindings` are
        addresses and the `numbers` are dynamic constants, as packed 64-bit words; `scratch` is the address of as many
        bytes, aligned by 64, of the worker's own; it `is_shared` if other workers may do other threads meanwhile. Where
        a run may be stopped, by `stop` or an interrupt, the function may be left at any instruction: it must not take
        locks, nor allocate. `privates` are bindings of which every worker but the first gets a copy: (index, how copies
        are combined, bytes), combined as `add`, `and`, `or`, `xor`, `smin`, `smax`, `umin` or `umax`. `each` is what a
        run like this one returned, else 0. `pace` is given for functions that take less time if they are not shared:
        two numbers of 64 bits that runs keep, at first 0. One worker does such a run alone where that is quicker.

        What a signal handler raises is raised here, once all workers have ended; an interrupt that raises
        KeyboardInterrupt stops the run. Raises MemoryError, and ValueError for privates that make no sense.
        """

    def run_sequence(
        self,
        steps: bytearray,
        numbers: bytearray,
        memories: bytearray,
        places: bytes,
        extents: bytes,
        terms: bytes,
        swaps: bytes,
        until: bytes,
        privates: tuple[tuple[int, str, int], ...],
        executions: int,
        is_timed: bool,
        stop: Stop | None,
        /,
    ) -> tuple[int, bool, int, tuple[int, int, int]]:
        """Execute steps in order, any number of times. The tables are packed as `pool/sequence.h` says.

        The addresses in `memories` are those of the last execution then, and the estimates and seconds in `steps` are
        brought up to date. Returns how many whole executions there were, whether `until` ended them, and the number of
        the step whose grid was too large, -1 if there was none, with its extents. Raises what `run` raises.
        """
