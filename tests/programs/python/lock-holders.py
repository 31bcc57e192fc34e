"""Threads hold a lock of threading for 70, 20 and 10 % of the time in three functions, which let go of the GIL.
Prints how long the threads have waited for it, in seconds of their own clocks.

    lock-holders.py ROUNDS THREADS KIND        KIND: Lock, RLock, Condition"""
import hashlib
import sys
import threading
import time

LOCK = getattr(threading, sys.argv[3])()
WAITED = []


def burn(iterations):
    hashlib.pbkdf2_hmac("sha256", b"password", b"salt", iterations)


def heavy():
    burn(7000)


def middle():
    burn(2000)


def light():
    burn(1000)


def work(rounds):
    waited = 0
    for _ in range(rounds):
        for function in heavy, middle, light:
            begin = time.perf_counter()
            with LOCK:
                waited += time.perf_counter() - begin
                function()
    WAITED.append(waited)


THREADS = [threading.Thread(target=work, args=(int(sys.argv[1]),)) for _ in range(int(sys.argv[2]))]
for thread in THREADS:
    thread.start()
for thread in THREADS:
    thread.join()
print(f"waited {sum(WAITED):.3f} s")
