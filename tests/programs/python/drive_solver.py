"""A Python driver above a solver that steals work (solver-extension.c), which calls Python."""
import solver


def at_leaf():
    for i in range(3000):
        i + 1


def step():
    assert solver.solve(9, at_leaf) == 0


def driver():
    for _ in range(4):
        step()


driver()
