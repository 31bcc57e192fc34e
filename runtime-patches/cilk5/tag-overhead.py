#!/usr/bin/env python3
"""Tags parallel overhead in the C code that Cilk-5's compiler cilk2c writes, for the C compiler.

usage: tag-overhead.py [FILE.cilkc [OUT]]
The defaults are standard input and output. FILE and OUT may be the same.

Code that cilk2c has put into the user's procedures is enclosed in `#line`s: the first one assigns it
to a file named "hpctoolkit:parallel-overhead:KIND", the second one returns to the user's line. KIND:

    spawn    work of a spawn or a return without a thief: the frame, its fields, the pop
    sync     work of a sync
    steal    work of a slow clone because the procedure was stolen: resuming, giving a result
    abort    ending the procedure's children

The machine code does not change. CILK2C_PUSH_FRAME stays on the line of the spawn, because in a
patched runtime that macro records the spawn site.

A tagged text is copied. For a text that is not cilk2c's it prints one line and no output, and exits
with status 1."""
import bisect
import re
import sys

TAG = "hpctoolkit:parallel-overhead:"

# The macros of Cilk-5.4.6's cilk-cilk2c.h; None: not tagged, or a part of something that is.
MACROS = {
    "INIT_FRAME": "spawn", "START_THREAD_FAST": "spawn",
    "BEFORE_SPAWN_FAST": "spawn", "BEFORE_SPAWN_SLOW": "spawn", "PUSH_FRAME": None,
    "XPOP_FRAME_RESULT": "spawn", "XPOP_FRAME_NORESULT": "spawn",
    "AFTER_SPAWN_FAST": "spawn", "AFTER_SPAWN_SLOW": "spawn", "BEFORE_RETURN_FAST": "spawn",
    "AT_SYNC_FAST": "sync", "BEFORE_SYNC_SLOW": "sync", "AFTER_SYNC_SLOW": "sync",
    "SYNC": None, "SYNCHED": None,
    "START_THREAD_SLOW": "steal", "AT_THREAD_BOUNDARY_SLOW": "steal",
    "SET_NORESULT": "steal", "BEFORE_RETURN_SLOW": "steal", "BEFORE_RETURN_INLET": "steal",
    "ABORT_SLOW": "abort", "ABORT_STANDALONE": "abort",
}

STRING = r'"(?:\\.|[^"\\\n])*"' r"|'(?:\\.|[^'\\\n])*'"
COMMENT = r"/\*.*?\*/|//[^\n]*"
DIRECTIVE = r"^[ \t]*\#(?:\\\n|[^\n])*"
IF_SYNC = r"if\s*\(CILK2C_SYNC\)"
SET_ENTRY = r"_cilk_frame->header\.entry\s*=\s*\d+;"
# A variable and its field in the frame. Both have the same name, unlike in the user's statements.
SAVE = r"_cilk_frame->scope\d+\.(?P<saved>\w+)\s*=\s*(?P=saved);"
RESTORE = r"\b(?P<{0}>\w+)\s*=\s*_cilk_frame->scope\d+\.(?P={0});"
# In fast and slow clones, with directives in between.
AFTER_INLET = (r"/\* Restore variables from frame \*/(?:\s|^#[^\n]*$)*\{(?:\s*" +
               RESTORE.format("inlets") + r")+\s*\}")

# The tokens of a text; the first pattern that matches counts. The part of a name before the last
# underscore is the kind of overhead, or "skip", or "macro".
TOKENS = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in [
    ("spawn_3", AFTER_INLET),
    ("skip_1", STRING + "|" + COMMENT + "|" + DIRECTIVE),
    ("sync_1", SET_ENTRY + r"(?=[^{}()]*" + IF_SYNC + ")"),
    ("sync_2", IF_SYNC + r"\s*\{\s*return;\s*_cilk_sync\d+:[^{}]*\}"),
    ("spawn_1", SET_ENTRY),
    ("spawn_2", SAVE),
    ("steal_1", r"switch\s*\(_cilk_frame->header\.entry\)\s*\{[^{}]*\}"),
    ("steal_2", r"if\s*\(0\)\s*\{\s*_cilk_sync\d+:[^{}]*\}"),
    ("steal_3", RESTORE.format("restored")),
    ("steal_4", r"\bCilk_set_result\(_cilk_ws,\s*&__tmp,\s*sizeof\(+__tmp\)+;"),
    ("macro", r"\bCILK2C_(?P<name>\w+)"),
    ("skip_2", r"\w+"),
]), re.DOTALL | re.MULTILINE)

