"""Hooks of the site (mkdocs.yml): pages made from docstrings and from the command, and links that leave docs/."""

from __future__ import annotations

import inspect
import posixpath
import re
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1]
# documents of the root that are pages of the site, and where
ABOUT = {
    "ARCHITECTURE.md": "about/architecture.md",
    "CONTRIBUTING.md": "about/contributing.md",
    "CHANGELOG.md": "about/changelog.md",
    "SECURITY.md": "about/security.md",
}
MOVED = ABOUT | {"README.md": "index.md"}
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s]+)\)")


def command_page() -> str:
    """Every sub-command with its help, as the command declares it."""
    import argparse
    import os

    from dpsyn_core.commands.cli import build_parser, command_modules

    os.environ["COLUMNS"] = "84"  # argparse wraps at the width of the terminal, and a page shows this much
    parts = [
        "# The command",
        "",
        "Made from the command's own declarations: `dpsyn COMMAND --help` prints the same.",
        "",
    ]
    for name in command_modules():
        parser = build_parser([name])
        made = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction)).choices[name]
        parts += [f"## dpsyn {name}", ""]
        for title, text in _helps(made):
            parts += ([f"### {title}", ""] if title != f"dpsyn {name}" else []) + ["```text", text.rstrip(), "```", ""]
    return "\n".join(parts)


def _helps(parser: Any) -> list[tuple[str, str]]:
    """The help of a parser and of its actions."""
    import argparse

    for _, declare in reversed(getattr(parser, "_later", [])):  # arguments that are heavy to declare
        declare()
    out = [(parser.prog, parser.format_help())]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            out += [pair for child in action.choices.values() for pair in _helps(child)]
    return out


def python_page() -> str:
    """Every public name with its docstring."""
    import dpsyn_core

    parts = ["# Python", "", "Made from the docstrings of `dpsyn_core`. Other names may change with any release.", ""]
    for name in dpsyn_core.__all__:
        found = getattr(dpsyn_core, name)
        call = "" if inspect.isclass(found) and issubclass(found, BaseException) else _signature(found)
        parts += [f"## {name}", "", "```python", f"{name}{call}", "```", ""]
        parts += ["```text", inspect.getdoc(found) or "", "```", ""]
        if inspect.isclass(found) and not issubclass(found, BaseException):
            for method, function in vars(found).items():
                plain = getattr(function, "__func__", function)
                if not method.startswith("_") and inspect.isfunction(plain) and inspect.getdoc(plain):
                    parts += [f"### {name}.{method}", "", "```python", f"{method}{_signature(plain)}", "```", ""]
                    parts += ["```text", inspect.getdoc(plain) or "", "```", ""]
    return "\n".join(parts)


def _signature(found: Any) -> str:
    """The parameters, one a line where there are many."""
    text = str(inspect.signature(found))
    return text if len(text) < 90 else text.replace(", ", ",\n    ").replace("(", "(\n    ", 1)


def relinked(text: str, place: str) -> str:
    """A document whose links lead to pages of the site; links to code become the name of the file.

    Args:
        text: Markdown.
        place: of the document in the project, such as docs/schema.md.
    """
    page = posixpath.relpath(place, "docs") if place.startswith("docs/") else MOVED[place]

    def moved(match: re.Match[str]) -> str:
        words, target = match[1], match[2]
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        name, mark, anchor = target.partition("#")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(place), name))
        inside = posixpath.relpath(file, "docs") if file.startswith("docs/") else MOVED.get(file)
        if inside is None or (PROJECT / file).is_dir():
            return words if words.startswith("!") else words[1:-1]
        return f"{words}({posixpath.relpath(inside, posixpath.dirname(page) or '.')}{mark}{anchor})"

    pieces = re.split(r"(^```.*?^```[^\n]*$)", text, flags=re.MULTILINE | re.DOTALL)  # code stays as it is written
    return "".join(p if p.startswith("```") else LINK.sub(moved, p) for p in pieces)


# pages of the site that are made, and by what
REFERENCE = {"reference/command.md": command_page, "reference/python.md": python_page}


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages that lie outside docs/ or are made."""
    from mkdocs.structure.files import File

    made = {page: make() for page, make in REFERENCE.items()}
    for name, page in ABOUT.items():
        made[page] = relinked((PROJECT / name).read_text(encoding="utf-8"), name)
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links of a page in docs/ that lead out of it."""
    path = page.file.src_uri
    return markdown if path in ABOUT.values() or path in REFERENCE else relinked(markdown, f"docs/{path}")
