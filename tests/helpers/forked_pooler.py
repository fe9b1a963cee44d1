"""A `pooler` for shell scripts of tests that starts at once: a fork of a process that has imported it.

Half of the time of a page's commands is the interpreter's start and the same imports, again and again. All
else is a process's own, as ever: arguments, streams, environment, folder, exit code, and it dies with who
asked for it. What is tested for its start, or killed, is started as users start it.
"""

from __future__ import annotations

import array
import atexit
import gc
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import F_SETFL, F_SETOWN, F_SETSIG, fcntl
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import judge_ui
import pooler.cli.main
import store
from tests.readme_blocks import ROOT

_CLIENT = """#!{python} -IS
import array, json, os, signal, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
asked = json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode()
ours, theirs = os.pipe()  # hung up when this process is killed
streams = array.array("i", [0, 1, 2, theirs])
server.sendmsg([len(asked).to_bytes(8, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
server.sendall(asked)
process = int.from_bytes(server.recv(8), "big")
for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(name, lambda number, frame: os.kill(process, number))
ended = server.recv(1)
os._exit(ended[0] if ended else 137)
"""
_ALSO = ("numpy.ma", "numpy.random", "rich.progress", "scipy.stats", "sqlalchemy.dialects.sqlite")
"""What the three packages import when a command needs it."""
_LATER = ("pooler.spark", "pooler.datasets", "store.db.migrations")
"""What needs an extra, or is run by somebody else."""


@contextmanager
def forked_pooler(folder: Path, **settings: str) -> Iterator[Path]:
    """Put `pooler` into a folder for as long as the process runs that answers it, with these settings."""
    address = str(folder / "socket")
    ready, told = os.pipe()
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.forked_pooler", address, str(told)],
        cwd=ROOT,
        env=os.environ | settings,
        pass_fds=[told],
    )
    os.close(told)
    os.read(ready, 1)  # until it is closed
    os.close(ready)
    client = folder / "pooler"
    client.write_text(_CLIENT.format(python=sys.executable, address=address), "utf-8")
    client.chmod(0o755)
    try:
        yield client
    finally:
        server.terminate()
        server.wait()


def _serve(address: str, told: int) -> None:
    """Answer one client after another, each in a process of its own."""
    gc.disable()  # it would look through all that is imported, again and again
    for package in (pooler, judge_ui, store):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.startswith(_LATER):
                import_module(module.name)
    for name in _ALSO:
        import_module(name)
    gc.enable()
    gc.freeze()  # a fork copies no memory for want of garbage
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen()
    os.close(told)
    while True:
        asking, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            _answer(asking)
        asking.close()


def _answer(asking: socket.socket) -> None:
    """Be the command that was asked for, and tell how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    length, given, _, _ = asking.recvmsg(8, socket.CMSG_SPACE(4 * array.array("i").itemsize))
    *streams, life = array.array("i", given[0][2])
    for setting, value in ((F_SETOWN, os.getpid()), (F_SETSIG, signal.SIGKILL), (F_SETFL, os.O_ASYNC)):
        fcntl(life, setting, value)
    with asking.makefile("rb") as words:
        sys.argv, place, settings = json.loads(words.read(int.from_bytes(length, "big")))
    os.chdir(place)
    os.environ.clear()
    os.environ.update(settings)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace")
    asking.sendall(os.getpid().to_bytes(8, "big"))
    code = 1
    try:
        pooler.cli.main.main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        asking.sendall(bytes([code]))
        os._exit(code)


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]))
