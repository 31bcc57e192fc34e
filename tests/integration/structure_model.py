"""A model of program structure for tests: written as an image (doc/FORMAT-structure.md), and queried, independently of hpcprof, for the contexts of an address. Example:

    F("/src/a.c",
      P("main", 10, [(0x1000, 0x1100)],
        S(12, (0x1000, 0x1010)),
        L(20, S(21, (0x1010, 0x1020)),
          A(22, "inlined", "/src/b.h", 5, S(6, (0x1020, 0x1030))))))"""
import functools
import os
import struct

GENERATOR = b"hpcstruct 12"
NONE = 0xffffffff
INLINED, LOOP = 1, 2


def aligned(data):
    return data + bytes(-len(data) % 8)


class Strings:
    """A table of strings; their ids."""

    def __init__(self):
        self.ids = {}

    def id(self, text):
        """The id of a text; NONE of nothing: an unknown file, no kind."""
        if not text:
            return NONE
        return self.ids.setdefault(text, len(self.ids))

    def sections(self):
        texts = [text.encode() + b"\0" for text in self.ids]
        starts = [sum(map(len, texts[:i])) for i in range(len(texts))]
        return (len(starts), struct.pack(f"<{len(starts)}Q", *starts)), (sum(map(len, texts)), b"".join(texts))


class Image:
    """The image of a structure, as hpcstruct writes it (lib/structure-image.h)."""

    def __init__(self, has_lines=False):
        self.data = GENERATOR.ljust(16, b"\0")
        self.fragments, self.has_lines = [], has_lines
        self.names, self.files, self.kinds = Strings(), Strings(), Strings()

    def procedure(self, procedure, file, calls=()):
        """Adds a procedure of a file, with its scopes; `calls`: (address of the last byte, target)."""
        self.scopes, self.statements = [], []
        self.add(procedure.inner, 0, file, self.kinds.id(procedure.tag))
        self.fragments += [(begin, end, len(self.data)) for begin, end in procedure.spans]
        name = procedure.name.encode() + b"\0"
        self.data += struct.pack("<Q8I", procedure.spans[0][0], len(name), self.files.id(file), procedure.line,
                                 len(self.scopes), len(self.statements), len(procedure.waits), len(calls), 0)
        self.data += aligned(name)
        for form, rows in (("<8IQ", self.scopes), ("<QQ4I", self.statements), ("<QQ", procedure.waits), ("<QQ", calls)):
            self.data += b"".join(struct.pack(form, *row) for row in rows)

    def add(self, elements, scope, file, kind):
        """Adds elements in a scope, which has a number, the file of statements that name none, and a kind of overhead."""
        for element in elements:
            of_element = self.kinds.id(element.tag) if element.tag else kind
            if isinstance(element, S):
                of = element.file or file
                self.has_lines |= bool(of and element.line)
                self.statements += [(begin, end, scope, self.files.id(of), element.line if of else 0, of_element)
                                    for begin, end in element.spans if begin < end]
            elif isinstance(element, L):
                of = element.file or file
                self.scopes.append((LOOP, scope, 0, self.files.id(of), element.line, 0, 0, element.pauses, element.header))
                self.add(element.inner, len(self.scopes), of, kind)
            else:
                self.scopes.append((INLINED, scope, self.names.id(element.name), self.files.id(element.file), element.line,
                                    self.files.id(element.call_file or file), element.call_line, 0, 0))
                self.add(element.inner, len(self.scopes), element.file, of_element)

    def encode(self):
        data, places = self.data, b""
        fragments = (len(self.fragments), b"".join(struct.pack("<3Q", *f) for f in self.fragments))
        for n, section in (fragments, *self.names.sections(), *self.files.sections(), *Strings().sections(),
                           *self.kinds.sections()):
            places += struct.pack("<2Q", len(data), n)
            data += aligned(section)
        return data + places + struct.pack("<3Q", self.has_lines, 0, 0)


def function_label(kind, name, file, line, entry):
    """Two functions are the same if name, file and line are; without file, if name and entry are."""
    return (kind, name, file, line) if file else (kind, name, None, entry)


def line_labels(file, line):
    return [("line", file, line)] if file and line else []


class Element:
    """An element and its children; `tag` is the kind of parallel overhead that it is tagged as."""

    def __init__(self, *inner, tag=None):
        self.inner, self.tag = inner, tag

    @functools.cached_property
    def extent(self):
        """From its first address to its last one."""
        extents = [element.extent for element in self.inner]
        return range(min((e.start for e in extents), default=0), max((e.stop for e in extents), default=0))

    def find(self, address, file, labels):
        """Labels of the contexts of an address, or None."""
        for element in self.inner:
            found = element.find(address, file, labels) if address in element.extent else None
            if found is not None:
                return found
        return None

    def tags(self, address):
        """The tags around an address, outermost first; None if the element does not contain it."""
        for element in self.inner:
            found = element.tags(address)
            if found is not None:
                return ([self.tag] if self.tag else []) + found
        return None


class F(Element):
    def __init__(self, path, *procedures):
        super().__init__(*procedures)
        self.path = path


class P(Element):
    """A procedure; `waits` are the spans of system calls that wait."""

    def __init__(self, name, line, spans, *inner, tag=None, waits=()):
        super().__init__(*inner, tag=tag)
        self.name, self.line, self.spans, self.waits = name, line, spans, waits

    def find(self, address, file, labels):
        label = function_label("call", self.name, file, self.line, self.spans[0][0])
        return super().find(address, file, labels + [label])


