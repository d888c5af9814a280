"""LLVM IR text to machine code, made in this process or, for large modules, in another and loaded here."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from typing import Any

from ...base.deadline import check_compile_time, compile_time_error, compile_time_left
from ...base.errors import DeviceError, InputError
from ...base.in_time import Background
from ...base.records import dataclass, field
from . import _pool, llvm_process
from .code_image import CodeImage, packed, unpacked
from .disk_cache import DiskCache, default_cache, digest
from .host import Host, llvm_host
from .passes import LEVEL, Passes, optimise
from .target import Target, compiling_for, current_target, target_name

_lock = threading.RLock()
"""LLVM's global state is used by one thread at a time; machine code runs outside of it."""
_numbers = itertools.count()
_VERSION = "4"
"""To be changed when modules are compiled in another way, apart from what is in their text."""
_CODE_LEVEL = 1
_OPTIONS = ("-grow-region-complexity-budget=1000", "-enable-phi-of-ops=false")
"""Options of LLVM in the process, which hold for others, such as Numba, as well.

How many edges between blocks the register allocator looks at to split one value's range. By default it looks at 10,000,
for each value again, which in functions of some thousand blocks takes up to three times as long as the rest of the code
generator. No kernel of `shaders/` has other code by it.

NewGVN moves no operations into phis: then it takes values of other iterations for those of this one, and code is wrong
(LLVM issue 53277 is one such case; GPUOpen-Drivers/llpc, which uses the pass too, leaves it out since its change 1204).
"""
_UNROLLED = ", !llvm.loop !"
"""Occurs in the text of a module that asks LLVM to unroll a loop."""


@dataclass(frozen=True, slots=True)
class CompileTimes:
    """Seconds for each stage of a compilation."""

    emit: float
    parse: float
    optimise: float
    generate: float

    @property
    def total(self) -> float:
        """All stages."""
        return self.emit + self.parse + self.optimise + self.generate


@dataclass(slots=True)
class MachineCode:
    """The external function `kernel` of a module, at an address, callable while this object lives. `name` is its
    name in the cache on disk, `is_cached` whether it came from there.
    """

    name: str
    is_cached: bool
    times: CompileTimes
    address: int
    _owner: object = field(repr=False)

    @property
    def seconds_by_stage(self) -> Mapping[str, float]:
        """As `tinct compile --timings` names the stages."""
        last = "load from the cache" if self.is_cached else "machine code"
        emit = self.times.emit + self.times.parse
        return {"emit LLVM IR": emit, "LLVM passes": self.times.optimise, last: self.times.generate}


@dataclass(frozen=True, slots=True)
class _Toolchain:
    """LLVM set up for this machine. llvmlite has no types, so what comes from it is Any, here and in `passes`."""

    llvm: Any
    machine: Any
    linker: Any
    """For what is no image; None for the code of another machine."""


_held_by_fork: list[Any] = [_lock]
"""The locks that a fork of the process waits for, in this order. Otherwise the child could find LLVM in the middle of
its work, and no thread to release the locks. Dropping a module also takes llvmlite's own lock.
"""


def _before_fork() -> None:
    for lock in _held_by_fork:
        lock.__enter__()


def _after_fork() -> None:
    for lock in reversed(_held_by_fork):
        lock.__exit__(None, None, None)


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


def _toolchain() -> _Toolchain:
    return _toolchain_for(current_target())


@cache
def _toolchain_for(target: Target) -> _Toolchain:
    import llvmlite.binding as llvm  # pyright: ignore[reportMissingTypeStubs]

    binding: Any = llvm
    _held_by_fork[1:] = [binding.ffi.lib._lock]
    for option in _OPTIONS:
        binding.set_option("tinct", option)
    if target.triple:
        binding.initialize_all_targets()
        binding.initialize_all_asmprinters()
    else:
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
    triple = target.triple or binding.get_default_triple()
    machine = binding.Target.from_triple(triple).create_target_machine(
        cpu=target.processor,
        features=target.features,
        opt=_CODE_LEVEL,
        reloc="pic",
        codemodel="default",
        jit=not target.triple,
    )
    linker = None if target.triple else binding.create_lljit_compiler(machine, use_jit_link=True)
    return _Toolchain(binding, machine, linker)


@contextmanager
def _llvm_held() -> Generator[None]:
    """No other thread uses LLVM in the body. Raises DeviceError if this thread may not wait so long for one."""
    left = compile_time_left()
    if not _lock.acquire(timeout=-1 if left is None else left):
        raise compile_time_error("LLVM's work for another kernel")
    try:
        yield
    finally:
        _lock.release()


def compile_module(text: str, passes: Passes = "scalar", emit_seconds: float = 0.0) -> MachineCode:
    """Optimise the module and load its machine code. Its function `kernel` takes what `emit` says.

    What the cache on disk has is only loaded. Raises DeviceError when the time for compiling has expired, which is
    checked before LLVM begins, and while it works on a large module.
    """
    files, name = default_cache(), digest(identity(), passes, text)
    cached = None if files is None else _cached(files, name, emit_seconds)
    if cached is not None:
        return cached
    code, seconds = _object_file(text, passes)
    from .images import image_of

    started = time.perf_counter()
    loadable = image_of(code) or code
    address, owner = _load(loadable)
    parsing, optimising, generating = seconds
    generating += time.perf_counter() - started
    if files is not None:
        files.put(name, packed(loadable))
    times = CompileTimes(emit_seconds, parsing, optimising, generating)
    return MachineCode(name, False, times, address, owner)


def object_file(text: str, passes: Passes) -> bytes:
    """The module's object file for the current target, which may be another machine. Raises DeviceError when the time
    for compiling has expired.
    """
    return _object_file(text, passes)[0]


