"""The server of `ready_python.py`: SOCKET. It forks a process for each command."""

from __future__ import annotations

import gc
import marshal
import os
import runpy
import selectors
import signal
import socket
import sys
from importlib import import_module
from pathlib import Path

_IMPORTED = ("islands.cli.run", "islands.cli.batch", "islands.campaign.series", "email.parser")
"""What imports nearly all that a run needs."""
_NUMBER = 4  # bytes of each number of a message


def _serve(address: str) -> None:
    """Serve until the tests close the standard input of this process."""
    for name in _IMPORTED:
        import_module(name)
    gc.collect()
    gc.freeze()
    waiting = selectors.DefaultSelector()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(address)
        listener.listen(100)
        print("ready", flush=True)
        waiting.register(listener, selectors.EVENT_READ)
        waiting.register(0, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.fd not in waiting.get_map():
                    continue  # the client of a process that has just ended
                if key.fileobj == 0:
                    return
                if key.fileobj is listener:
                    line = _begin(listener, waiting)
                    if line is not None:
                        break  # in the new process
                elif isinstance(key.fileobj, socket.socket):
                    _pass_on(key.fileobj, key.data, waiting)
                else:
                    _answer(key.fd, *key.data, waiting)
            else:
                continue
            break
    waiting.close()
    _run(line)


def _begin(listener: socket.socket, waiting: selectors.BaseSelector) -> list[str] | None:
    """Fork a process for a client; there, return its line."""
    client, _ = listener.accept()
    size, streams, _, _ = socket.recv_fds(client, _NUMBER, 3)
    text = client.recv(int.from_bytes(size, sys.byteorder), socket.MSG_WAITALL)
    child = os.fork() if text else None  # a client that is killed at once has sent nothing
    if child != 0:
        for stream in streams:
            os.close(stream)
        if child is None:
            client.close()
        else:
            waiting.register(client, selectors.EVENT_READ, child)
            waiting.register(os.pidfd_open(child), selectors.EVENT_READ, (child, client))
        return None
    line, folder, variables = marshal.loads(text)
    client.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  # those of this process have other streams
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False, errors="backslashreplace")  # noqa: SIM115
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    return list(line)


def _pass_on(client: socket.socket, child: int, waiting: selectors.BaseSelector) -> None:
    """Send a process the signal that its client names, or kill it if the client has gone."""
    told = client.recv(1)
    os.kill(child, told[0] if told else signal.SIGKILL)
    if not told:
        waiting.unregister(client)


def _answer(ended: int, child: int, client: socket.socket, waiting: selectors.BaseSelector) -> None:
    """Tell a client how its process has ended."""
    waiting.unregister(ended)
    os.close(ended)
    _, status = os.waitpid(child, 0)
    if client in waiting.get_map():
        waiting.unregister(client)
        client.send(status.to_bytes(_NUMBER, sys.byteorder))
    client.close()


def _run(line: list[str]) -> None:
    """Run what `python LINE` would."""
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:1] = [each for each in paths if each and each not in sys.path]
    option, *rest = line
    if is_safe := option == "-P":
        option, *rest = rest
    if option == "-c":
        sys.argv = [option, *rest[1:]]
        sys.path[:0] = [""] if not is_safe else []
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    elif option == "-m":
        sys.argv = list(rest)
        sys.path[:0] = [str(Path.cwd())] if not is_safe else []
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = list(line)
        sys.path.insert(0, str(Path(option).parent))
        runpy.run_path(option, run_name="__main__")


if __name__ == "__main__":
    _serve(sys.argv[1])
