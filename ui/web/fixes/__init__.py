"""From a failing run to a working one: what the page's fixes, experiments and hand-overs do."""
