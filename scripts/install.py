#!/usr/bin/env -S uv run --script
# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
"""Install the skill for agents, remove it, or pack it; installation.py says how.

Examples:
  install.py install
  install.py install --dir project/.claude/skills
  install.py uninstall
  install.py package
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # PYTHONSAFEPATH leaves it out

from websearch.installation import main

if __name__ == "__main__":
    raise SystemExit(main())
