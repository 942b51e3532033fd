"""Entry of the page, the Space and the command line: `python app.py --help`."""

import sys

from ui.cli import main

if __name__ == "__main__":
    sys.exit(main())
