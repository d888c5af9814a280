"""LLVM IR text to machine code in this process."""

from __future__ import annotations

import ctypes
import itertools
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast

from .target import Target, current_target

_Kernel = Callable[[int, int, int, int, int, int], None]
_ADDRESS, _NUMBER = ctypes.c_void_p, ctypes.c_int64
_SIGNATURE = ctypes.CFUNCTYPE(None, _ADDRESS, _ADDRESS, _NUMBER, _NUMBER, _ADDRESS, _ADDRESS)
_lock = threading.RLock()
"""LLVM's global state is used by one thread at a time; machine code runs outside of it."""
_numbers = itertools.count()


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
    """The external function `kernel` of a module, callable while this object lives. `optimised` is the module's IR."""

    optimised: str
    times: CompileTimes
    _address: int
    _owner: object = field(repr=False)

    def entry(self) -> _Kernel:
        """The function: (buffers, dynamic constants, begin, end, scratch, stop flag), addresses as integers."""
        return cast("_Kernel", _SIGNATURE(self._address))


@dataclass(frozen=True, slots=True)
class _Toolchain:
    """LLVM set up for this machine. llvmlite has no types, so what comes from it is Any in this module alone."""

    llvm: Any
    machine: Any
    linker: Any


def _toolchain() -> _Toolchain:
    return _toolchain_for(current_target())


@cache
def _toolchain_for(target: Target) -> _Toolchain:
    import llvmlite.binding as llvm  # pyright: ignore[reportMissingTypeStubs]

    binding: Any = llvm
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine(
        cpu=target.processor,
        features=target.features,
        opt=2,
        reloc="pic",
        codemodel="default",
        jit=True,
    )
    return _Toolchain(binding, machine, binding.create_lljit_compiler(machine, use_jit_link=True))


def compile_module(text: str, emit_seconds: float = 0.0) -> MachineCode:
    """Optimise the module and load its machine code. Its function `kernel` takes what `emit` says."""
    with _lock:
        tools = _toolchain()
        started = time.perf_counter()
        module = _parse(tools, text)
        parsed = time.perf_counter()
        _optimise(tools, module)
        optimised = time.perf_counter()
        library = _load(tools, tools.machine.emit_object(module))
        generated = time.perf_counter()
        times = CompileTimes(emit_seconds, parsed - started, optimised - parsed, generated - optimised)
        return MachineCode(str(module), times, library["kernel"], library)


def assembly(optimised: str) -> str:
    """The assembly text of optimised IR."""
    with _lock:
        tools = _toolchain()
        return str(tools.machine.emit_assembly(_parse(tools, optimised)))


def host() -> Sequence[str]:
    """The machine that code is made for: LLVM version, processor, triple."""
    tools = _toolchain()
    version = ".".join(map(str, tools.llvm.llvm_version_info))
    return version, current_target().processor, str(tools.machine.triple)


def _parse(tools: _Toolchain, text: str) -> Any:
    module = tools.llvm.parse_assembly(text, tools.llvm.create_context())
    module.triple = tools.machine.triple
    module.data_layout = str(tools.machine.target_data)
    module.verify()
    return module


def _optimise(tools: _Toolchain, module: Any) -> None:
    options = tools.llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = True
    options.slp_vectorization = True
    options.loop_interleaving = True
    options.loop_unrolling = True
    builder = tools.llvm.create_pass_builder(tools.machine, options)
    builder.getModulePassManager().run(module, builder)


def _load(tools: _Toolchain, code: bytes) -> Any:
    library = tools.llvm.JITLibraryBuilder()
    library.add_object_img(code)
    library.add_current_process()
    library.export_symbol("kernel")
    return library.link(tools.linker, f"kernel{next(_numbers)}")
