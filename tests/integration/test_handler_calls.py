"""What the signal handlers can reach, read from the machine code of the library and of the agents:
no function outside of them that is not on a short list (a lock or malloc would be one), no storage
that the dynamic linker allocates on demand, and indirect calls only where they are known."""
import os
import pathlib
import re
import subprocess
import unittest

import profiling

OBJECTS = pathlib.Path(os.environ.get("BUILD", profiling.ROOT / "build")).resolve() / "obj"

# glibc's and libgcc's, all free of locks, of allocation and of thread-local storage that is not
# static: functions on memory and strings; _dl_find_object, which is made for unwinding in signal
# handlers; the division of 128-bit numbers;
# a variable that stands still.
HARMLESS = {"memcpy", "memset", "memmove", "memcmp", "memchr", "memrchr", "strlen", "strnlen", "strchr", "strstr",
            "_dl_find_object", "__udivti3", "__umodti3", "__libc_stack_end"}

# glibc's test whether the thread is canceled, with a cleanup handler: at the very end of our handler, for
# a thread in a system call of glibc in which it may be canceled. glibc's own handler does it, too.
CANCELLATION = {"pthread_testcancel", "__pthread_register_cancel", "__pthread_unregister_cancel",
                "__pthread_unwind_next", "__sigsetjmp"}

# Entered by the kernel: our handlers, and what comes before the handlers of the program. These begin in functions
# that jump to each other: the analysis does not see that signal_entry_plain goes on in signal_entry.
HANDLERS = ("signal_entry_ours", "on_fatal", "signal_entry_plain", "signal_entry", "enter_in_place")

# Functions with calls or jumps through pointers, and their targets.
INDIRECT = {
    "agent_query_status": "agents' unwind_begin and worker_counts",
    "page_at": "the reader of another process's memory, in hpcrun-outside only",
    "read_pages": "the same, inlined",
    "ask_path": "agents' steps",
    "agent_query_path": "agents' steps, inlined",
    "waits_for_byte": "an agent's has_byte",
    "waits_for": "the same, inlined",
    "signal_entry": "the program's handler",
    "enter_in_place": "the same",
    "threads_visit": "what is to be done with each thread: its callers' functions, seen there",
    "threads_visit_events": "the same, of those whose events are open",
    "run": "a switch: instructions of unwind information",
    "cfi_value": "a switch: formats of encoded pointers",
    "cfi_row_at": "the same, inlined",
    "expression_evaluate": "a switch: operations of its expressions",
    "full_step_from": "a switch: its rules for registers",
    "unwind": "a switch: kinds of unwind rules",
    "step_irregular": "the same",
    "code_walk_step": "a switch: instructions of code without unwind information",
    "follow_one_byte": "the same",
    "carry_out": "the same",
    "carry_out_one_byte": "the same",
    "text_add_error": "a switch: names of errors",
    **{f"thread_chunks_{part}": "flush.c's functions: an item of the thread's tree, and where its chunks go"
       for part in ("identity", "clocks", "nodes", "associations", "values", "fates", "joins", "trace", "marks", "wake_ups")},
    "trace": "a switch: what instructions do to registers",
    "apply": "the same",
    "apply_move": "the same",
    "changed": "the same",
    "changed_by_one_byte": "the same",
    "changed_by_0f": "the same",
    "ended_call_goes_on": "a switch: where a call has its timeout",
    "way_by_time": "the same",
    "resumed_go_on": "the same",
}

# Functions with system calls that the unwinder can reach.
SYSTEM_CALLS = {"sys_pages": "rooms for instances of modules, of more and more", "sys_pages_free": "the same",
                "armed.part.0": "the guard of reads, where the program may have changed its signals",
                "read_pages": "the reader of another process's memory, in hpcrun-outside only"}

# What hpcrun calls of an agent in the handler (agents/agent.h), in the table at the end of its agent.c, and of its lock.
AGENT_ENTRY = re.compile(r"\.(?:unwind_begin|worker_counts|step_bichord|step_pnote|step_lnote|has_byte) = (\w+)[,;]")
AGENTS = ("minicilk", "cilk5", "opencilk", "gomp", "openmp", "tbb", "openblas", "python", "pthread")
AGENTS_USE = {"hpctoolkit_own_slot", "hpctoolkit_thread_slot"}  # of libhpcrun.so


# Lines of objdump: of a symbol with its binding and section, and of the first instruction of a function.
SYMBOL = re.compile(r"[0-9a-f]{16} (\w)[^\t]{5}. (\S+)\t[0-9a-f]+ (?:\.hidden )?(\S+)$")
START = re.compile(r"([0-9a-f]{16}) <([^>]+)>:$")


