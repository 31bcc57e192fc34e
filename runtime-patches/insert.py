#!/usr/bin/env python3
"""Inserts the lines of a patch into a user's source tree, or with -R removes them.

usage: insert.py [-R] PATCH TREE

A patch is a text file of these lines; empty lines and those that begin with # are comments:

    file PATH          the file in the tree that the next insertions are for
    before ANCHOR      insert before, or
    after ANCHOR       after the line that contains this text
    | LINE             a line to insert, at the last anchor
    | @NAME            the lines of the file NAME beside the patch

The patch fits if every file exists and every anchor is in exactly one of its lines. Nothing is written
unless the whole patch fits. Exit status: 0 done, 1 nothing was changed.
"""
import os
import sys


class Misfit(Exception):
    pass


class Insertion:
    def __init__(self, path, place, anchor):
        self.path, self.place, self.anchor, self.lines = path, place, anchor, []


def read(path):
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read().split("\n")
    except OSError as error:
        raise Misfit(f"{path}: {error.strerror}") from error


def inserted_lines(patch, text):
    if not text.startswith("@"):
        return [text]
    lines = read(os.path.join(os.path.dirname(patch), text[1:]))
    return lines[:-1] if lines[-1] == "" else lines


def read_patch(patch):
    """The insertions, in their order."""
    insertions, path = [], None
    for number, line in enumerate(read(patch), 1):
        key, _, rest = line.partition(" ")
        if key == "file":
            path = rest
        elif key in ("before", "after") and path and rest:
            insertions.append(Insertion(path, key, rest))
        elif key == "|" and insertions:
            insertions[-1].lines += inserted_lines(patch, rest)
        elif line.strip() and not line.startswith("#"):
            raise Misfit(f"{patch}:{number}: not a line of a patch: {line}")
    return insertions


def position(lines, insertion, path):
    """The index of the first inserted line, or of the line to insert."""
    found = [i for i, line in enumerate(lines) if insertion.anchor in line]
    if len(found) != 1:
        raise Misfit(f"{path}: the patch does not fit: {len(found)} lines with "
                     f"'{insertion.anchor}', not one")
    return found[0] + (insertion.place == "after")


def insert(lines, insertion, path):
    at = position(lines, insertion, path)
    count = len(insertion.lines)
    around = lines[max(at - count, 0):at] + lines[at:at + count]
    if any(around[i:i + count] == insertion.lines for i in range(len(around) - count + 1)):
        raise Misfit(f"{path}: the patch is there already")
    lines[at:at] = insertion.lines


def take_out(lines, insertion, path):
    at, count = position(lines, insertion, path), len(insertion.lines)
    if insertion.place == "before":
        at -= count
    if at < 0 or lines[at:at + count] != insertion.lines:
        raise Misfit(f"{path}: the patch is not there")
    del lines[at:at + count]


def main(arguments):
    reverse = arguments[:1] == ["-R"]
    if len(arguments) != 2 + reverse:
        print(__doc__, file=sys.stderr)
        return 2
    patch, tree = arguments[reverse:]
    changed = {}
    try:
        insertions = read_patch(patch)
        for insertion in reversed(insertions) if reverse else insertions:
            path = os.path.join(tree, insertion.path)
            lines = changed.setdefault(path, None) or read(path)
            (take_out if reverse else insert)(lines, insertion, path)
            changed[path] = lines
    except Misfit as misfit:
        print(f"insert.py: {misfit}; nothing was changed", file=sys.stderr)
        return 1
    for path, lines in changed.items():
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write("\n".join(lines))
        print(f"{path}: {'taken out' if reverse else 'inserted'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
