"""products.py LIBRARY ROUNDS [together]: OpenBLAS decomposes matrices of double precision, called by one thread after the
other, which then wait, and multiplies matrices of single precision, called by the main thread. Or two threads do that
together."""
import array
import ctypes
import random
import sys
import threading

N = 500
blas = ctypes.CDLL(sys.argv[1])
rounds = int(sys.argv[2])


def matrix(kind):
    chance = random.Random(1)
    return array.array(kind, (chance.random() for _ in range(N * N)))


def place(values):
    return ctypes.c_void_p(values.buffer_info()[0])


def single(a, b, c):
    one = ctypes.c_float(1)
    blas.cblas_sgemm(101, 111, 111, N, N, N, one, place(a), N, place(b), N, one, place(c), N)


def double(a, pivots):
    n, info = ctypes.c_int(N), ctypes.c_int()
    blas.dgetrf_(ctypes.byref(n), ctypes.byref(n), place(a), ctypes.byref(n), place(pivots), ctypes.byref(info))


def products():
    a, b, c = matrix("f"), matrix("f"), matrix("f")
    for _ in range(rounds):
        single(a, b, c)


def decompositions(rounds=rounds):
    a, pivots = matrix("d"), array.array("i", bytes(4 * N))
    for _ in range(rounds):
        double(array.array("d", a), pivots)


def decompositions_first(done, end):
    decompositions(rounds // 5)
    done.wait()
    end.wait()


if sys.argv[3:] == ["together"]:
    threads = [threading.Thread(target=products), threading.Thread(target=decompositions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
else:
    end = threading.Barrier(6)
    for _ in range(5):
        done = threading.Barrier(2)
        threading.Thread(target=decompositions_first, args=(done, end)).start()
        done.wait()
    products()
    end.wait()
