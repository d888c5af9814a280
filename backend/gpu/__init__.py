"""The `gpu` device: final WGSL text run through wgpu, in a process of its own.

naga, the WGSL compiler inside wgpu, may abort the process or hang on some valid programs. So nothing here imports wgpu
in the caller's process:

    parent   GpuDevice (device.py) ── WorkerProcess (process.py)
                                           ║ pipes, framed by messages.py
    child    Worker (worker.py) ── Executor (executor.py) ── wgpu (webgpu.py)

The child starts with the first call and lives on. Its crash, or a call that outlasts its time limit, is a `GpuError`
that names the signal and naga's last words; the next call starts a new child.

A request is one dispatch, or a program (program_model.py, program_checks.py, program_messages.py; in the child
program_run.py): several dispatches on buffers that stay on the device until the program ends. In a session they stay
until they are freed: a GpuQueue (queue.py) records commands and sends them together (resident_messages.py; in the child
resident_memory.py). Steps that are executed many times are sent once, and then replayed by one message
(queued_steps.py). Programs and sessions are encoded by the same recorder (recorder.py), which keeps the threads of a
software driver on one processor while dispatches are small (driver_threads.py).
"""

from .binding_headers import FILTERABLE
from .device import DEFAULT_SECONDS, GpuDevice, shared_device
from .faults import FaultKind, faults_of
from .model import (
    AdapterInfo,
    Binding,
    BufferBinding,
    BufferKind,
    GpuError,
    GpuErrorKind,
    GpuResult,
    SamplerBinding,
    TextureBinding,
)
from .program_model import (
    BoundBuffer,
    BranchStep,
    ClearStep,
    CopyStep,
    DispatchStep,
    GpuProgram,
    LoopStep,
    ProgramBuffer,
    ProgramKernel,
    ProgramResult,
    ProgramStep,
    RepeatStep,
)
from .queue import GpuQueue, Part, Prepared
from .queued_steps import BoundDispatch, ClearRange, CopyRange, IndirectDispatch, QueuedStep
from .resident import Resident

__all__ = [
    "DEFAULT_SECONDS",
    "FILTERABLE",
    "AdapterInfo",
    "Binding",
    "BoundBuffer",
    "BoundDispatch",
    "BranchStep",
    "BufferBinding",
    "BufferKind",
    "ClearRange",
    "ClearStep",
    "CopyRange",
    "CopyStep",
    "DispatchStep",
    "FaultKind",
    "GpuDevice",
    "GpuError",
    "GpuErrorKind",
    "GpuProgram",
    "GpuQueue",
    "GpuResult",
    "IndirectDispatch",
    "LoopStep",
    "Part",
    "Prepared",
    "ProgramBuffer",
    "ProgramKernel",
    "ProgramResult",
    "ProgramStep",
    "QueuedStep",
    "RepeatStep",
    "Resident",
    "SamplerBinding",
    "TextureBinding",
    "faults_of",
    "shared_device",
]
