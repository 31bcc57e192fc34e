"""Threads wait for others by locks of threading that are no locks: while the function `burn` runs, which has no lock.
Condition.wait, Event.wait, Queue.get, SimpleQueue.get and Thread.join each wait for a semaphore (CPython up to 3.12).

    no-lock-waits.py ITERATIONS"""
import hashlib
import queue
import sys
import threading


def burn():
    hashlib.pbkdf2_hmac("sha256", b"password", b"salt", int(sys.argv[1]))


EVENT = threading.Event()
QUEUE = queue.Queue()
SIMPLE = queue.SimpleQueue()


def waiter():
    EVENT.wait()
    QUEUE.get()
    SIMPLE.get()


def burner():
    for tell in EVENT.set, lambda: QUEUE.put(1), lambda: SIMPLE.put(1):
        burn()
        tell()
    burn()


THREADS = [threading.Thread(target=target) for target in (waiter, burner)]
for thread in THREADS:
    thread.start()
for thread in reversed(THREADS):
    thread.join()
