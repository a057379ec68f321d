"""What a package index shows of the README: its text, without what the index could not follow.

An index keeps no files of the repository, so a picture with a relative address stays empty there and a relative link
leads nowhere. Hatchling loads this file when it builds (pyproject.toml).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r"!\[[^\]]*\]\((?!https?:)")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:)[^)]*\)")


def index_page(readme: str) -> str:
    """Drops each paragraph or table that has a picture of the repository; of links into it the words stay."""
    return LINK.sub(r"\1", "\n\n".join(block for block in readme.split("\n\n") if not PICTURE.search(block)))


class IndexPage(MetadataHookInterface):
    """The long description."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by Hatchling with the table `project`."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": index_page(text)}
