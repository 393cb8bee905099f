"""The tests. Their modules import those of scripts/ by name, as the scripts themselves do."""

import os
import sys
from pathlib import Path

# Another folder of scripts: a test of the table of engines runs the checks on a changed copy.
SCRIPTS = Path(os.environ.get("TEST_SCRIPTS") or Path(__file__).resolve().parent.parent / "scripts")
if str(SCRIPTS) not in sys.path:
    sys.path.insert(0, str(SCRIPTS))
