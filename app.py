"""Entry of the page, the Space and the command line in a checkout: `python app.py --help`."""

import sys

from prompt_debugger.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
