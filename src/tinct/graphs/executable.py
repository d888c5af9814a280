"""What graphs do when they are whole: `Graph`, which is being built, does it by its program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from ..kernel import BufferValue
from .devices import NodeChoice, Where
from .launch import Launch
from .plan import Plan
from .repeating import Asked
from .running import GraphRun
from .streaming import Streamable

if TYPE_CHECKING:
    from .fusing import FusedProgram


class Executable(Streamable):
    """A graph that can be executed."""

    def run(
        self,
        inputs: Mapping[str, BufferValue],
        *,
        device: str = "cpu",
        devices: NodeChoice = None,
        timeout: float | None = None,
        repeat: int | None = None,
        until: str | None = None,
        every: int | None = None,
        feed: Mapping[str, str] | None = None,
    ) -> dict[str, npt.NDArray[Any]]:
        """Execute the graph and return its outputs by name: new arrays; those given stay as they are.

        `inputs` has a value for each of `inputs`, in the forms that `Kernel.run` takes. The nodes run one after
        another, each when its inputs are there, on `device` or on their own of `devices`: by the name of the node, or
        its path, as in `{"blur": "gpu", "sort.scan": "cpu"}`. The device of a node that executes a graph is that of
        all nodes in it that have none. With `devices="auto"` they are those of `choose_devices`. `timeout` is for the
        whole run, compiling included.

        `repeat` is a number of executions. After each, outputs become inputs of the next one: each output that has the
        name and type of an input, or as `feed` says, by names of outputs, as in `{"next": "state"}`. All other inputs
        stay. `until` names an output that is one whole number: the first execution after which it is not zero is the
        last one, and `repeat` the most executions. On a GPU it is looked at after `every` executions; the result is
        that of the exact execution all the same. With `repeat=0`, only the outputs that become inputs are returned, as
        they were given.

        Raises InputError for inputs, extents and names that do not fit, with the name of the node, and for a graph
        without an output that can become an input, ShaderError for what a device cannot compile, DeviceError when a
        device fails or the time is over.
        """
        asked = Asked(repeat, until, every, feed)
        return self.program.execute(inputs, Where(device, devices, timeout), asked, is_timed=False).outputs

    def run_timed(
        self,
        inputs: Mapping[str, BufferValue],
        *,
        device: str = "cpu",
        devices: NodeChoice = None,
        timeout: float | None = None,
        repeat: int | None = None,
        until: str | None = None,
        every: int | None = None,
        feed: Mapping[str, str] | None = None,
    ) -> GraphRun:
        """`run` with the seconds that the nodes took, each of which is waited for, the copies, and the number of
        executions.
        """
        asked = Asked(repeat, until, every, feed)
        return self.program.execute(inputs, Where(device, devices, timeout), asked, is_timed=True)

    def launch(
        self,
        inputs: Mapping[str, BufferValue],
        *,
        device: str = "cpu",
        devices: NodeChoice = None,
        timeout: float | None = None,
        repeat: int | None = None,
        until: str | None = None,
        every: int | None = None,
        feed: Mapping[str, str] | None = None,
    ) -> Launch:
        """Begin what `run` does, in the background; `wait` returns the outputs. Several launches share the machine.

        Options and names are checked now; other errors are raised by `wait`. The arrays that are given must not be
        changed before the run has ended.
        """
        return self.program.begin(inputs, Where(device, devices, timeout), Asked(repeat, until, every, feed))

    def plan(
        self,
        inputs: Mapping[str, BufferValue],
        *,
        device: str = "cpu",
        devices: NodeChoice = None,
        feed: Mapping[str, str] | None = None,
    ) -> Plan:
        """The plan that `run` follows for inputs of these sizes: steps, and the memory that they need. With `feed`,
        that of a repetition.

        Raises InputError as `run` does, and for what no plan can hold.
        """
        return self.program.planned(inputs, Where(device, devices, None), feed)

    def choose_devices(self, inputs: Mapping[str, BufferValue], *, timeout: float | None = None) -> dict[str, str]:
        """The fastest devices for the leaves, by their paths: of the CPU and the GPU, where one answers.

        The graph is run some times to find them, Python functions included. What was found is kept, on disk as well
        (see `tinct cache`), for inputs of the same magnitude on this machine, so that a later run has the same devices,
        and gives the same bits. Given as `devices=`, it pins them on any machine. Nothing is kept of what takes longer
        than `timeout`, which is for all of these runs.

        Raises what `run` raises, if no device can run the graph.
        """
        return self.program.chosen(inputs, timeout)

    def fused(self) -> FusedProgram:
        """The graph with its leaves fused along one-to-one edges, where that is proved to change nothing.

        `remarks` say what was fused, and what not and why. A run whose sizes do not keep what the proof needs executes
        this graph instead. Nodes of inner graphs without instances have names as `outer_inner` then, and a fused node
        has the names of its parts. Raises ShaderError for a kernel that the CPU cannot compile.
        """
        from .fusing import FusedProgram

        return FusedProgram(self.program)

    def close(self) -> None:
        """Free the memory that is kept for the next run. The graph can still be run."""
        self.program.runner.close()
