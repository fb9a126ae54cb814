"""Have a server of `ready_python.py` run a line of options of Python: SOCKET LINE...

It passes on its streams, folder, variables and the signals that it receives, and ends as the
process does. It imports next to nothing, as it takes the place of a process that starts quickly.
"""

import _socket
import marshal
import os
import signal
import sys

_NUMBER = 4  # bytes of each number of a message
_FAMILY = _socket.AF_UNIX, _socket.SOCK_STREAM


def _ask(address: str, line: list[str]) -> int:
    """Let the server run a line; return the status that `os.waitpid` has returned."""
    server = _socket.socket(*_FAMILY)
    server.connect(address)
    text = marshal.dumps((line, os.getcwd(), dict(os.environ)))  # noqa: PTH109
    streams = b"".join(number.to_bytes(_NUMBER, sys.byteorder) for number in range(3))
    rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)
    server.sendmsg([len(text).to_bytes(_NUMBER, sys.byteorder)], [rights])
    server.sendall(text)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, lambda received, _: server.send(bytes([received])))
    return int.from_bytes(server.recv(_NUMBER), sys.byteorder)


def _end_as(status: int) -> None:
    """End this process as another one has ended."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


if __name__ == "__main__":
    _end_as(_ask(sys.argv[1], sys.argv[2:]))
