"""The faces of the product: the page, the command line, and what both show."""
