"""Restrict the process that runs users' Cypher: it can no longer write, load libraries, connect or start programs.

The check of a query (:mod:`kgqa.store.cypher`) decides what runs; this module limits what a query that passes by mistake can do.
Linux offers two mechanisms that a process without privileges may use on itself:

- **Landlock** (kernel 5.13; TCP ports since 6.7): no path may be written, and only the listed ones may be read.
- **seccomp**: system calls that write, connect, start a program or map a file as code fail with EPERM, in all threads.

Both hold until the process ends and cannot be lifted. Only the standard library is used: the process has little else.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import struct
import sys
from collections.abc import Iterable

LANDLOCK = "Landlock"
SECCOMP = "seccomp"

_PR_SET_NO_NEW_PRIVS = 38
_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""Landlock's system calls; they have one number on all architectures."""
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_FILE_RIGHTS = (13, 14, 15, 15, 16)
"""Landlock's ABI 1, 2, … → how many rights over files it knows; later ones know as many as the last."""
_NETWORK_ABI, _SCOPE_ABI = 4, 6
"""First ABI that limits TCP ports, and first that limits abstract sockets and signals."""

_X86, _ARM = 0xC000003E, 0xC00000B7
"""How the kernel names an architecture (AUDIT_ARCH)."""
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBERS: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (
        _X86,
        {
            "open": 2, "mmap": 9, "mprotect": 10, "shmget": 29, "shmat": 30, "socket": 41,
            "connect": 42, "bind": 49, "listen": 50, "clone": 56, "fork": 57, "vfork": 58, "execve":
            59, "truncate": 76, "rename": 82, "mkdir": 83, "rmdir": 84, "creat": 85, "link": 86,
            "unlink": 87, "symlink": 88, "chmod": 90, "fchmod": 91, "chown": 92, "fchown": 93,
            "lchown": 94, "ptrace": 101, "mknod": 133, "pivot_root": 155, "chroot": 161, "mount":
            165, "umount2": 166, "setxattr": 188, "openat": 257, "mkdirat": 258, "mknodat": 259,
            "fchownat": 260, "unlinkat": 263, "renameat": 264, "linkat": 265, "symlinkat": 266,
            "fchmodat": 268, "memfd_create": 319, "process_vm_readv": 310, "process_vm_writev": 311,
            "renameat2": 316, "bpf": 321, "execveat": 322, "userfaultfd": 323, "pkey_mprotect": 329,
            "io_uring_setup": 425, "open_tree": 428, "move_mount": 429, "clone3": 435, "openat2":
            437, "pidfd_getfd": 438, "fchmodat2": 452,
        },
    ),
    "aarch64": (
        _ARM,
        {
            "setxattr": 5, "mknodat": 33, "mkdirat": 34, "unlinkat": 35, "symlinkat": 36, "linkat":
            37, "renameat": 38, "umount2": 39, "mount": 40, "pivot_root": 41, "truncate": 45,
            "chroot": 51, "fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55, "openat": 56,
            "ptrace": 117, "shmget": 194, "shmat": 196, "socket": 198, "bind": 200, "listen": 201,
            "connect": 203, "clone": 220, "execve": 221, "mmap": 222, "mprotect": 226,
            "process_vm_readv": 270, "process_vm_writev": 271, "renameat2": 276, "memfd_create":
            279, "bpf": 280, "execveat": 281, "userfaultfd": 282, "pkey_mprotect": 288,
            "io_uring_setup": 425, "open_tree": 428, "move_mount": 429, "clone3": 435, "openat2":
            437, "pidfd_getfd": 438, "fchmodat2": 452,
        },
    ),
}  # fmt: skip
"""Machine → its AUDIT_ARCH, and the numbers of the system calls that are refused or looked into."""
_UNKNOWN = ("clone3", "openat2")
"""Their arguments lie in memory, where a filter cannot look: they fail as if the kernel lacked them, and callers use the older ones."""
_FLAGS_AT = {"open": 1, "openat": 2}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_PROT_AT = {"mmap": 2, "mprotect": 2, "pkey_mprotect": 2}
_PROT_EXEC = 4
_CLONE_THREAD = 0x00010000


