"""Threads hold the interpreter's lock for 70, 20 and 10 % of the time in three functions, whose loops are the same.

    holders.py ROUNDS THREADS"""
import sys
import threading


def heavy():
    for i in range(70000):
        i + 1


def middle():
    for i in range(20000):
        i + 1


def light():
    for i in range(10000):
        i + 1


def work(rounds):
    for _ in range(rounds):
        heavy()
        middle()
        light()


THREADS = [threading.Thread(target=work, args=(int(sys.argv[1]),)) for _ in range(int(sys.argv[2]))]
for thread in THREADS:
    thread.start()
for thread in THREADS:
    thread.join()
