"""What Streamlit tells whoever asks, without a login and without a session: closed, before a page draws anything."""

import hashlib
import secrets

from streamlit import runtime
from streamlit.runtime import memory_media_file_storage as media
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx

from dpsyn_core.errors import SettingError

_KEY = secrets.token_bytes(32)  # of this server, until it starts anew


def close() -> None:
    """Closes two answers of the server; the second call finds them closed. Raises SettingError where it cannot.

    `/_stcore/metrics` sums up the bytes of all uploads: their growth is the exact size of another visitor's table.
    `/media/NAME` gives a download to everybody who knows its name, which was a plain hash of what is in it: who knows
    a table but for one record could try every possible one. Nor do two visitors share a name: who made the same
    download could ask, after the end of their own session, whether somebody else still has it.
    """
    manager = runtime.get_instance().stats_mgr if runtime.exists() else None
    if not hasattr(media, "_calculate_file_id") or (manager is not None and not hasattr(manager, "get_stats")):
        msg = "this version of Streamlit would show visitors each other's sizes and files; install streamlit 1.67"
        raise SettingError(msg)
    media._calculate_file_id = _name
    if manager is not None:
        manager.get_stats = lambda family_names=None: {}  # type: ignore[method-assign]


def _name(data: bytes, mimetype: str, filename: str | None = None) -> str:
    """The same for the same download of one visitor, whose page is drawn again, and a random text to everybody else."""
    visitor = get_script_run_ctx(suppress_warning=True)
    own = secrets.token_hex() if visitor is None else visitor.session_id
    made = hashlib.blake2b(f"{own} {len(data)} {mimetype} {filename}".encode(), key=_KEY, digest_size=32)
    made.update(data)
    return made.hexdigest()