def landlock_abi() -> int:
    """The version of Landlock that the kernel has; 0 where it has none."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(_libc().syscall(_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(1))))


def available() -> list[str]:
    """The mechanisms that this system appears to offer, without trying them."""
    if not sys.platform.startswith("linux"):
        return []
    refuses = os.path.exists("/proc/sys/kernel/seccomp/actions_avail") and platform.machine() in _NUMBERS
    return [*([LANDLOCK] if landlock_abi() else []), *([SECCOMP] if refuses else [])]


def restrict(*, readable: Iterable[str]) -> list[str]:
    """Remove this process's rights to write, to connect, to start programs, and to read outside the paths of ``readable``.

    Landlock applies to this thread and to those that it starts later. Returns the names of the mechanisms now in force, none if the system
    has none.
    """
    if not sys.platform.startswith("linux") or _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return []
    return [LANDLOCK] if _landlock(readable) else []


def refuse_calls() -> list[str]:
    """Make system calls that write, load, connect or start a program fail in all threads. Returns the mechanisms in force, as above."""
    if not sys.platform.startswith("linux") or platform.machine() not in _NUMBERS:
        return []
    program = _filter(*_NUMBERS[platform.machine()])
    code = ctypes.create_string_buffer(program, len(program))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    argument = Program(len(program) // 8, ctypes.cast(code, ctypes.c_void_p))
    number = {"x86_64": 317, "aarch64": 277}[platform.machine()]
    set_filter, all_threads = 1, 1  # SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC
    status = _libc().syscall(number, ctypes.c_uint(set_filter), ctypes.c_uint(all_threads), ctypes.byref(argument))
    return [SECCOMP] if status == 0 else []


def open_nothing() -> None:
    """On every system: forbid new files and connections, and all writing to files. Open ones stay open.

    It also keeps the environment, which may hold passwords, from a query that reads ``/proc/self``.
    """
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    except (OSError, ValueError):
        return  # the Linux mechanisms work without it


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _landlock(readable: Iterable[str]) -> bool:
    abi = landlock_abi()
    if not abi:
        return False
    files = (1 << _FILE_RIGHTS[min(abi, len(_FILE_RIGHTS)) - 1]) - 1
    network = 3 if abi >= _NETWORK_ABI else 0  # to bind and to connect
    scope = 3 if abi >= _SCOPE_ABI else 0  # abstract sockets, signals to others
    attributes = struct.pack("QQQ", files, network, scope)[: 8 if not network else 16 if not scope else 24]
    libc = _libc()
    ruleset = libc.syscall(_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint(0))
    if ruleset < 0:
        return False
    try:
        for path in readable:
            _allow_reading(libc, ruleset, path)
        return bool(libc.syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint(0)) == 0)
    finally:
        os.close(ruleset)


def _allow_reading(libc: ctypes.CDLL, ruleset: int, path: str) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # what is not there needs no right
        return
    try:
        rights = _READ_FILE | (_READ_DIR if os.path.isdir(path) else 0)
        rule = struct.pack("=Qi", rights, place)
        libc.syscall(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(1), rule, ctypes.c_uint(0))
    finally:
        os.close(place)


def _filter(architecture: int, numbers: dict[str, int]) -> bytes:
    """The program in classic BPF, eight bytes an instruction. A call that it lets pass runs through all of it, at some nanoseconds each."""

    def instruction(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
        return struct.pack("HBBI", code, yes, no, value)

    def load(offset: int) -> bytes:
        return instruction(0x20, offset)  # one of the 32-bit words of struct seccomp_data

    def answer(value: int) -> bytes:
        return instruction(0x06, value)

    refused, missing = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS
    program = [load(4), instruction(0x15, architecture, 1, 0), answer(refused), load(0)]
    if architecture == _X86:  # the other way to call, x32, has numbers from here on
        program += [instruction(0x35, 0x40000000, 0, 1), answer(refused)]
    for name, number in sorted(numbers.items(), key=lambda entry: entry[1]):
        if name in _FLAGS_AT or name in _PROT_AT:
            at, bits = (_FLAGS_AT[name], _WRITES) if name in _FLAGS_AT else (_PROT_AT[name], _PROT_EXEC)
            block = [load(16 + 8 * at), instruction(0x45, bits, 0, 1), answer(refused), answer(_ALLOW)]
        elif name == "clone":  # a thread may start, a process may not
            block = [load(16), instruction(0x45, _CLONE_THREAD, 1, 0), answer(refused), answer(_ALLOW)]
        else:
            block = [answer(missing if name in _UNKNOWN else refused)]
        program += [instruction(0x15, number, 0, len(block)), *block]
    return b"".join([*program, answer(_ALLOW)])
