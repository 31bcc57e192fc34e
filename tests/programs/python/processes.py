"""Workers in processes of all kinds, each of which burns in a function of its own."""
import concurrent.futures
import multiprocessing
import subprocess
import sys


def burn():
    s = 0
    for i in range(400000):
        s += i


def by_fork():
    burn()


def by_spawn():
    burn()


def by_forkserver():
    burn()


def by_future(_):
    burn()


if __name__ == "__main__":
    for kind in (by_fork, by_spawn, by_forkserver):
        process = multiprocessing.get_context(kind.__name__[3:]).Process(target=kind)
        process.start()
        process.join()
        assert process.exitcode == 0
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        list(pool.map(by_future, range(4)))
    code = "from sys import path\ndef by_program():\n    for i in range(400000):\n        i + 1\nby_program()"
    subprocess.run([sys.executable, "-c", code], check=True)
