"""Places where writing fails: real full disks, real limits and real read-only folders, for root too."""

import contextlib
import os
import resource
import shutil
import tempfile
from pathlib import Path

NOBODY = 65534


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
    """Permission bits count: root steps down to nobody and back; others stay who they are."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


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
