"""A PostgreSQL server of the tests' own: on a free port of this machine, in a folder, run by a user without rights."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg

PASSWORD = "kept/secret:7%@#"  # every character that an address must write in another way
WRITTEN = "kept%2Fsecret%3A7%25%40%23"
HELP = "needs PostgreSQL's server programs: apt-get install postgresql"


def program(name):
    """Debian keeps the server's programs beside its versions, off the path."""
    found = shutil.which(name) or next(iter(sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))[::-1]), None)
    assert found, HELP
    return str(Path(found).resolve())


class Postgresql:
    """A cluster and its server; `address` is that of its owner, whose password is asked for."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="dpsyn-pg-"))
        self.log = self.folder / "log"
        self.rights = {}
        if os.geteuid() == 0:  # the server refuses to run as root
            import pwd

            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            self.rights = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"postgresql://anna:{WRITTEN}@127.0.0.1:{self.port}/shop"
        try:
            self._make()
            self.server = self._start()
        except BaseException:
            shutil.rmtree(self.folder)
            raise

    def _make(self):
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)  # inside a folder that nobody else enters
        command = [program("initdb"), "-D", str(self.folder / "data"), "-U", "anna", "--pwfile", str(secret)]
        command += ["-A", "scram-sha-256", "-E", "UTF8", "--locale", "C.UTF-8", "--no-sync"]
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=self.folder, **self.rights)
        assert done.returncode == 0, done.stderr

    def _start(self):
        command = [program("postgres"), "-D", str(self.folder / "data"), "-p", str(self.port), "-k", str(self.folder)]
        command += ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "lc_messages=C"]
        with self.log.open("wb") as log:
            server = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, **self.rights)
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline and server.poll() is None:
            try:
                with self.connect("postgres") as connection:
                    connection.execute("CREATE DATABASE shop")
            except psycopg.OperationalError:
                time.sleep(0.1)
            else:
                return server
        server.kill()
        raise AssertionError(self.log.read_text())

    def connect(self, database="shop"):
        place = {"host": "127.0.0.1", "port": self.port, "dbname": database}
        return psycopg.connect(user="anna", password=PASSWORD, autocommit=True, **place)

    def stop(self):
        self.server.send_signal(2)  # ends sessions and closes the files
        self.server.wait(120)
        shutil.rmtree(self.folder)
