"""Decoding of Protocol Buffers, and of pprof's profile.proto by it: as much as the tests need,
written from the formats' descriptions."""
import gzip


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of the fields of a message: value is an int, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            if at + size > len(data):
                raise ValueError("a field goes beyond its message")
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {key & 7}")
        yield key >> 3, value


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def numbers(data):
    """A message of numbers as {field: value}."""
    return {number: value for number, value in fields(data) if isinstance(value, int)}


class Pprof:
    """types: [(name, unit)]; samples: [([(function name, line, file, module)], [value])],
    each with the innermost frame first; starts: {function name: its first line}."""

    def __init__(self, data):
        self.strings, mappings, functions, locations, samples, types = [], {}, {}, {}, [], []
        self.default = 0
        for field, value in fields(gzip.decompress(data)):
            if field == 1:
                types.append(numbers(value))
            elif field == 2:
                samples.append({f: packed(v) for f, v in fields(value)})
            elif field == 3:
                mapping = numbers(value)
                if [mapping.get(has) for has in (7, 8, 9, 10)] != [1] * 4:
                    raise ValueError("pprof would look for functions, files, lines or inlined frames")
                self.keep(mappings, mapping)
            elif field == 4:
                location = numbers(value)
                location["lines"] = [numbers(v) for f, v in fields(value) if f == 4]
                self.keep(locations, location)
            elif field == 5:
                self.keep(functions, numbers(value))
            elif field == 6:
                self.strings.append(value.decode("utf-8"))
            elif field == 14:
                self.default = value
            else:
                raise ValueError(f"field {field}")
        if self.strings[0] != "" or len(set(self.strings)) != len(self.strings):
            raise ValueError("the table of strings")
        self.starts = {self.strings[f[2]]: f.get(5, 0) for f in functions.values()}
        self.types = [(self.strings[t[1]], self.strings[t[2]]) for t in types]
        self.default = self.strings[self.default]

        def frame(number):
            location = locations[number]
            line, = location["lines"]
            function = functions[line[1]]
            mapping = mappings[location[2]] if 2 in location else {}
            return (self.strings[function[2]], line.get(2, 0),
                    self.strings[function.get(4, 0)], self.strings[mapping.get(5, 0)])
        self.samples = [([frame(number) for number in sample[1]], sample[2])
                        for sample in samples]

    @staticmethod
    def keep(table, message):
        if message[1] == 0 or message[1] in table:
            raise ValueError("ids are to be unique and not 0")
        table[message[1]] = message
