"""Workers in processes of all kinds, each of which burns in a function of its own."""
import concurrent.futures
import multiprocessing
import subprocess
import sys


def burn():
    s = 0
    for i in range(400000):
        s += i


def fork():
    burn()


def spawn():
    burn()


def forkserver():
    burn()


def future(_):
    burn()


if __name__ == "__main__":
    for kind in (fork, spawn, forkserver):
        process = multiprocessing.get_context(kind.__name__).Process(target=kind)
        process.start()
        process.join()
        assert process.exitcode == 0
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        list(pool.map(future, range(4)))
    subprocess.run([sys.executable, "-c", "def program():\n    for i in range(400000):\n        i + 1\nprogram()"],
                   check=True)
