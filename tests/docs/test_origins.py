"""The page of benchmarks says of every table when and on what machine it was made."""

import re

from docs.tools import origins


def test_every_table_is_listed_with_the_machine_that_it_names():
    (part,) = origins.PART.findall(origins.PAGE.read_text())
    listed = re.findall(r"^- ([\w-]+): ([0-9a-f]{7,}), \d{4}-\d\d-\d\d; (.+)$", part, re.M)
    expected = [(name, origins.machine_of(name)) for name in origins.names()]
    assert [(name, machine) for name, _, machine in listed] == expected, (
        "python -m docs.tools.origins"
    )


def test_machines_are_told_apart_from_what_else_a_table_was_made_with():
    assert origins.machine_of("growth").startswith("AMD")
    assert origins.machine_of("studio").startswith(("AMD", "Intel"))
