"""Places where writing fails: real full disks, real limits and real read-only folders, for root too."""

import contextlib
import ctypes
import os
import resource
import shutil
import tempfile
from pathlib import Path

NOBODY = 65534  # the user without rights, on Debian and most others
CAP_DAC_OVERRIDE = 1 << 1  # writing, reading and searching whatever the permission bits say: linux/capability.h
CAPABILITY_VERSION_3 = 0x20080522


@contextlib.contextmanager
def file_limit(size):
    """Writing beyond `size` bytes of any file fails (EFBIG), as beyond the end of a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextlib.contextmanager
def unprivileged():
    """Permission bits decide about writing, for root too; what could be read before can be read still.

    Root gives up CAP_DAC_OVERRIDE in this thread and keeps its user and CAP_DAC_READ_SEARCH, so that modules which are
    imported only now are found below a folder that nobody else may enter.
    """
    before = capabilities()
    change_effective([word & ~bit for word, bit in zip(before, (CAP_DAC_OVERRIDE, 0), strict=True)])
    try:
        yield
    finally:
        change_effective(before)


class Header(ctypes.Structure):
    """Which thread is meant (0: the calling one), in the newest layout of capset(2)."""

    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class Words(ctypes.Structure):
    """Capabilities 0 to 31 in the first of two such triples, 32 to 63 in the second."""

    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def call(name, words):
    header = Header(version=CAPABILITY_VERSION_3, pid=0)
    if getattr(ctypes.CDLL(None, use_errno=True), name)(ctypes.byref(header), words) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)


def capabilities():
    """The two words of the effective set of this thread."""
    words = (Words * 2)()
    call("capget", words)
    return [word.effective for word in words]


def change_effective(effective):
    words = (Words * 2)()
    call("capget", words)
    for word, value in zip(words, effective, strict=True):
        word.effective = value
    call("capset", words)


@contextlib.contextmanager
def open_folder():
    """A fresh folder that everybody may enter and read."""
    path = Path(tempfile.mkdtemp(prefix="dpsyn-faults-"))
    path.chmod(0o755)
    try:
        yield path
    finally:
        path.chmod(0o755)
        shutil.rmtree(path)
