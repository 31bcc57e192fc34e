"""A model of program structure for tests: written as a structure file (doc/FORMAT-structure.md), and
queried, independently of hpcprof, for the contexts of an address. Example:

    F("/src/a.c",
      P("main", 10, [(0x1000, 0x1100)],
        S(12, (0x1000, 0x1010)),
        L(20, S(21, (0x1010, 0x1020)),
          A(22, "inlined", "/src/b.h", 5, S(6, (0x1020, 0x1030))))))"""
import os
import struct
from xml.sax.saxutils import quoteattr


def ranges(pairs):
    return "{" + " ".join(f"[{b:#x}-{e:#x})" for b, e in pairs) + "}"


def attributes(**values):
    return "".join(f" {name}={quoteattr(str(value))}" for name, value in values.items()
                   if value is not None)


def function_label(kind, name, file, line, entry):
    """Two functions are the same if name, file and line are; without file, if name and entry are."""
    return (kind, name, file, line) if file else (kind, name, None, entry)


def line_labels(file, line):
    return [("line", file, line)] if file and line else []


class Element:
    """An element and its children; `tag` is the kind of parallel overhead that it is tagged as."""

    def __init__(self, *inner, tag=None):
        self.inner, self.tag = inner, tag

    def xml(self, file):
        """`file` is the file of statements that name none."""
        raise NotImplementedError

    def inner_xml(self, file):
        return "".join(element.xml(file) for element in self.inner)

    def find(self, address, file, labels):
        """Labels of the contexts of an address, or None."""
        for element in self.inner:
            found = element.find(address, file, labels)
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

    def xml(self, file=None):
        path = self.path or "<unknown file>"
        return f"<F{attributes(n=path)}>{self.inner_xml(self.path)}</F>\n"


class P(Element):
    """A procedure; `waits` are the spans of system calls that wait."""

    def __init__(self, name, line, spans, *inner, tag=None, waits=()):
        super().__init__(*inner, tag=tag)
        self.name, self.line, self.spans, self.waits = name, line, spans, waits

    def xml(self, file):
        head = attributes(n=self.name, ln=self.name, l=self.line, v=ranges(self.spans),
                          o=self.tag, w=ranges(self.waits) if self.waits else None)
        return f"<P{head}>{self.inner_xml(file)}</P>\n"

    def find(self, address, file, labels):
        label = function_label("call", self.name, file, self.line, self.spans[0][0])
        return super().find(address, file, labels + [label])


class S(Element):
    def __init__(self, line, *spans, file=None, tag=None):
        super().__init__(tag=tag)
        self.line, self.spans, self.file = line, spans, file

    def xml(self, file):
        return f"<S{attributes(l=self.line, v=ranges(self.spans), f=self.file, o=self.tag)}/>"

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

    def xml(self, file):
        head = attributes(l=self.line, f=self.file, v=ranges([(self.header, self.header + 1)]),
                          w="pause" if self.pauses else None)
        return f"<L{head}>{self.inner_xml(self.file or file)}</L>"

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

    def xml(self, file):
        site = attributes(l=self.call_line, f=self.call_file or file or "", n="", v="{}")
        head = attributes(l=self.line, f=self.file or "", n=self.name, v="{}", o=self.tag)
        return f"<A{site}><A{head}>{self.inner_xml(self.file)}</A></A>"

    def find(self, address, file, labels):
        labels = labels + line_labels(self.call_file or file, self.call_line)
        label = function_label("inlined", self.name, self.file, self.line, 0)
        return super().find(address, self.file, labels + [label])


class Structure:
    """The structure of a load module."""

    def __init__(self, *files):
        self.files = files

    def xml(self, path):
        body = "".join(file.xml() for file in self.files)
        return ('<?xml version="1.0" encoding="UTF-8"?>\n'
                '<HPCToolkitStructure i="0" version="4.9" n="">\n'
                f'<LM{attributes(i=1, n=path, v="{}", g="hpcstruct 9")}>\n{body}</LM>\n'
                '</HPCToolkitStructure>\n')

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
if [ "$1 $2 $3" = "--calls -o -" ]; then
    file_of "$4"
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
        with open(self.path(binary), "w") as file:
            file.write(structure.xml(binary))

    def set_text(self, binary, text):
        with open(self.path(binary), "w") as file:
            file.write(text)

    def set_calls(self, binary, *calls):
        """Sets the direct calls in a binary: (address of the call, target)."""
        listed = "".join(f'<C l="0" v="{ranges([(at, at + 5)])}" t="{target:#x}"/>'
                         for at, target in calls)
        with open(self.path(binary) + ".calls", "w") as file:
            file.write('<HPCToolkitStructure><LM n=""><F n=""><P n="" v="{[0x0-0x1)}">'
                       f"{listed}</P></F></LM></HPCToolkitStructure>")

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
