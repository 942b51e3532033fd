"""From a failing run to a working one: what the page's cures, experiments and hand-overs do."""
