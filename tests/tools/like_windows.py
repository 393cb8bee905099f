"""A stand-in for Windows: makes an interpreter lack what Windows lacks.

portability.py puts this file under the name sitecustomize.py before each script, so it runs first.
It cannot change how the system works: paths keep their slashes, and files their modes. What it
shows: no function that only POSIX has is called, no mode is relied upon, no text is read or written
in the locale's encoding, and the branches for Windows work.
"""

# ruff: noqa: E402  what is imported must find the change above it
from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn

os.supports_dir_fd.clear()  # shutil chooses its ways by this when it is imported
# What chooses its ways by os.name when it is imported must come first.
import pathlib  # isort: skip
import shutil  # noqa: F401  isort: skip
import sqlite3  # noqa: F401  isort: skip
import ssl  # isort: skip
import subprocess  # noqa: F401  isort: skip
import tempfile  # noqa: F401  isort: skip
import urllib.request  # noqa: F401  isort: skip

NO_MODULES = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty")
NO_FUNCTIONS = (
    "fork forkpty getuid geteuid getgid getegid getgroups setuid setgid getpgid getpgrp setpgid "
    "setsid killpg nice chown fchmod fchown lchown mkfifo mknod chroot uname wait waitid wait3 "
    "wait4 pwrite pread sendfile statvfs fchdir sysconf getloadavg posix_spawn posix_spawnp"
).split()
NO_FLAGS = "O_NOFOLLOW O_DIRECTORY O_NONBLOCK O_CLOEXEC O_SYNC O_NOCTTY".split()
NO_SIGNALS = (
    "SIGKILL SIGPIPE SIGHUP SIGALRM SIGUSR1 SIGUSR2 SIGCHLD SIGQUIT pthread_sigmask".split()
)

system_open, system_close = os.open, os.close
going: dict[int, Any] = {}  # files that go away when they are closed


def open_file(path: Any, flags: int, *more: Any, **named: Any) -> int:
    """os.open, with the flag that only Windows has."""
    number = system_open(path, flags & ~os.O_TEMPORARY, *more, **named)
    if flags & os.O_TEMPORARY:
        going[number] = path
    return number


def close_file(number: int) -> None:
    """os.close; the file of O_TEMPORARY goes with it."""
    system_close(number)
    if number in going:
        os.unlink(going.pop(number))


def end_process(number: int, kind: int) -> NoReturn:
    """os.kill, which ends the process on Windows, whatever the signal: it must not be called."""
    raise AssertionError(f"os.kill({number}, {kind})")


def change_nothing(*_: Any, **__: Any) -> None:
    """os.chmod, which has no effect on who may read a file on Windows."""


for module in NO_MODULES:
    sys.modules[module] = None  # type: ignore[assignment]  an import of it fails
for names, holder in ((NO_FUNCTIONS + NO_FLAGS, os), (NO_SIGNALS, signal)):
    for name in names:
        if hasattr(holder, name):
            delattr(holder, name)
os.O_TEMPORARY = 1 << 40  # type: ignore[attr-defined]
os.open, os.close = open_file, close_file
os.kill, os.chmod = end_process, change_nothing
ssl.enum_certificates = lambda _: []  # type: ignore[attr-defined]  Windows' own store
pathlib.WindowsPath = pathlib.PosixPath  # type: ignore[misc, assignment]
os.name = "nt"
sys.platform = "win32"
