"""Threads with names of `threading`, whose objects have their attributes in different ways."""
import concurrent.futures
import threading


def burn():
    s = 0
    for i in range(200000):
        s += i


class WithMore(threading.Thread):
    def __init__(self, name):
        self.before = 1  # so that the name is another attribute than in other threads
        super().__init__(name=name)

    def run(self):
        burn()


with_dict = threading.Thread(target=burn, name="with a dict")
vars(with_dict)["more"] = 1
threads = [threading.Thread(target=burn, name="loader"), with_dict, WithMore("Größe"), WithMore("スレッド"),
           WithMore(100 * "x"), threading.Thread(target=burn)]
for thread in threads:
    thread.start()
with concurrent.futures.ThreadPoolExecutor(1, "pool") as pool:
    pool.submit(burn).result()
for thread in threads:
    thread.join()
