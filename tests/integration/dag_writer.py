"""Recorded dags (doc/FORMAT-database.md, spawn-dags) for tests."""
from measurement_writer import varints

UNITS = 1024 * 10**9  # in a second
VERSION = 1
NOTHING, STRAND, FIRST_NODE = 0, 1, 2
SPAWNS, SERIES, SUMMARY = 0, 1, 2


def dag(*nodes, burden=0):
    """A node: its kind, and for each item what is spawned, how often, strand and work in seconds."""
    numbers = [VERSION, len(nodes), burden]
    for kind, *items in nodes:
        times = [round(time * UNITS) for item in items for time in item[2:]]
        numbers += [kind, sum(times), sum(times), len(items)]
        for (child, count, _, _), strand, work in zip(items, times[::2], times[1::2]):
            numbers += [child, count, strand, work]
    return varints(*numbers)


def dag_file(*dags):
    """A spawn-dags."""
    return b"HPCDAGS1" + b"".join(len(one).to_bytes(8, "little") + one for one in dags)
