"""State: what a visitor has loaded and chosen, kept on the server under an owner's token.

Streamlit forgets its session on a refresh; a random token in a cookie (or the login, behind OIDC) finds the
workspace again. Nothing private is ever put into a shared cache: a workspace is reached by its token alone.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from dpsyn_core.errors import SchemaError
from dpsyn_core.files import home
from dpsyn_core.privacy import UsedTable
from dpsyn_core.runs import AttackSpec, ComparisonSpec
from dpsyn_core.tables import AS_FOUND, ReadForm
from ui.linked.tables import LinkedTables
from ui.schema.rows import Row
from ui.shared.access import known
from ui.shared.jobs import Jobs
from ui.shared.visitors import issue, issued

if TYPE_CHECKING:
    import pyarrow as pa

    from dpsyn_core.report import OpenRelease
    from dpsyn_core.schema import Schema, SchemaUnit
    from dpsyn_core.tables import Batches

WARM_UP = "DPSYN_WARM_UP"  # environment variable; 0 leaves compiling to the first run
COOKIE = "dpsyn_visitor"
OWNER, SHOWN = "owner", "shown"  # keys of the session: whose it is, and the serial of the table that it shows
IDLE = 12 * 3600  # seconds after which a workspace nobody came back to is forgotten
WATCH = 600  # seconds between two checks for such workspaces
MOST = 200  # workspaces kept at once


@dataclass
class Dataset:
    """A loaded table, and where it came from. path: as it was typed, of a file that was read where it lies.

    Where it is too large to hold, `table` has some of its records, drawn by chance, for looks at it; `records` says how
    many there are, and runs read all of them at `place`.
    """

    name: str
    ledger: str
    table: pa.Table | None
    path: str | None = None
    place: str | None = None
    records: int | None = None  # of the whole table, where `table` is a part of it; private
    sample: bool = False
    notices: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)  # what could not be read; private
    read: Batches | None = None  # how a file was read: shown and correctable
    raw: bytes | None = None  # an upload's bytes, to be read again after a correction
    serial: str = field(default_factory=lambda: secrets.token_hex(4))  # names the content; set when it is placed
    query_vouched: bool = False  # that its query reads each record by itself is the owner's word
    returned: bool = False  # whether it was here before, with a schema that stands again
    form: ReadForm = AS_FOUND  # how the table at `place` is read, as it was declared for its runs too

    @property
    def whole(self) -> pa.Table | None:
        """The table with all of its records; None where it is too large to hold."""
        return self.table if self.records is None else None

    @property
    def n_records(self) -> int | None:
        """How many records there are; private."""
        return self.records if self.records is not None or self.table is None else int(self.table.num_rows)


@dataclass(frozen=True, kw_only=True)
class PublicUpload:
    """A file that the visitor says is public. file: its name in the folder of a run."""

    name: str
    file: str
    content: bytes


class Grid(NamedTuple):
    """Systems, epsilons and repeats of the Grid page."""

    methods: tuple[str, ...]
    epsilons: tuple[float, ...]
    repeats: int


@dataclass
class Choices:
    """What is chosen on Privacy, Synthesize and Grid; survives page switches and refreshes."""

    epsilon: float = 1.0
    delta: float = 1e-9
    method: str = ""
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    n_records: int | None = None
    questions_share: float | None = None  # None: the engine's default
    seed: int = 1
    safe: bool = False
    grid: Grid | None = None  # None: not chosen yet
    chosen_on: UsedTable | None = None  # the public table that chose method and settings, by a file of settings
    valid: bool = True  # whether the fields of the Privacy page hold a budget


@dataclass
class Workspace:
    """Everything of one visitor."""

    owner: str
    dataset: Dataset | None = None
    schema: Schema | None = None
    rows: list[Row] = field(default_factory=list)  # of the schema editor, edits that do not fit yet included
    asked: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # questions, by the table's serial
    choices: Choices = field(default_factory=Choices)
    seen: float = field(default_factory=time.time)
    earlier: dict[str, tuple[Schema, str]] = field(default_factory=dict)  # schema and ledger name by table
    shared_names: set[tuple[str, str]] = field(default_factory=set)  # serial and ledger name that are meant to be one
    public: PublicUpload | None = None  # a table that the visitor says is public, from which runs learn
    memo: dict[Any, Any] = field(default_factory=dict)  # results on private data, for this visitor only
    reading: OpenRelease | None = None  # somebody's release, whose files were handed to the Release page
    linked: LinkedTables[Workspace] | None = None  # several tables in place of the one above, which then waits
    one_of_linked: bool = False  # whether this is one table of linked ones, whose runs and purchases are those of all

    @property
    def loaded(self) -> Dataset | Linked | None:
        """What is loaded: linked tables, or one."""
        return self.dataset if self.linked is None else self.linked

    @property
    def serial(self) -> str:
        """Names the content of what is loaded; empty for nothing."""
        return self.loaded.serial if self.loaded else ""

    @property
    def name(self) -> str:
        """What is loaded is called; empty for nothing."""
        return self.loaded.name if self.loaded else ""

    @property
    def ledger(self) -> str:
        """The name under which the ledger adds up what is spent on what is loaded; empty for nothing."""
        return self.loaded.ledger if self.loaded else ""

    @property
    def parts(self) -> dict[str, Workspace]:
        """Returns every loaded table by its name: one table is this workspace, linked ones have one each."""
        if self.linked is not None:
            return self.linked.parts
        return {} if self.dataset is None else {self.dataset.name: self}

    @property
    def sample(self) -> bool:
        """Whether what is loaded is simulated and protects nobody."""
        return self.loaded is None or self.loaded.sample

    def book(self, ledger: str) -> None:
        """Gives what is loaded another name on the ledger."""
        if self.linked is not None:
            self.linked.book(ledger)
        elif self.dataset is not None:
            self.dataset.ledger = ledger

    @property
    def unit(self) -> SchemaUnit | None:
        """Who is protected; None without a schema."""
        if self.linked is not None:
            return self.linked.unit
        return None if self.schema is None else self.schema.unit

    def inputs(self, schema: Schema) -> pa.Table | dict[str, pa.Table] | None:
        """Returns the table that a run by a schema is handed, or linked ones by name; None where it reads a file."""
        if self.linked is not None:
            return self.linked.inputs(schema)
        return None if self.dataset is None else self.dataset.whole

    @property
    def kept_schema(self) -> Schema | None:
        """The schema as it is handed on, None without one that fits together.

        It keeps the name on the ledger of what is loaded, which the command then finds.
        """
        if self.linked is not None:
            return self.linked.declared()
        if self.schema is None or self.dataset is None or self.dataset.sample:
            return self.schema
        return self.schema.booked_as(self.dataset.ledger)


Linked: TypeAlias = LinkedTables[Workspace]


class Workspaces:
    """All workspaces of this server, by owner; the one idle for longest makes room for a new one."""

    def __init__(self) -> None:
        """Starts empty."""
        self._lock = threading.Lock()
        self._kept: dict[str, Workspace] = {}
        self._timer: threading.Timer | None = None

    def forget(self) -> None:
        """Drops idle workspaces with their tables, and checks again after WATCH seconds while there are others."""
        with self._lock:
            self._timer = None
            self._drop_idle()
            if self._kept:
                self._watch()

    def _drop_idle(self) -> None:
        for idle in [k for k, w in self._kept.items() if time.time() - w.seen > IDLE]:
            del self._kept[idle]

    def _watch(self) -> None:
        if self._timer is None:
            self._timer = threading.Timer(WATCH, self.forget)
            self._timer.daemon = True
            self._timer.start()

    def find(self, owner: str) -> Workspace:
        """The owner's workspace, made when there is none."""
        with self._lock:
            self._drop_idle()
            self._watch()
            while len(self._kept) >= MOST and owner not in self._kept:
                del self._kept[min(self._kept, key=lambda k: self._kept[k].seen)]
            space = self._kept.setdefault(owner, Workspace(owner))
            space.seen = time.time()
            return space


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """The registry of runs of this server. Kernels are compiled, and a worker is made ready, meanwhile."""
    made = Jobs()
    if os.environ.get(WARM_UP, "1") != "0":
        made.warm()
    return made


