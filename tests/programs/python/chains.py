"""Each function's name says by what path it was called: f1_0 was called by f1, and burn by a function of depth 4. The
calls go through C and Python's machinery in many ways.

    chains.py ROUNDS THREADS"""
import functools
import random
import sys
import threading

WAYS = {
    "plain": "    a()\n    b()",
    "sort": "    sorted([0, 1], key=lambda x: (a if x else b)() or 0)",
    "map": "    list(map(lambda f: f(), [a, b]))",
    "generator": "    def g():\n        yield a()\n        yield b()\n    sum(1 for _ in g())",
    "init": "    class T:\n        def __init__(self, f):\n            f()\n    T(a)\n    T(b)",
    "property": "    class P:\n        @property\n        def x(self):\n            return a()\n    P().x\n    b()",
    "list": "    [f() for f in (a, b)]",
    "exec": "    exec('a()\\nb()', {'a': a, 'b': b})",
    "partial": "    functools.partial(a)()\n    functools.partial(b)()",
    "reduce": "    functools.reduce(lambda s, f: f(), [a, b], 0)",
    "class body": "    class C:\n        a()\n        b()",
    "await": "    async def c():\n        a()\n        b()\n    async def d():\n        await c()\n"
             "    try:\n        d().send(None)\n    except StopIteration:\n        pass",
    "finalizer": "    class F:\n        def __del__(self):\n            a()\n    x = F()\n    del x\n    b()",
    "handler": "    try:\n        [][a() or 1]\n    except IndexError:\n        b()",
}


def burn():
    s = 0
    for i in range(2000):
        s += i
    return s


def make(name, depth, way):
    """A function of this name, which calls two others. Their code objects are new, and soon freed."""
    if depth == 0:
        source, others = "    burn()", {"burn": burn}
    else:
        source = WAYS[way.choice(list(WAYS))]
        others = {"a": make(f"{name}_0", depth - 1, way), "b": make(f"{name}_1", depth - 1, way),
                  "functools": functools}
    exec(compile(f"def {name}():\n{source}\n", "made.py", "exec"), others)
    return others[name]


def run(number, rounds):
    way = random.Random(number)
    for _ in range(rounds):
        make(f"f{number}", 4, way)()


THREADS = [threading.Thread(target=run, args=(i, int(sys.argv[1]))) for i in range(int(sys.argv[2]))]
for thread in THREADS:
    thread.start()
for thread in THREADS:
    thread.join()