class S(Element):
    def __init__(self, line, *spans, file=None, tag=None):
        super().__init__(tag=tag)
        self.line, self.spans, self.file = line, spans, file

    @functools.cached_property
    def extent(self):
        return range(min((begin for begin, _ in self.spans), default=0), max((end for _, end in self.spans), default=0))

    def find(self, address, file, labels):
        if not any(begin <= address < end for begin, end in self.spans):
            return None
        return labels + line_labels(self.file or file, self.line)

    def tags(self, address):
        if not any(begin <= address < end for begin, end in self.spans):
            return None
        return [self.tag] if self.tag else []


class L(Element):
    def __init__(self, line, *inner, file=None, header=0, pauses=False):
        super().__init__(*inner)
        self.line, self.file, self.header, self.pauses = line, file, header, pauses

    def find(self, address, file, labels):
        file = self.file or file
        label = ("loop", file, self.line) if file and self.line else ("loop at", self.header)
        return super().find(address, file, labels + [label])


class A(Element):
    """A call inlined at `call_line` (of `call_file`, or of the enclosing file)."""

    def __init__(self, call_line, name, file, line, *inner, call_file=None, tag=None):
        super().__init__(*inner, tag=tag)
        self.call_line, self.call_file = call_line, call_file
        self.name, self.file, self.line = name, file, line

    def find(self, address, file, labels):
        labels = labels + line_labels(self.call_file or file, self.call_line)
        label = function_label("inlined", self.name, self.file, self.line, 0)
        return super().find(address, self.file, labels + [label])


class Structure:
    """The structure of a load module."""

    def __init__(self, *files):
        self.files = files

    def image(self):
        image = Image()
        for file in self.files:
            for procedure in file.inner:
                image.procedure(procedure, file.path)
        return image.encode()

    def labels(self, address):
        """The contexts of an address, or None."""
        for file in self.files:
            found = file.find(address, file.path, [])
            if found is not None:
                return found
        return None

    def tags(self, address):
        """The tags around an address, outermost first; empty if it is in no procedure."""
        found = [tags for tags in (file.tags(address) for file in self.files) if tags is not None]
        return found[0] if found else []

    def procedure(self, address):
        """The label of the procedure that contains an address, or None."""
        labels = self.labels(address)
        return labels[:1] if labels else None


def elf_file(build_id="", padding=0):
    """A minimal ELF file with a build-id."""
    notes = b""
    if build_id:
        data = bytes.fromhex(build_id)
        notes = struct.pack("<III", 4, len(data), 3) + b"GNU\0" + data
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 3, 62, 1, 0, 64, 0, 0, 64, 56,
                       1, 64, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 4, 4, 120, 120, 120, len(notes), len(notes), 4)
    return head + segment + notes + bytes(padding)


def header_hash(elf):
    """FNV-1a over ELF header and program headers, as in measurement files."""
    result = 0xcbf29ce484222325
    for byte in elf[:64 + 56]:
        result = (result ^ byte) * 0x100000001b3 % 2**64
    return result


# A shell starts ten times as fast as Python, and the tests run this hundreds of times.
FAKE_HPCSTRUCT = r"""#!/bin/sh
# Takes the place of hpcstruct: returns the file in structures/, or runs the code there.
here=${0%/*}
case $here in /*) ;; *) here=$PWD/$here ;; esac
file_of() {
    structure= rest=$1
    while :; do
        case $rest in
        */*) structure=$structure${rest%%/*}% rest=${rest#*/} ;;
        *) structure=$here/structures/$structure$rest; return ;;
        esac
    done
}
if [ "$1 $2 $3 $4" = "--image --calls -o -" ]; then
    file_of "$5"
    exec cat "$structure.calls"
fi
[ "$1 $3" = "-j --cache" ] || { echo "hpcstruct: unexpected arguments: $*" >&2; exit 1; }
for file; do :; done # the last argument
case $file in *"[vdso]") binary=vdso ;; *) binary=$file ;; esac
IFS= read -r magic <"$file"
case $magic in ?ELF*) ;; *) echo "hpcstruct: $file: no ELF file" >&2; exit 1 ;; esac
printf '%s\n' "$binary" >>"$here/runs"
file_of "$binary"
export here structure binary
if [ -e "$structure.py" ]; then
    exec python3 -c '
import os, signal, sys
here, structure, binary = (os.environ[name] for name in ("here", "structure", "binary"))
exec(open(structure + ".py").read())' "$@"
fi
[ -e "$structure" ] || { echo "hpcstruct: $binary: no structure in this test" >&2; exit 1; }
printf '%s\n' "$structure"
"""


class FakeHpcstruct:
    """A folder for a copy of hpcprof, with a fake hpcstruct beside it that returns given structures."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(os.path.join(folder, "structures"))
        with open(os.path.join(folder, "hpcstruct"), "w") as script:
            script.write(FAKE_HPCSTRUCT)
        os.chmod(os.path.join(folder, "hpcstruct"), 0o755)

    def path(self, binary):
        return os.path.join(self.folder, "structures", binary.replace("/", "%"))

    def set_structure(self, binary, structure):
        self.set_image(binary, structure.image())

    def set_image(self, binary, data):
        with open(self.path(binary), "wb") as file:
            file.write(data)

    def set_calls(self, binary, *calls):
        """Sets the direct calls in a binary: (address of the call, target)."""
        image = Image()
        image.procedure(P("", 0, [(0, 1)]), None, [(at + 4, target) for at, target in calls])
        with open(self.path(binary) + ".calls", "wb") as file:
            file.write(image.encode())

    def set_code(self, binary, code):
        """Sets Python code to run in place of hpcstruct; `structure` is the path of the structure."""
        with open(self.path(binary) + ".py", "w") as file:
            file.write(code)

    def runs(self):
        """The binaries for which hpcprof ran it, in order."""
        try:
            with open(os.path.join(self.folder, "runs")) as file:
                return file.read().split()
        except FileNotFoundError:
            return []
