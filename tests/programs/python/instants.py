"""Calls itself in many ways, and says at 10,000 instants what its call chain is: prints each chain once, as a line of JSON
with the functions' qualified names and the lines that they execute, the outermost function first.

    instants.py INSTANTS"""
import functools
import json
import random
import sys

choose = random.Random(1)
chains = set()


def burn():
    s = 0
    for i in range(600):
        s += i


def instant():
    chain, frame = [], sys._getframe()
    while frame:
        chain.append((frame.f_code.co_qualname, frame.f_lineno))
        frame = frame.f_back
    chains.add(tuple(chain[:0:-1]))
    burn()


def plain(depth):
    call(depth)
    call(depth)


def comprehension(depth):
    return [call(depth)
            for _ in range(2)]


def generator(depth):
    def items():
        yield call(depth)
        yield call(
            depth)
    for _ in items():
        pass


def delegating(depth):
    def inner():
        yield call(depth)

    def outer():
        yield from inner()
        yield call(depth)
    list(outer())


def key(depth):
    sorted([1, 2],
           key=lambda x: call(depth) or x)


def cached(depth):
    @functools.lru_cache
    def inner(x):
        call(depth)
    inner(1)


class Method:
    def __init__(self, depth):
        self.depth = depth
        call(depth)

    @property
    def value(self):
        return call(self.depth)

    def __lt__(self, other):
        call(self.depth)
        return True

    def __enter__(self):
        call(self.depth)

    def __exit__(self, *_):
        call(self.depth)


def methods(depth):
    with Method(depth) as m:
        pass
    Method(depth).value
    min(Method(depth), Method(depth))


def failing(depth):
    try:
        raise KeyError(call(depth))
    except KeyError:
        call(depth)
    finally:
        call(depth)


WAYS = (plain, comprehension, generator, delegating, key, cached, methods, failing)
left = int(sys.argv[1])


def call(depth):
    global left
    if left <= 0:
        return
    if depth == 0:
        left -= 1
        instant()
    else:
        choose.choice(WAYS)(depth - 1)


while left > 0:
    call(6)
for chain in chains:
    print(json.dumps(chain))
