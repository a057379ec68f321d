"""`python -m dpsyn_core` is the command `dpsyn`, where the folder of installed commands is not on the path."""

import sys

from dpsyn_core.commands import main

if __name__ == "__main__":
    sys.exit(main())
