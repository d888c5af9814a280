"""Devices on the command line: the type of `--device`, and what the help says of adapters."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Final

import click

from ..devices import DEVICES, EMULATED, adapter_named
from ..functions import DEVICES as FUNCTION_DEVICES
from ..ir.hints import unknown_name

ADAPTER_HELP: Final = """\
\b
gpu:ADAPTER is a certain GPU: gpu:vulkan (metal, d3d12, opengl) names a backend, gpu:radeon a part of an adapter's name.
gpu takes the fastest. OpenGL lacks parts of WebGPU: it is used only as gpu:opengl, with a warning."""
EMULATED_HELP: Final = """\
\b
cpu:aarch64 is the code for 64-bit Arm processors, run by qemu-aarch64: slow, to test that code on another machine."""
REFERENCE: Final = "reference"
KERNEL_DEVICE: Final = f"[{'|'.join([*DEVICES, 'gpu:ADAPTER', *EMULATED])}]"
DEVICE: Final = f"[{'|'.join([*DEVICES, 'gpu:ADAPTER'])}]"
FUNCTION_DEVICE: Final = f"[{'|'.join([*FUNCTION_DEVICES, 'gpu:ADAPTER'])}]"
DEVICE_OR_REFERENCE: Final = f"[{REFERENCE}|{DEVICE[1:]}"


def device_name(text: str) -> str:
    """A name that can be a device's; whether such an adapter is there is found out when it is needed."""
    return _checked(text, DEVICES)


def kernel_device_name(text: str) -> str:
    """The same, or the name of a processor in an emulator."""
    return text if text in EMULATED else device_name(text)


def device_of_node(text: str) -> tuple[str, str]:
    """NODE=DEVICE: the name of a node, or its path, and a name that can be a device's."""
    node, _, device = text.rpartition("=")
    if not node:
        raise click.BadParameter(f"{text!r} is not NODE=DEVICE, such as blur=gpu")
    return node, device_name(device)


def device_or_auto(text: str) -> str:
    """A name that can be a device's, or `auto`."""
    return text if text == "auto" else _checked(text, ["auto", *DEVICES])


def device_or_reference(text: str) -> str:
    """The same, or the word for a case's numpy reference."""
    return text if text == REFERENCE else _checked(text, [REFERENCE, *DEVICES])


def function_device_name(text: str) -> str:
    """A name that can be that of a device for functions of Hercules IR."""
    return _checked(text, FUNCTION_DEVICES, FUNCTION_DEVICES)


def _checked(text: str, known: Iterable[str], devices: Container[str] = tuple(DEVICES)) -> str:
    if text not in devices and adapter_named(text) is None:
        raise click.BadParameter(unknown_name(f"no device is named {text!r}", text, known))
    return text
