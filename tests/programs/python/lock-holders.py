"""Threads hold a lock of threading for 70, 20 and 10 % of the time in three functions, which let go of the GIL.
Prints for each function its CPU time with the lock times the threads that wait for it; and how long they waited, by
their own clocks.

    lock-holders.py ROUNDS THREADS KIND        KIND: Lock, RLock or Condition"""
import collections
import hashlib
import sys
import threading
import time

LOCK = getattr(threading, sys.argv[3])()
HELD = collections.Counter()
WAITERS = set()
WAITED = []


def burn(iterations):
    hashlib.pbkdf2_hmac("sha256", b"password", b"salt", iterations)


def heavy():
    burn(35000)


def middle():
    burn(10000)


def light():
    burn(5000)


def work(rounds, number):
    waited = 0
    for _ in range(rounds):
        for function in heavy, middle, light:
            begin = time.perf_counter()
            WAITERS.add(number)
            with LOCK:
                WAITERS.discard(number)
                waited += time.perf_counter() - begin
                before, begin = len(WAITERS), time.thread_time()
                function()
                HELD[function.__name__] += (time.thread_time() - begin) * (before + len(WAITERS)) / 2
    WAITED.append(waited)


THREADS = [threading.Thread(target=work, args=(int(sys.argv[1]), i)) for i in range(int(sys.argv[2]))]
for thread in THREADS:
    thread.start()
for thread in THREADS:
    thread.join()
for name, seconds in HELD.items():
    print(f"{name} {seconds:.6f}")
print(f"waited {sum(WAITED):.6f}")
