"""The framing of messages between the parent and the GPU's process."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

import pytest

from tinct.backend.gpu import shared_bytes
from tinct.backend.gpu.messages import ValidateRequest, receive_reply, receive_request, send
from tinct.backend.gpu.shared_bytes import Blob, SharedBytes

NOTHING_SHARED = SharedBytes(None)
has_shared_files = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has files without names in memory")


def pair() -> tuple[SharedBytes, SharedBytes]:
    """The same memory, as the writer and as the reader have it."""
    writer = SharedBytes.new()
    assert writer.file is not None
    return writer, SharedBytes(os.dup(writer.file))


def passed_on(blobs: Sequence[Blob], writer: SharedBytes, reader: SharedBytes) -> tuple[int, list[bytearray]]:
    """How many bytes go through the pipe, and what comes back."""
    stream = io.BytesIO()
    send(stream, writer, {"status": "valid"}, blobs)
    _, found = receive_reply(io.BufferedReader(io.BytesIO(stream.getvalue())), reader)
    return len(stream.getvalue()), found


def test_a_frame_comes_back_with_its_blobs() -> None:
    stream = io.BytesIO()
    asked: ValidateRequest = {"operation": "validate", "seconds": 1.5, "wgsl": "fn f() {} // ü"}
    send(stream, NOTHING_SHARED, asked, [b"abc", b"", bytes(70_000)])
    send(stream, NOTHING_SHARED, {"operation": "probe", "seconds": 2.0})
    reader = io.BufferedReader(io.BytesIO(stream.getvalue()))
    request, blobs = receive_request(reader, NOTHING_SHARED)
    assert request["operation"] == "validate"
    assert request["wgsl"] == "fn f() {} // ü"
    assert blobs == [b"abc", b"", bytes(70_000)]
    assert receive_request(reader, NOTHING_SHARED)[0]["operation"] == "probe"


@pytest.mark.parametrize("kept", [0, 2, 10, -1])
def test_a_frame_cut_short_is_the_end(kept: int) -> None:
    stream = io.BytesIO()
    send(stream, NOTHING_SHARED, {"status": "valid"}, [b"abc"])
    with pytest.raises(EOFError):
        receive_reply(io.BufferedReader(io.BytesIO(stream.getvalue()[:kept])), NOTHING_SHARED)


@has_shared_files
def test_large_blobs_go_by_shared_memory() -> None:
    writer, reader = pair()
    blobs = [b"abc", os.urandom(70_001), b"", memoryview(bytearray(os.urandom(1 << 16))), os.urandom((1 << 16) - 1)]
    size, found = passed_on(blobs, writer, reader)
    assert found == blobs
    assert len(blobs[-1]) < size < len(blobs[-1]) + 200
    for count in (100_000, 1_000_000, 70_000):  # the file grows, and what was put before is overwritten
        blob = os.urandom(count)
        size, found = passed_on([blob], writer, reader)
        assert found == [blob]
        assert size < 200


@has_shared_files
def test_what_is_not_kept_is_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_bytes, "_KEPT", 100_000)
    writer, reader = pair()
    assert writer.file is not None
    for count in (90_000, 500_000, 99_000, 500_000):
        blob = os.urandom(count)
        assert passed_on([blob], writer, reader)[1] == [blob]
        writer.free()
        assert os.fstat(writer.file).st_size <= 100_000


@has_shared_files
def test_blobs_go_through_the_pipe_where_there_is_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(file: int, size: int) -> None:
        raise OSError(f"no room for {size} bytes")

    writer, reader = pair()
    monkeypatch.setattr(os, "ftruncate", fails)
    blobs = [os.urandom(70_000), b"abc"]
    size, found = passed_on(blobs, writer, reader)
    assert found == blobs
    assert size > 70_000
