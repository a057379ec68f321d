"""`dpsyn key`: an owner's Ed25519 key, with which manifests are signed."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

VARIABLE = "DPSYN_PASSPHRASE"  # of the environment; else the passphrase is asked for on the terminal


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser("key", help="make a key, sign manifests with it")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=type(parser))
    new = actions.add_parser("new", help="write a private key (readable by you alone) and KEY.pub beside it")
    new.add_argument("key", metavar="KEY", type=Path)
    new.add_argument("--passphrase", action="store_true", help=f"lock it; asked for, or taken from {VARIABLE}")
    new.set_defaults(run=run_new)
    sign = actions.add_parser(
        "sign",
        help="sign a manifest in its place",
        description="Signs a manifest that nothing at hand contradicts. The schema says whether something was read "
        "from the data, so it is asked for: a manifest alone does not show that somebody edited it toward private.",
    )
    sign.add_argument("manifest", metavar="M.json", type=Path)
    sign.add_argument("--key", metavar="KEY", type=Path, required=True)
    public = sign.add_mutually_exclusive_group(required=True)
    public.add_argument("--schema", type=Path, help="that the run was made with")
    public.add_argument("--items", type=Path, metavar="ITEMS.txt", help="of a release of itemsets from transactions")
    sign.add_argument(
        "--measurements", type=Path, metavar="M.json.gz", help="also hold the released marginals against it"
    )
    sign.add_argument("--table", type=Path, help="also hold the released table against it")
    sign.set_defaults(run=run_sign)
    show = actions.add_parser("show", help="print the fingerprint of a key, to be told to others")
    show.add_argument("key", metavar="KEY", type=Path)
    show.set_defaults(run=run_show)


def run_new(args: argparse.Namespace) -> None:
    """Makes a key."""
    from dpsyn_core.privacy import new_key, public_path

    pair = new_key(args.key, passphrase("new passphrase: ", twice=True) if args.passphrase else None)
    print(f"wrote {args.key} (keep it to yourself) and {public_path(args.key)}: key {pair}")


def run_sign(args: argparse.Namespace) -> None:
    """Signs a manifest that nothing at hand contradicts. Raises ReceiptError."""
    from dpsyn_core.errors import ReceiptError
    from dpsyn_core.privacy import Manifest, fingerprint
    from dpsyn_core.runs import signing_faults
    from dpsyn_core.schema import Schema
    from dpsyn_core.tables import read_items

    stated = Manifest.load(args.manifest)
    faults = signing_faults(
        stated,
        schema=None if args.schema is None else Schema.load(args.schema),
        items=None if args.items is None else read_items(args.items),
        measurements=args.measurements,
        table=args.table,
    )
    if faults:
        msg = f"'{args.manifest.name}' is not signed: {'; '.join(faults)}"
        raise ReceiptError(msg)
    signed = stated.signed(open_key(args.key))
    signed.dump(args.manifest)
    if signed.signature is not None:
        print(f"signed {args.manifest} by the key {fingerprint(signed.signature.key)}")


def run_show(args: argparse.Namespace) -> None:
    """Prints a fingerprint."""
    from dpsyn_core.privacy import fingerprint, public_key

    print(fingerprint(public_key(args.key)))


def open_key(path: Path) -> Any:
    """A private key; asks for its passphrase where it has one. Raises InputError."""
    from dpsyn_core.privacy import load_key, locked

    return load_key(path, passphrase(f"passphrase of {path.name}: ") if locked(path) else None)


def passphrase(prompt: str, *, twice: bool = False) -> bytes:
    """From the environment, else from the terminal. Raises SettingError when it is empty or the two differ."""
    from getpass import getpass

    from dpsyn_core.errors import SettingError

    secret = os.environ.get(VARIABLE)
    if secret is None:
        secret = getpass(prompt)
        if twice and getpass("once more: ") != secret:
            msg = "the two passphrases differ; nothing was written"
            raise SettingError(msg)
    if not secret:
        msg = f"the passphrase is empty; set {VARIABLE} or type one"
        raise SettingError(msg)
    return secret.encode()
