#!/usr/bin/env -S uv run --script
# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
"""Install the skill for agents, remove it, pack it, or install its tool for opencode.

Examples:
  install.py install
  install.py install --dir project/.claude/skills
  install.py install --command
  install.py uninstall
  install.py package
  install.py opencode --dir project

install copies the files for agents to web-search/ in ~/.claude/skills ($CLAUDE_CONFIG_DIR/skills,
if that is set) and ~/.agents/skills, or in the skills folder set with --dir. A copy that differs is
replaced, completely or not at all, with all of its scripts/, references/ and assets/; your other
files in it are kept. Other folders, links and clones of the repository are never touched.

With --command, it also writes the command web-search, which runs web_search.py, to ~/.local/bin.

package writes dist/web-search.skill (a zip file of the copied files), dist/web-search.mcpb (a
bundle for Claude Desktop) and dist/server.json (the entry for the MCP registry), reproducible byte
for byte.

opencode copies the tool and the plugin to the user's folder ($OPENCODE_CONFIG_DIR, else
~/.config/opencode), or to PROJECT/.opencode with --dir PROJECT. Other files are neither replaced
nor removed.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # PYTHONSAFEPATH omits it

from websearch.machine import installation


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    return installation.main(__doc__ or "", argv)


if __name__ == "__main__":
    raise SystemExit(main())
