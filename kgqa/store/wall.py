"""What a process that runs a user's queries gives up before the first one: files, sockets, programs, libraries.

The check of a query's text may fail one day; what the process cannot do it cannot be made to do. Each wall holds alone, and every one
that the system has is put up: *limits* (no new file descriptor, no byte in a file; every POSIX system), *landlock* (no path, no port;
Linux from 5.13 on) and *seccomp* (a list of some fifty system calls, none of which opens, connects, runs or loads anything; Linux on x86-64
and ARM64).

Imports the standard library alone, so that the process starts quickly; ``python wall.py`` prints the walls that this system has.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import struct
import sys
from collections.abc import Iterable

NO_NEW_PRIVILEGES = 38
"""prctl: without it neither Landlock nor seccomp is for everybody."""
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
READ_FILE = 1 << 2
ACCESS_BITS = {1: 13, 2: 14, 3: 15, 4: 15}
"""Version of Landlock → how many ways of access to files it knows; later ones know 16."""
SECCOMP = {"x86_64": 317, "aarch64": 277}
ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CALLS = {
    "x86_64": {
        "read": 0, "write": 1, "close": 3, "fstat": 5, "poll": 7, "lseek": 8, "munmap": 11, "brk": 12, "rt_sigaction": 13,
        "rt_sigprocmask": 14, "rt_sigreturn": 15, "pread64": 17, "readv": 19, "writev": 20, "select": 23, "sched_yield": 24, "mremap": 25,
        "mincore": 27, "madvise": 28, "nanosleep": 35, "getpid": 39, "sendto": 44, "recvfrom": 45, "sendmsg": 46, "recvmsg": 47,
        "exit": 60, "uname": 63, "gettimeofday": 96, "getrlimit": 97, "getrusage": 98, "sysinfo": 99, "times": 100, "getuid": 102,
        "getgid": 104, "geteuid": 107, "getegid": 108, "getppid": 110, "sigaltstack": 131, "gettid": 186, "time": 201, "futex": 202,
        "sched_getaffinity": 204, "set_tid_address": 218, "restart_syscall": 219, "clock_gettime": 228, "clock_getres": 229,
        "clock_nanosleep": 230, "exit_group": 231, "get_mempolicy": 239, "pselect6": 270, "ppoll": 271, "set_robust_list": 273,
        "preadv": 295, "getcpu": 309, "getrandom": 318, "membarrier": 324, "rseq": 334,
    },
    "aarch64": {
        "close": 57, "lseek": 62, "read": 63, "write": 64, "readv": 65, "writev": 66, "pread64": 67, "preadv": 69, "pselect6": 72,
        "ppoll": 73, "fstat": 80, "exit": 93, "exit_group": 94, "set_tid_address": 96, "futex": 98, "set_robust_list": 99,
        "nanosleep": 101, "clock_gettime": 113, "clock_getres": 114, "clock_nanosleep": 115, "sched_getaffinity": 123, "sched_yield": 124,
        "restart_syscall": 128, "sigaltstack": 132, "rt_sigaction": 134, "rt_sigprocmask": 135, "rt_sigreturn": 139, "times": 153,
        "uname": 160, "getrlimit": 163, "getrusage": 165, "getcpu": 168, "gettimeofday": 169, "getpid": 172, "getppid": 173, "getuid": 174,
        "geteuid": 175, "getgid": 176, "getegid": 177, "gettid": 178, "sysinfo": 179, "sendto": 206, "recvfrom": 207, "sendmsg": 211,
        "recvmsg": 212, "brk": 214, "munmap": 215, "mremap": 216, "mincore": 232, "madvise": 233, "get_mempolicy": 236, "getrandom": 278,
        "membarrier": 283, "rseq": 293,
    },
}  # fmt: skip
"""Machine → what stays allowed: memory, time, threads, and the descriptors that are open."""
MAPPING = {"x86_64": (9, 10), "aarch64": (222, 226)}
"""mmap and mprotect: allowed for memory that cannot be run."""
CLONE = {"x86_64": 56, "aarch64": 220}
"""Allowed for a thread."""
TGKILL = {"x86_64": 234, "aarch64": 131}
"""Allowed to oneself: it is how a program aborts."""
CLONE3 = 435
"""Keeps its flags where no filter sees them; without it the C library takes clone."""
PROT_EXEC, CLONE_THREAD, TSYNC = 4, 0x10000, 1
LOAD, EQUAL, ANY_BIT, ANSWER = 0x20, 0x15, 0x45, 0x06
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS = 1, 38


def confine(readable: Iterable[str]) -> list[str]:
    """Let this thread, and those that it will start, read the files ``readable`` and touch no other path; the walls that this put up.

    To be called before the graph is opened, so that the engine's threads are started behind it.
    """
    return ["landlock"] if _prctl(NO_NEW_PRIVILEGES, 1) == 0 and _landlock(readable) else []


def seal() -> list[str]:
    """Let no thread of this process open, connect to, run or load anything any more; the walls that this put up."""
    walls = ["landlock"] if _prctl(NO_NEW_PRIVILEGES, 1) == 0 and _landlock(()) else []
    if _limits():
        walls.append("limits")
    if _seccomp():
        walls.append("seccomp")
    return walls


def _limits() -> bool:
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))  # those that are open stay so
    except (OSError, ValueError):
        return False
    return True


def _landlock(readable: Iterable[str]) -> bool:
    """Restrict this thread; whether the system can."""
    if sys.platform != "linux":
        return False
    version = _call(CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    rules = struct.pack("=QQQ", (1 << ACCESS_BITS.get(version, 16)) - 1, 3, 3)  # files; TCP; sockets without a path, signals
    ruleset = _call(CREATE_RULESET, rules, 8 if version < 4 else 16 if version < 6 else 24, 0)
    if ruleset < 0:
        return False
    try:
        for path in readable:
            try:
                file = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            try:
                _call(ADD_RULE, ruleset, 1, struct.pack("=Qi", READ_FILE, file), 0)
            finally:
                os.close(file)
        return _call(RESTRICT_SELF, ruleset, 0) == 0
    finally:
        os.close(ruleset)


def _seccomp() -> bool:
    """Put the filter before all threads; whether the system can."""
    machine = platform.machine() if sys.platform == "linux" and sys.maxsize > 1 << 32 else ""
    if machine not in SECCOMP:
        return False
    program = _program(machine)
    steps = b"".join(struct.pack("=HBBI", *step) for step in program)
    buffer = ctypes.create_string_buffer(steps, len(steps))
    header = struct.pack("@HP", len(program), ctypes.addressof(buffer))
    return _call(SECCOMP[machine], 1, TSYNC, header) == 0


def _program(machine: str) -> list[tuple[int, int, int, int]]:
    """The filter, in the kernel's language: code, steps to skip if true, if false, and a number."""
    refused, allowed = (ANSWER, 0, 0, ERROR | EPERM), (ANSWER, 0, 0, ALLOW)
    steps = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, ARCHITECTURE[machine]), (ANSWER, 0, 0, KILL), (LOAD, 0, 0, 0)]
    for number in CALLS[machine].values():
        steps += [(EQUAL, 0, 1, number), allowed]
    for number in MAPPING[machine]:
        steps += [(EQUAL, 0, 4, number), _argument(2), (ANY_BIT, 0, 1, PROT_EXEC), refused, allowed]
    steps += [(EQUAL, 0, 4, CLONE[machine]), _argument(0), (ANY_BIT, 1, 0, CLONE_THREAD), refused, allowed]
    steps += [(EQUAL, 0, 4, TGKILL[machine]), _argument(0), (EQUAL, 1, 0, os.getpid()), refused, allowed]
    steps += [(EQUAL, 0, 1, CLONE3), (ANSWER, 0, 0, ERROR | ENOSYS)]
    return [*steps, refused]


def _argument(number: int) -> tuple[int, int, int, int]:
    """Load the lower half of an argument; both machines put it first."""
    return LOAD, 0, 0, 16 + 8 * number


def _call(number: int, *arguments: object) -> int:
    """A system call; negative where it fails."""
    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    return int(function(ctypes.c_long(number), *(ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)))


def _prctl(option: int, value: int) -> int:
    if sys.platform != "linux":
        return -1
    return int(ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)))


if __name__ == "__main__":
    print(*seal())
