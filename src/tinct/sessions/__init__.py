"""Sessions: buffers that stay on a device from one dispatch to the next.

    with tinct.Session() as session:
        state = session.buffer(array)
        session.run(kernel, {"state": state}, threads=n)
        state.numpy()

`session` has the interface, `buffer` what a user holds. `memory` says where the newest bytes are and copies them;
`forms` what bytes are as arrays, and which bindings they fit; `resolving` turns the values of a dispatch into ranges of
memories (`arguments`). `launches` and `gpu_launch` are dispatches that are prepared once, `gpu_side` is a GPU's process
as a session sees it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..base.lazy_names import lazy_names

if TYPE_CHECKING:
    from .buffer import Buffer
    from .copies import Copies, Copy
    from .session import Session

__all__ = ["Buffer", "Copies", "Copy", "Session"]

__getattr__ = lazy_names(__name__, {"Buffer": "buffer", "Copies": "copies", "Copy": "copies", "Session": "session"})
