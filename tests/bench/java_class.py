"""A Java class file, so that the benchmarks need no Java compiler: `java -cp DIR Fib`."""
import struct

PUBLIC_STATIC, PUBLIC, SUPER = 0x0009, 0x0001, 0x0020
VERSION = 49  # the last one without stack maps


class ConstantPool:
    def __init__(self):
        self.entries = []

    def add(self, entry):
        if entry not in self.entries:
            self.entries.append(entry)
        return self.entries.index(entry) + 1

    def text(self, value):
        return self.add(b"\x01" + struct.pack(">H", len(value)) + value.encode())

    def number(self, value):
        return self.add(b"\x03" + struct.pack(">i", value))

    def class_(self, name):
        return self.add(b"\x07" + struct.pack(">H", self.text(name)))

    def method(self, owner, name, descriptor):
        pair = self.add(b"\x0c" + struct.pack(">HH", self.text(name), self.text(descriptor)))
        return self.add(b"\x0a" + struct.pack(">HH", self.class_(owner), pair))


def method(pool, name, descriptor, stack, variables, code):
    attribute = struct.pack(">HHI", stack, variables, len(code)) + code + bytes(4)
    return (struct.pack(">HHHH", PUBLIC_STATIC, pool.text(name), pool.text(descriptor), 1)
            + struct.pack(">HI", pool.text("Code"), len(attribute)) + attribute)


def fib_class(times):
    """static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    public static void main(String[] a) { for (int i = `times`; i > 0; i--) fib(32); }"""
    pool = ConstantPool()
    fib = struct.pack(">H", pool.method("Fib", "fib", "(I)I"))
    fib_code = (b"\x1a\x05\xa2\x00\x05\x1a\xac"                         # if (n < 2) return n
                b"\x1a\x04\x64\xb8" + fib + b"\x1a\x05\x64\xb8" + fib  # fib(n - 1), fib(n - 2)
                + b"\x60\xac")                                         # return their sum
    main_code = (b"\x13" + struct.pack(">H", pool.number(times)) + b"\x3c"  # i = times
                 + b"\x10\x20\xb8" + fib + b"\x57"                          # fib(32)
                 + b"\x84\x01\xff\x1b\x9d" + struct.pack(">h", -10) + b"\xb1")  # while (--i > 0)
    methods = [method(pool, "fib", "(I)I", 3, 1, fib_code),
               method(pool, "main", "([Ljava/lang/String;)V", 1, 2, main_code)]
    names = struct.pack(">HHH", PUBLIC | SUPER, pool.class_("Fib"), pool.class_("java/lang/Object"))
    return (struct.pack(">IHHH", 0xcafebabe, 0, VERSION, len(pool.entries) + 1) + b"".join(pool.entries)
            + names + struct.pack(">HHH", 0, 0, len(methods)) + b"".join(methods) + bytes(2))
