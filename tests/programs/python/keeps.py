"""A thread calls a C function that keeps the interpreter's lock, while another one wants it."""
import re
import threading

SLOW = re.compile(20 * "a?" + 20 * "a")
done = False


def matches():
    global done
    for _ in range(5):
        assert SLOW.match(20 * "a")
    done = True


def loop():
    while not done:
        pass


THREADS = [threading.Thread(target=f) for f in (loop, matches)]
for thread in THREADS:
    thread.start()
for thread in THREADS:
    thread.join()