@st.cache_resource(show_spinner=False)
def attacks() -> Jobs:
    """The registry of attacks of this server, one at a time; their results are private, and no page exports them."""
    return Jobs(home() / "attacks", parallel=1, worker="dpsyn_core.runs.attacks.attack", spec=AttackSpec)


@st.cache_resource(show_spinner=False)
def grids() -> Jobs:
    """The registry of grids of this server, one at a time, on tables that their owners declare public."""
    return Jobs(home() / "grids", parallel=1, worker="dpsyn_core.runs.choose.worker", spec=ComparisonSpec)


@st.cache_resource(show_spinner=False)
def workspaces() -> Workspaces:
    """The registry of workspaces of this server."""
    return Workspaces()


def owner() -> str:
    """Who is looking: the login behind OIDC, else the cookie's token when this server issued it, else a new one."""
    if "owner" not in st.session_state:
        kept = st.context.cookies.get(COOKIE)
        if known(st.user):  # as JSON: no issuer and subject together read like another two
            st.session_state["owner"] = "login:" + json.dumps([st.user.get("iss"), st.user["sub"]])
        else:
            st.session_state["owner"] = kept if issued(kept) else issue()
    return str(st.session_state["owner"])


def remember_visitor() -> None:
    """Sets the cookie once, from the page itself; it holds a random token and lasts as long as the browser.

    A script of Streamlit cannot answer with a header, so the cookie cannot be HttpOnly; over TLS it is Secure.
    """
    token = owner()
    if issued(token) and st.context.cookies.get(COOKIE) != token:
        st.html(
            f"<script>document.cookie = '{COOKIE}={token}; path=/; SameSite=Strict' + "
            "(location.protocol === 'https:' ? '; Secure' : '')</script>",
            unsafe_allow_javascript=True,
        )


def workspace() -> Workspace:
    """The visitor's workspace."""
    through_the_entry()
    return workspaces().find(owner())


def remember_shown(space: Workspace) -> None:
    """Keeps which table this tab of the browser shows; tabs of one visitor have one table."""
    st.session_state[SHOWN] = space.serial


def check_shown(space: Workspace) -> None:
    """Raises SchemaError where a run would take another table than the page that the press was on showed."""
    if st.session_state.get(SHOWN, space.serial) != space.serial:
        msg = "another tab loaded another table, and nothing was spent; look at what is loaded now, then press again"
        raise SchemaError(msg)


def through_the_entry() -> None:
    """Sends the very first request of a server through `app.py`, even when it asks for another page.

    Until `st.navigation` has run once, Streamlit takes a folder named `pages` for its older kind of app and runs
    the page without its entry file, hence without style and side panel.
    """
    if PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()
