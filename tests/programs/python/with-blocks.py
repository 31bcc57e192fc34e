"""A thread has a lock in functions hold_*, by blocks of `with` of several kinds, while two others wait for it. One of them
also calls burn without it, right after a block.

    with-blocks.py ROUNDS ITERATIONS"""
import hashlib
import sys
import threading

LOCK, OTHER = threading.Lock(), threading.Lock()
STOP = []


def burn():
    hashlib.pbkdf2_hmac("sha256", b"password", b"salt", int(sys.argv[2]))


def hold_plainly():
    with LOCK:
        burn()


def hold_in_try():
    with OTHER:
        for _ in (1,):
            try:
                with LOCK:
                    try:
                        burn()
                    finally:
                        pass
            except ValueError:
                pass


def hold_in_except():
    with LOCK:
        try:
            raise ValueError
        except ValueError:
            burn()


def call(depth):
    if depth:
        call(depth - 1)
    else:
        burn()


def hold_further_out():
    with LOCK:
        call(20)


def free():
    with LOCK:
        pass
    burn()


def wait(function):
    while not STOP:
        function()


def take():
    with LOCK:
        pass


OTHERS = [threading.Thread(target=wait, args=(function,)) for function in (take, free)]
for thread in OTHERS:
    thread.start()
for _ in range(int(sys.argv[1])):
    for hold in hold_plainly, hold_in_try, hold_in_except, hold_further_out:
        hold()
STOP.append(True)
for thread in OTHERS:
    thread.join()
