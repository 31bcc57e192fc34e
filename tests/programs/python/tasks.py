"""Each coroutine's name says which one waits for it: f0_1 is awaited by f0, in one of the ways of asyncio. Coroutines of
depth 3 call burn.

    tasks.py ROUNDS"""
import asyncio
import random
import sys

WAYS = {
    "await": "    await a()\n    await b()",
    "task": "    t = asyncio.create_task(a())\n    await asyncio.sleep(0)\n    await t\n    await b()",
    "gather": "    await asyncio.gather(a(), b())",
    "gather in gather": "    await asyncio.gather(asyncio.gather(a()), asyncio.gather(b()))",
    "wait": "    await asyncio.wait([asyncio.create_task(a()), asyncio.create_task(b())])",
    "wait_for": "    await asyncio.wait_for(a(), 60)\n    await asyncio.wait_for(b(), None)",
    "shield": "    await asyncio.shield(a())\n    await b()",
    "group": "    async with asyncio.TaskGroup() as group:\n        group.create_task(a())\n"
             "        await asyncio.sleep(0)\n        group.create_task(b())",
    "async for": "    async def g():\n        yield await a()\n        yield await b()\n    async for _ in g():\n        pass",
}


def burn():
    s = 0
    for i in range(2000):
        s += i
    return s


def make(name, depth, way):
    """A coroutine function of this name, which awaits two others."""
    if depth == 0:
        source, others = "    await asyncio.sleep(0)\n    burn()", {"burn": burn}
    else:
        source = WAYS[way.choice(list(WAYS))]
        others = {"a": make(f"{name}_0", depth - 1, way), "b": make(f"{name}_1", depth - 1, way)}
    others["asyncio"] = asyncio
    exec(compile(f"async def {name}():\n{source}\n", "made.py", "exec"), others)
    return others[name]


async def alone():
    """A task for which nothing waits."""
    for _ in range(int(sys.argv[1])):
        burn()
        await asyncio.sleep(0)


async def main():
    way = random.Random(1)
    task = asyncio.create_task(alone())
    task.add_done_callback(print)
    for _ in range(int(sys.argv[1])):
        await make("f0", 3, way)()


asyncio.run(main())
