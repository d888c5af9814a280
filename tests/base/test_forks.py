"""A fork while another thread imports a module: the child can import it too."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

importlib.import_module("tinct.base")  # from here on, forks wait

SLOW = """
import time
time.sleep(0.3)
answer = 42
"""


def test_the_child_imports_what_another_thread_was_importing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_to_import.py").write_text(SLOW)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    thread = threading.Thread(target=importlib.import_module, args=("slow_to_import",))
    thread.start()
    while "slow_to_import" not in sys.modules:
        time.sleep(0.001)
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        os._exit(importlib.import_module("slow_to_import").answer)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
    thread.join()


def test_imports_go_on_after_a_fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    thread = threading.Thread(target=importlib.import_module, args=("xml.dom.minidom",), daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