class Code:
    """The call graph of object files. A function of an object file is (file, name)."""

    def __init__(self, files):
        self.uses = {}  # function: functions, or names not defined here
        self.indirect, self.system_calls = set(), set()
        self.globals = {}
        # One process for all: nm opens each plugin for link-time optimization, clang's in 30 ms.
        text = subprocess.run(["objdump", "-tdrw", "--no-show-raw-insn", *files], capture_output=True, text=True,
                              check=True).stdout
        dumps = [dump.splitlines() for dump in text.split(":     file format ")[1:]]
        bodies = [self.read_symbols(file, iter(dump)) for file, dump in zip(files, dumps, strict=True)]
        for file, body in zip(files, bodies):
            self.read(file, body)

    def read_symbols(self, file, lines):
        """Returns the lines of instructions."""
        for line in lines:
            if line.startswith("Disassembly"):
                return [line, *lines]
            if found := SYMBOL.match(line):
                binding, section, name = found.groups()
                if binding != "l" and section.startswith(".text"):
                    self.globals[name] = (file, name)
                elif section in (".bss", ".tbss") or binding != "l" and section.startswith("."):
                    self.globals[name] = None  # a variable
        return []

    def read(self, file, lines):
        places, section, function = {}, None, None  # (section, offset): function
        for line in lines:
            if line.startswith("Disassembly of section"):
                section = line.split()[-1][:-1]
            elif line.endswith(">:"):
                offset, name = START.match(line).groups()
                places[section, int(offset, 16)] = name
        for line in lines:
            if line.endswith(">:"):
                function = (file, START.match(line)[2])
                self.uses[function] = set()
            elif "\tsyscall" in line:
                self.system_calls.add(function)
            elif function and ("R_X86_64_" in line or "\tcall" in line or "\tjmp" in line):
                self.take(function, line, places)

    def take(self, function, line, places):
        file = function[0]
        instruction, _, relocation = line.partition("R_X86_64_")
        words = instruction.split("\t", 1)[1].split(None, 1)
        through_pointer = words[0] in ("call", "jmp") and words[-1].startswith("*")
        if through_pointer and not relocation.startswith(("GOTPCREL", "REX_GOTPCREL")):
            self.indirect.add(function)
        elif relocation:
            self.take_relocation(function, relocation.split()[1], places)
        elif words[0] in ("call", "jmp"):
            found = re.search(r"<([^>+]+)(\+0x[0-9a-f]+)?>", words[1])
            self.uses[function].add((file, found[1]))

    def take_relocation(self, function, target, places):
        found = re.match(r"(.+?)([+-]0x[0-9a-f]+)?$", target)
        name, addend = found[1], int(found[2] or "0", 16)
        if name.startswith(".text"):
            starts = sorted(at for (section, at) in places if section == name and at <= addend + 4)
            if starts:
                self.uses[function].add((function[0], places[name, starts[-1]]))
        elif not name.startswith("."):
            use = self.globals.get(name, name)
            if use:
                self.uses[function].add(use)

    def reachable(self, roots):
        seen, waiting = set(roots), list(roots)
        while waiting:
            for use in self.uses.get(waiting.pop(), ()):
                if use not in seen:
                    seen.add(use)
                    waiting.append(use)
        return seen


def has_source(file):
    """Not so an object of an earlier tree, which a build folder may still have."""
    path = file.relative_to(OBJECTS).with_suffix(".c")
    return (profiling.ROOT / path).exists() or path.parts[:2] == ("hpcrun", "shared")


class HandlerCalls(unittest.TestCase):
    def reached(self, files, roots):
        """What the roots can reach: functions of the files, and names of others."""
        code = Code(sorted(files))
        entries = {function for function in code.uses if function[1] in roots}
        self.assertEqual(sorted(name for _, name in entries), sorted(roots))
        reached = code.reachable(entries)
        own = {function for function in reached if not isinstance(function, str)}
        self.indirect, self.system_calls = ({name for _, name in of & own} for of in (code.indirect, code.system_calls))
        return {name for _, name in own}, reached - own

    def reached_in_library(self, roots):
        return self.reached([file for file in (OBJECTS / "hpcrun").rglob("*.o")
                             if not {"launch", "outside"} & set(file.relative_to(OBJECTS).parts) and has_source(file)],
                            roots)

    def test_system_calls_of_the_unwinder(self):
        """They would be paid in each sample."""
        self.reached_in_library(("unwind",))
        self.assertLessEqual(self.system_calls, set(SYSTEM_CALLS))

    def test_hpcrun(self):
        own, others = self.reached_in_library(HANDLERS)
        for name in ("unwind", "cct_child", "flush_thread", "answer_is_valid"):
            self.assertIn(name, own)  # the graph is one
        self.assertLessEqual(others, HARMLESS | CANCELLATION)
        self.assertLessEqual(self.indirect, set(INDIRECT))

    def test_agents(self):
        for agent in AGENTS:
            with self.subTest(agent=agent):
                entries = AGENT_ENTRY.findall((profiling.ROOT / "agents" / agent / "agent.c").read_text())
                self.assertTrue({"unwind_begin", "step_bichord"} & set(entries))
                folders = (OBJECTS / "agents" / agent, OBJECTS / "agents" / "common")
                files = [file for folder in folders for file in folder.rglob("*.o") if has_source(file)]
                _, others = self.reached(files, entries)
                self.assertLessEqual(others, HARMLESS | AGENTS_USE)
