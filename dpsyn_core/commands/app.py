"""`dpsyn app`: opens the app in a browser, served on this machine only."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser("app", help="open the app in a browser")
    parser.add_argument("--port", type=int, help="port on 127.0.0.1; default the first free one from 8501")
    parser.add_argument("--no-browser", action="store_true", help="serve without opening a browser")
    parser.add_argument(
        "--class",
        action="store_true",
        dest="for_class",
        help="serve the labs of the Learn page alone: nobody can upload, run or spend anything",
    )
    parser.add_argument(
        "--host",
        metavar="NAME",
        help="with --class: serve on every address of this machine, for visitors who ask for it by this name or number",
    )
    parser.set_defaults(run=run)


def app_folder() -> Path:
    """The folder of app.py: inside the package when installed, beside it in a clone."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_app"
    return installed if (installed / "app.py").exists() else package.parent


def free_port(wanted: int | None) -> int:
    """The requested port, or the first free one from 8501. Raises SettingError when there is none."""
    import socket

    from dpsyn_core.errors import SettingError

    if wanted is not None and not 1 <= wanted <= 65535:
        msg = f"--port is {wanted}; it must lie between 1 and 65535"
        raise SettingError(msg)
    for port in [wanted] if wanted else range(8501, 8601):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    msg = f"port {wanted} is in use; name another with --port" if wanted else "no port is free from 8501 to 8600"
    raise SettingError(msg)


def run(args: argparse.Namespace) -> None:
    """Runs Streamlit in this process's place until it is interrupted."""
    import os
    import sys

    from dpsyn_core.errors import SettingError
    from dpsyn_core.extras import require
    from dpsyn_core.platforms import become
    from dpsyn_core.runs import check_places_apart

    require("app", "the app")

    if args.host and not args.for_class:
        msg = "--host is for --class alone; docs/deploy.md says how to serve the whole app to others"
        raise SettingError(msg)
    check_places_apart()
    folder = app_folder()
    port = free_port(args.port)
    headless = "true" if args.no_browser else "false"
    print(f"DPSyn Studio is at http://{args.host or '127.0.0.1'}:{port} (stop with Ctrl-C)", flush=True)
    command = [
        sys.executable, "-m", "ui.start", "run", str(folder / "app.py"),
        "--server.port", str(port), "--server.headless", headless,
    ]  # fmt: skip
    if args.for_class:
        os.environ["DPSYN_CLASSROOM"] = "1"
        os.environ["DPSYN_WARM_UP"] = "0"  # nothing will run
        command += ["--server.maxUploadSize", "0"]
        if args.host:
            command += ["--server.address", "0.0.0.0", "--server.allowedHosts", args.host]  # noqa: S104 asked for
    # Streamlit reads the configuration and the theme from the current folder, so that is the app's own, with its `ui`
    become(command, folder)
