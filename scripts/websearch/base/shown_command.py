"""The type of the package's commands, which includes the function that formats the document."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from websearch.kit import Command, Document

    class ShownCommand(Command, total=False):
        """A command in the package."""

        to_markdown: Callable[[Document], str]
