"""Threads hold the lock of a list for 70, 20 and 10 % of the time in three functions. Prints how long they had no CPU,
which is how long they waited for it on a machine with enough CPUs.

    object-lock-holders.py ROUNDS THREADS        with an interpreter without a GIL"""
import sys
import threading
import time

LIST = list(range(2000000))
WAITED = []


def heavy():
    for _ in range(7):
        LIST.reverse()


def middle():
    for _ in range(2):
        LIST.reverse()


def light():
    LIST.reverse()


def work(rounds):
    begin, begin_cpu = time.perf_counter(), time.thread_time()
    for _ in range(rounds):
        heavy()
        middle()
        light()
    WAITED.append(time.perf_counter() - begin - (time.thread_time() - begin_cpu))


THREADS = [threading.Thread(target=work, args=(int(sys.argv[1]),)) for _ in range(int(sys.argv[2]))]
for thread in THREADS:
    thread.start()
for thread in THREADS:
    thread.join()
print(f"waited {sum(WAITED):.6f}")
