# SPDX-License-Identifier: MIT
"""Runs programs on a terminal of any width, and types on it."""
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

sys.dont_write_bytecode = True


class Terminal:
    def __init__(self, words, columns=80, **environment):
        self.process, self.at = pty.fork()
        if not self.process:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            os.environ.pop("NO_COLOR", None)
            os.environ.pop("COLUMNS", None)
            os.environ.update({"TERM": "xterm", **environment})
            os.execvp(words[0], words)

    def read(self, until=None, seconds=60):
        """What is shown, up to a text or the end."""
        shown, end = b"", time.monotonic() + seconds
        while until is None or until not in shown:
            ready, _, _ = select.select([self.at], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise TimeoutError("%r did not come behind %r" % (until, shown))
            try:
                text = os.read(self.at, 65536)
            except OSError: # the other end is closed
                text = b""
            if not text:
                break
            shown += text
        return shown

    def type(self, text):
        os.write(self.at, text)

    def close(self):
        os.close(self.at)
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


def output(words, columns=80, colors=False, **environment):
    """All that a command shows on a terminal; without its colors, unless asked for."""
    terminal = Terminal(words, columns, **environment)
    text = terminal.read().decode().replace("\r\n", "\n")
    terminal.close()
    if not colors:
        for code in ("0", "1", "31", "32", "33", "36"):
            text = text.replace("\033[%sm" % code, "")
    return text