def _object_file(text: str, passes: Passes) -> tuple[bytes, list[float]]:
    """The object file, and the seconds for parsing, passes and machine code."""
    check_compile_time()
    if llvm_process.is_long(text, passes):
        return llvm_process.object_file(text, passes)
    if compile_time_left() is None:
        return make_object(text, passes)
    return Background(partial(_object_for, target_name(), text, passes), "LLVM's work", in_c=True).result()


def _object_for(target: str, text: str, passes: Passes) -> tuple[bytes, list[float]]:
    """`make_object` in another thread, which does not know the target of the one that asks."""
    with compiling_for(target):
        return make_object(text, passes)


def make_object(text: str, passes: Passes) -> tuple[bytes, list[float]]:
    """The module's object file, and the seconds for parsing, passes and machine code."""
    with _llvm_held(), ExitStack() as owned:
        tools = _toolchain()
        times = [time.perf_counter()]
        module = _parse(tools, text, owned)
        times.append(time.perf_counter())
        _optimise(tools, module, text, passes)
        module = _finished(tools, module, owned)
        times.append(time.perf_counter())
        code: bytes = tools.machine.emit_object(module)
        times.append(time.perf_counter())
    return code, [end - start for start, end in itertools.pairwise(times)]


def start() -> None:
    """Load LLVM and set it up for the current target, which compiling otherwise does."""
    with _lock:
        _toolchain()


def identity() -> str:
    """A text that differs if LLVM would make other machine code from the same module, such as on another machine."""
    return _identity(current_target(), llvm_host())


@cache
def _identity(target: Target, host: Host) -> str:
    levels = f"passes {LEVEL}, code {_CODE_LEVEL}, {' '.join(_OPTIONS)}"
    return "\n".join((_VERSION, *host.versions, levels, target.triple or host.triple, repr(target)))


def restore(name: str) -> MachineCode | None:
    """The machine code that the cache on disk has under a name."""
    files = default_cache()
    return None if files is None else _cached(files, name, 0.0)


def _cached(files: DiskCache, name: str, emit_seconds: float) -> MachineCode | None:
    """The machine code that the cache has under a name; None also for an image that does not fit this process."""
    started = time.perf_counter()
    data = files.get(name)
    if data is None:
        return None
    try:
        address, owner = _load(unpacked(data))
    except ValueError:
        return None
    times = CompileTimes(emit_seconds, 0.0, 0.0, time.perf_counter() - started)
    return MachineCode(name, True, times, address, owner)


def optimised_text(text: str, passes: Passes) -> str:
    """The module after LLVM's passes."""
    with _llvm_held(), ExitStack() as owned:
        tools = _toolchain()
        module = _parse(tools, text, owned)
        _optimise(tools, module, text, passes)
        return str(module)


def assembly(text: str, passes: Passes) -> str:
    """The assembly text of a module."""
    with _llvm_held(), ExitStack() as owned:
        tools = _toolchain()
        module = _parse(tools, text, owned)
        _optimise(tools, module, text, passes)
        return str(tools.machine.emit_assembly(_finished(tools, module, owned)))


def host() -> Sequence[str]:
    """The machine that code is made for: LLVM version, processor, triple."""
    target, found = current_target(), llvm_host()
    return ".".join(found.versions[1:]), target.processor, target.triple or found.triple


def _parse(tools: _Toolchain, text: str, owned: ExitStack) -> Any:
    """A module, which is dropped with all else that is `owned`.

    Its `__del__` would drop it, too. But LLVM takes milliseconds for a large one, and an interrupt that came meanwhile
    would be lost, since Python ignores exceptions in `__del__`.
    """
    context = owned.enter_context(tools.llvm.create_context())
    module = owned.enter_context(tools.llvm.parse_assembly(text, context))
    module.triple = tools.machine.triple
    module.data_layout = str(tools.machine.target_data)
    module.verify()
    return module


def _optimise(tools: _Toolchain, module: Any, text: str, passes: Passes) -> None:
    optimise(tools.llvm, tools.machine, module, passes, has_unrolled_loops=_UNROLLED in text)


def _finished(tools: _Toolchain, module: Any, owned: ExitStack) -> Any:
    """An optimised module as the code generator takes it, perhaps another one in its place."""
    if current_target().has_avx512 or not current_target().has_avx2:
        return module
    from .wide_masks import with_wide_masks

    text = str(module)
    changed = with_wide_masks(text)
    if changed is text:
        return module
    owned.close()
    return _parse(tools, changed, owned)


def _load(code: CodeImage | bytes) -> tuple[int, object]:
    """The address of the function `kernel`, and the object that keeps it there. `code` is an object file if no image
    could be made of it. Raises ValueError for an image that does not fit this process, and DeviceError.
    """
    triple = current_target().triple
    if triple:
        raise InputError(f"code for {triple} does not run in this process: run it in an emulator")
    if isinstance(code, bytes):
        return _linked(code)
    try:
        owner = _pool.Code(code.content, code.executable, code.slots)
    except OSError as error:
        raise DeviceError(f"the system gives no memory for machine code: {error.strerror}") from error
    return owner.address + code.entry, owner


def _linked(code: bytes) -> tuple[int, object]:
    """The same for an object file, which LLVM links."""
    with _llvm_held():
        tools = _toolchain()
        library = tools.llvm.JITLibraryBuilder()
        library.add_object_img(code)
        library.add_current_process()
        library.export_symbol("kernel")
        linked = library.link(tools.linker, f"kernel{next(_numbers)}")
        return linked["kernel"], linked
