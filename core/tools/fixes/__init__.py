"""From a failing run to a report that a maintainer can run."""
