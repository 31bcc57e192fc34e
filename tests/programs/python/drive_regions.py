"""Python calls C (region-extension.c), which begins parallel regions of OpenMP, whose threads call Python."""
import regions


def back():
    s = 0
    for i in range(20000):
        s += i
    back_inner(s)


def back_inner(s):
    for i in range(20000):
        s += i


def first():
    regions.region(4000000)


def second():
    regions.tasks(1000000)


def third():
    regions.region(1000, back)


for _ in range(8):
    first()
    second()
    third()
