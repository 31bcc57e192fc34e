"""The instructions of a program and their source lines, from objdump and llvm-symbolizer: the reference
for hpcstruct and for the overhead tags of runtimes."""
import os
import re

from structure_case import output_of, run

TAG = "hpctoolkit:parallel-overhead"


class Instruction:
    def __init__(self, address, text, places):
        self.address, self.text = address, text
        self.places = places  # [(function, file, line)], innermost first

    def tagged(self):
        return any(TAG in os.path.basename(file) for _, file, _ in self.places)


def disassembly(path, *options):
    """The output of objdump -d without the name of the file."""
    return output_of("objdump", "-d", "--no-show-raw-insn", *options, path).split("\n", 3)[3]


def instructions(program, function):
    """The instructions of a function, in order of their addresses."""
    text = re.search(rf"^[0-9a-f]+ <{function}>:\n(.*?)\n\n", disassembly(program) + "\n\n",
                     re.M | re.S)[1]
    found = re.findall(r"^\s*([0-9a-f]+):\s+(.*?)\s*$", text, re.M)
    addresses = [int(address, 16) for address, _ in found]
    out = run("llvm-symbolizer", "--inlines", "--output-style=LLVM", f"--obj={program}",
              input="".join(f"{address:#x}\n" for address in addresses).encode()).stdout.decode()
    blocks = out.strip().split("\n\n")
    assert len(blocks) == len(found), (program, function)
    return [Instruction(address, text, places_in(block))
            for address, (_, text), block in zip(addresses, found, blocks)]


def places_in(block):
    """The places that llvm-symbolizer prints for one address, as pairs of lines."""
    lines = block.splitlines()
    places = []
    for name, place in zip(lines[::2], lines[1::2]):
        file, line, _ = place.rsplit(":", 2)
        places.append((name, file, int(line)))
    return places
