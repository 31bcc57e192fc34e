"""Functions of 16 families call each other without a pause: a path never has functions of two families. They are alike, so
that frames of all families lie at the same addresses.

    families.py SECONDS    of CPU time; leaf is called by e_0 to e_15, e_3 by d_3, and so on, a_3 by run"""
import sys
import time


def leaf(n):
    s = 0
    for i in range(n):
        s += i
    return s


def make(family):
    """The outermost function of a family."""
    functions = {"leaf": leaf}
    below = "leaf"
    for letter in "edcba":
        name = f"{letter}_{family}"
        exec(f"def {name}(n):\n    return {below}(n)\n", functions)
        below = name
    return functions[below]


def run(seconds):
    families = [make(family) for family in range(16)]
    while time.process_time() < seconds:
        for _ in range(200):
            for family in families:
                family(3)


run(float(sys.argv[1]))
