"""The walls around a child that reads a foreign file: no network, no other file, no way to gain rights.

Linux has three, each used where the kernel has it: `no_new_privs` without capabilities, Landlock (a view of
what reading takes, read-only but for the scratch folder), and a seccomp filter (no sockets, no tracing, no
mounts, no namespaces). Elsewhere the child has its limits and its empty environment alone; `health` says so.
"""

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_GET_SECCOMP, PR_SET_SECCOMP = 24, 38, 21, 22
SECCOMP_MODE_FILTER = 2
# A root without it could not read what another user has stored. Landlock still says which files.
CAP_DAC_READ_SEARCH = 2
LAST_CAPABILITY = 40
CAPABILITY_VERSION_3 = 0x20080522

# ---- Landlock: the same numbers on every architecture -------------------------------------------------

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ASK_VERSION, PATH_BENEATH = 1, 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE = 1, 1 << 1, 1 << 2, 1 << 3, 1 << 14
READ = EXECUTE | READ_FILE | READ_DIR
# How many rights over files each version knows: all of them are taken away, and few given back.
FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
TCP_BIND_AND_CONNECT, ABSTRACT_SOCKETS_AND_SIGNALS = 3, 3

# ---- seccomp: what a reader never calls ---------------------------------------------------------------

# socket connect bind listen, ptrace process_vm_readv process_vm_writev pidfd_getfd, mount umount2 pivot_root
# chroot unshare setns open_by_handle_at · add_key request_key keyctl · bpf perf_event_open userfaultfd ·
# kexec_load reboot init_module finit_module · io_uring_setup io_uring_enter io_uring_register, which can open
# sockets by themselves
X86_64 = {
    *(41, 42, 49, 50, 101, 310, 311, 438, 165, 166, 155, 161, 272, 308, 304, 248, 249, 250, 321, 298, 323),
    *(246, 169, 175, 313, 425, 426, 427),
}
AARCH64 = {
    *(198, 203, 200, 201, 117, 270, 271, 438, 40, 39, 41, 51, 97, 268, 265, 217, 218, 219, 280, 241, 282),
    *(104, 142, 105, 273, 425, 426, 427),
}
NUMBERS = {
    "x86_64": (0xC000003E, X86_64),
    "aarch64": (0xC00000B7, AARCH64),
}
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | 1  # EPERM
# Calls of the other word length share the table's numbers with this bit set.
X32_BIT = 0x40000000


WALLS = ("no new privileges", "Landlock", "seccomp")


@cache
def available() -> tuple[str, ...]:
    """What this kernel and this machine can do, in the words of `health`."""
    if sys.platform != "linux":
        return ()
    found = ["no new privileges"]
    if _landlock_version() > 0:
        found.append("Landlock")
    if platform.machine() in NUMBERS and _libc().prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0:
        found.append("seccomp")
    return tuple(found)


def enter(read_only: Iterable[Path], scratch: Path) -> None:
    """From here on this process sees these paths and its scratch folder, and nothing else, for good."""
    if not available():
        return
    _call(_libc().prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    if os.geteuid() == 0:
        _drop_capabilities()
    if "Landlock" in available():
        _restrict_files(read_only, scratch)
    if "seccomp" in available():
        _restrict_calls()


def code_paths() -> set[Path]:
    """What Python, its packages and the engine are made of. Code is no secret; what lies beside it may be."""
    root = Path(__file__).resolve().parents[4]
    packages = {file.parent for file in root.glob("*/__init__.py")}
    imported = {Path(entry) for entry in sys.path if entry and Path(entry).resolve() != root}
    system = {Path(path) for path in ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/dev/urandom")}
    libraries = {Path(path) for path in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if path}
    # What an engine asks about its processor.
    machine = {Path(path) for path in ("/sys/devices/system", "/proc/cpuinfo", "/proc/meminfo")}
    prefixes = {Path(sys.prefix), Path(sys.base_prefix)}
    return packages | imported | system | libraries | machine | prefixes


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(result: int, what: str) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def _drop_capabilities() -> None:
    libc = _libc()
    for capability in range(LAST_CAPABILITY + 1):
        if capability != CAP_DAC_READ_SEARCH:
            libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)  # one that the kernel lacks is no loss
    kept = 1 << CAP_DAC_READ_SEARCH
    header = struct.pack("Ii", CAPABILITY_VERSION_3, 0)
    _call(libc.capset(header, struct.pack("6I", kept, kept, 0, 0, 0, 0)), "capset")


def _landlock_version() -> int:
    return int(_libc().syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ASK_VERSION))


def _restrict_files(read_only: Iterable[Path], scratch: Path) -> None:
    libc, version = _libc(), _landlock_version()
    rights = (1 << FILE_RIGHTS[min(version, max(FILE_RIGHTS))]) - 1
    sizes = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = struct.pack("QQQ", rights, TCP_BIND_AND_CONNECT, ABSTRACT_SOCKETS_AND_SIGNALS)[:sizes]
    rules = _call(libc.syscall(CREATE_RULESET, ruleset, ctypes.c_size_t(sizes), 0), "landlock")
    for path in read_only:
        _allow(rules, path, READ & rights)
    _allow(rules, Path("/dev/null"), (READ_FILE | WRITE_FILE | TRUNCATE) & rights)
    _allow(rules, scratch, rights & ~EXECUTE)
    _call(libc.syscall(RESTRICT_SELF, rules, 0), "landlock")
    os.close(rules)


def _allow(rules: int, path: Path, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # it is not there, so it cannot be read either
        return
    try:
        if not path.is_dir():
            rights &= EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
        rule = struct.pack("=Qi", rights, place)
        _call(_libc().syscall(ADD_RULE, rules, PATH_BENEATH, rule, 0), f"landlock, {path}")
    finally:
        os.close(place)


def _restrict_calls() -> None:
    program = _filter(*NUMBERS[platform.machine()])
    code = ctypes.create_string_buffer(program)
    length = len(program) // 8
    packed = struct.pack("HxxxxxxQ", length, ctypes.addressof(code))
    _call(_libc().prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, packed, 0, 0), "seccomp")


def _filter(architecture: int, refused: set[int]) -> bytes:
    """Refuse these calls, allow the others; a call in another architecture's dress ends the process."""
    checks = [(JUMP_AT_LEAST, X32_BIT), *((JUMP_EQUAL, number) for number in sorted(refused))]
    last = len(checks)
    steps = [
        struct.pack("HBBI", LOAD, 0, 0, 4),
        struct.pack("HBBI", JUMP_EQUAL, 1, 0, architecture),
        struct.pack("HBBI", RETURN, 0, 0, KILL),
        struct.pack("HBBI", LOAD, 0, 0, 0),
        *(struct.pack("HBBI", check, last - at, 0, value) for at, (check, value) in enumerate(checks)),
        struct.pack("HBBI", RETURN, 0, 0, ALLOW),
        struct.pack("HBBI", RETURN, 0, 0, REFUSE),
    ]
    return b"".join(steps)
