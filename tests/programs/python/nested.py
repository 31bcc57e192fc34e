"""nested.py MODULE: parallel regions, whose threads call Python, which begins parallel regions. The module's functions are
in region-extension.c or loops-extension.cpp."""
import importlib
import sys

module = importlib.import_module(sys.argv[1])


def inner():
    module.region(2000000)


def outer():
    module.region(1000, inner)


for _ in range(4):
    outer()