# In the arguments of a macro the first token, after blanks and comments, is an open parenthesis.
PARENTHESES = re.compile(STRING + "|" + COMMENT + r"|(?P<open>\()|(?P<close>\))|;", re.DOTALL)
SEMICOLON = re.compile(r"\s*;?")
BETWEEN = re.compile(r"[{} \t]*")
LINE_DIRECTIVE = re.compile(r'^[ \t]*\#[ \t]*(?:line[ \t]+)?(\d+)(?:[ \t]+("(?:\\.|[^"\\\n])*"))?'
                            r"[^\n]*\n?", re.MULTILINE)
# The compiler writes this before every function, also before those that are not procedures.
MARK = re.compile(r"^#define CILK_WHERE_AM_I ", re.MULTILINE)
TAGGED = re.compile(r'^#line \d+ "' + TAG, re.MULTILINE)


class Unfit(Exception):
    pass


class Lines:
    """The source line of each position in the text, by the text's #line directives."""

    def __init__(self, text, name):
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        self.text = text
        self.starts, self.lines = [0], [(1, f'"{quoted}"')]
        for found in LINE_DIRECTIVE.finditer(text):
            self.starts.append(found.end())
            self.lines.append((int(found[1]), found[2] or self.lines[-1][1]))

    def at(self, place):
        last = bisect.bisect_right(self.starts, place) - 1
        line, file = self.lines[last]
        return line + self.text.count("\n", self.starts[last], place), file


def end_of_statement(text, place):
    """The position after the arguments and the semicolon of a macro whose name ends at `place`; None
    if it has no arguments."""
    depth = 0
    for found in PARENTHESES.finditer(text, place):
        depth += bool(found["open"]) - bool(found["close"])
        if depth == 0 and found["close"]:
            return SEMICOLON.match(text, found.end()).end()
        if depth <= 0 and found[0] in ");":
            break
    return None


def pieces(text, lines):
    """Begin, end and kind of each piece of overhead, in order."""
    def unfit(place, why):
        line, file = lines.at(place)
        return Unfit(f"{file[1:-1]}:{line}: {why}")

    place = 0
    while found := TOKENS.search(text, place):
        kind, place = found.lastgroup.split("_")[0], found.end()
        if kind == "macro":
            if found["name"] not in MACROS:
                raise unfit(place, f"{found[0]} is no macro of Cilk-5.4.6")
            kind = MACROS[found["name"]]
            place = end_of_statement(text, place) if kind else place
            if place is None:
                raise unfit(found.start(), f"{found[0]} without its arguments")
        if kind and kind != "skip":
            yield found.start(), place, kind


def tagged(text, name):
    if not MARK.search(text):
        raise Unfit("not the output of cilk2c, or preprocessed since")
    if TAGGED.search(text):
        return text
    lines, out, done, open_kind = Lines(text, name), [], 0, None

    def close():
        if open_kind:
            out.append("\n#line {} {}\n".format(*lines.at(done)))

    for start, end, kind in pieces(text, lines):
        if BETWEEN.fullmatch(text, done, start) is None:
            close()
            open_kind = None
        out.append(text[done:start])
        if kind != open_kind:
            out.append(f'\n#line {lines.at(start)[0]} "{TAG}{kind}"\n')
        out.append(text[start:end])
        done, open_kind = end, kind
    close()
    if out and not LINE_DIRECTIVE.match(text):
        out.insert(0, "#line {} {}\n".format(*lines.at(0)))
    return "".join(out) + text[done:]


def main(names):
    if len(names) > 2 or names[:1] == ["--help"]:
        print(__doc__, file=sys.stderr)
        return 2
    name = names[0] if names else "<stdin>"
    try:
        # Latin-1: any bytes come out as they went in.
        with open(name if names else 0, encoding="latin-1", newline="") as file:
            text = tagged(file.read(), name)
        with open(names[1] if names[1:] else 1, "w", encoding="latin-1", newline="") as file:
            file.write(text)
    except Unfit as unfit:
        print(f"tag-overhead.py: {name}: {unfit}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"tag-overhead.py: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
