"""Burns CPU time in functions, a generator, a coroutine, C calls and threads, and measures it by the threads' CPU clocks.
Prints the seconds of each as JSON.

    shares.py ROUNDS"""
import collections
import json
import sys
import threading
import time
import zlib

seconds = collections.Counter()


def measured(function):
    def call(*arguments):
        begin = time.thread_time()
        function(*arguments)
        seconds[function.__name__] += time.thread_time() - begin
    return call


def spin(n):
    for i in range(n):
        i + 1


@measured
def loop():
    spin(150000)


@measured
def c_call():
    zlib.crc32(DATA)


def items():
    for n in (30000, 60000):
        begin = time.thread_time()
        spin(n)
        seconds["items"] += time.thread_time() - begin
        yield n


def generator():
    for _ in items():
        spin(10000)


async def inner():
    begin = time.thread_time()
    spin(60000)
    seconds["inner"] += time.thread_time() - begin


async def coroutine():
    await inner()


@measured
def in_a_thread():
    spin(120000)


DATA = bytes(8 << 20)


def run():
    for _ in range(int(sys.argv[1])):
        loop()
        c_call()
        generator()
        try:
            coroutine().send(None)
        except StopIteration:
            pass


def threaded():
    for _ in range(int(sys.argv[1])):
        in_a_thread()


thread = threading.Thread(target=threaded)
thread.start()
run()
thread.join()
print(json.dumps(seconds))
