"""runtime-patches/cilk5/tag-overhead.py on text in the form of the output of cilk2c."""
import os
import re
import subprocess
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TOOL = os.path.join(HERE, "..", "..", "runtime-patches", "cilk5", "tag-overhead.py")
TAG = "hpctoolkit:parallel-overhead:"

# Declarations of the runtime, so that the text compiles.
RUNTIME = """
struct worker { struct frame **tail; int (*children)(void); };
struct header { int entry; };
struct frame;
int exception(struct worker *, void *, int);
int waits(struct worker *);
void *get_frame(struct worker *, unsigned long);
void begin(struct worker *, void *), end(struct worker *, void *), result(struct worker *, int);
void resumed(struct worker *, void *), ends_children(struct worker *);
void Cilk_set_result(struct worker *, void *, unsigned long);
static inline void fence(void) { __asm__ volatile("mfence" ::: "memory"); }
static inline int is_stolen(struct worker *ws) { fence(); return ws->tail == 0; }
#define CILK2C_INIT_FRAME(f, size) { f = get_frame(_cilk_ws, size); }
#define CILK2C_START_THREAD_FAST() { begin(_cilk_ws, _cilk_frame); }
#define CILK2C_START_THREAD_SLOW() { resumed(_cilk_ws, _cilk_frame); }
#define CILK2C_BEFORE_SPAWN_FAST() fence()
#define CILK2C_BEFORE_SPAWN_SLOW() fence()
#define CILK2C_PUSH_FRAME(f) { fence(); }
#define CILK2C_XPOP_FRAME_RESULT(f, r, value) { if (is_stolen(_cilk_ws)) { __tmp = value; \\
    if (exception(_cilk_ws, &__tmp, sizeof __tmp)) return r; } }
#define CILK2C_AFTER_SPAWN_FAST() { fence(); }
#define CILK2C_AFTER_SPAWN_SLOW() fence()
#define CILK2C_AT_THREAD_BOUNDARY_SLOW() { resumed(_cilk_ws, _cilk_frame); }
#define CILK2C_AT_SYNC_FAST() { fence(); }
#define CILK2C_BEFORE_SYNC_SLOW() fence()
#define CILK2C_AFTER_SYNC_SLOW() fence()
#define CILK2C_SYNC waits(_cilk_ws)
#define CILK2C_SYNCHED 0
#define CILK2C_BEFORE_RETURN_FAST() { end(_cilk_ws, _cilk_frame); }
#define CILK2C_BEFORE_RETURN_SLOW() { end(_cilk_ws, _cilk_frame); }
#define CILK2C_ABORT_SLOW() ends_children(_cilk_ws)
"""

# Overhead is between «KIND and », which are not part of the text. Two variables that the user copies look
# like copies of the compiler, except for their names; so do comments and strings.
FAST = """#define CILK_WHERE_AM_I IN_FAST_PROCEDURE
# 10 "tree.cilk"
int tree(struct worker*const _cilk_ws,int n){struct tree_frame*_cilk_frame;\
«spawn CILK2C_INIT_FRAME(_cilk_frame,sizeof(struct tree_frame));CILK2C_START_THREAD_FAST();»
{
     const char *text = "CILK2C_SYNC; } { CILK2C_AT_SYNC_FAST();";
     if (n < 2 && *text) /* CILK2C_AT_SYNC_FAST(); */
   {int _cilk_temp0=(leaf(n));«spawn CILK2C_BEFORE_RETURN_FAST();»return _cilk_temp0;}
     else {
   int x; int y;
   {«spawn _cilk_frame->header.entry=1;_cilk_frame->scope0.n=n;CILK2C_BEFORE_SPAWN_FAST();»\
CILK2C_PUSH_FRAME(_cilk_frame);x=tree(_cilk_ws,n-1);{int __tmp;\
«spawn CILK2C_XPOP_FRAME_RESULT(_cilk_frame,0,x);}CILK2C_AFTER_SPAWN_FAST();»}
   leaf(x);
# 18
   «spawn /* Restore variables from frame */
# 18
        {n=_cilk_frame->scope0.n;x=_cilk_frame->scope1.x;}»
   _cilk_frame->scope1.x=n;
   y = leaf(n -
            x);
   «sync CILK2C_AT_SYNC_FAST();»
# 25
   {int _cilk_temp1=(x+y);«spawn CILK2C_BEFORE_RETURN_FAST();»return _cilk_temp1;}
     }
}}
"""
SLOW = """#undef CILK_WHERE_AM_I
#define CILK_WHERE_AM_I IN_SLOW_PROCEDURE
# 10
static void _cilk_tree_slow(struct worker*const _cilk_ws,struct tree_frame*_cilk_frame){int n;\
«steal CILK2C_START_THREAD_SLOW();switch (_cilk_frame->header.entry) {case 1: goto _cilk_sync1;\
case 2: goto _cilk_sync2;}n=_cilk_frame->scope0.n;»
{
     if (n < 2)
   {{int __tmp=(leaf(n));«steal Cilk_set_result(_cilk_ws,&__tmp,sizeof((__tmp)));}\
CILK2C_BEFORE_RETURN_SLOW();»return;}
     {int _cilk_temp2;«spawn _cilk_frame->header.entry=1;_cilk_frame->scope0.n=n;\
CILK2C_BEFORE_SPAWN_SLOW();»CILK2C_PUSH_FRAME(_cilk_frame);_cilk_temp2=tree(_cilk_ws,n-1);\
{int __tmp;«spawn CILK2C_XPOP_FRAME_RESULT(_cilk_frame,/* nothing, ( */,_cilk_temp2);}\
CILK2C_AFTER_SPAWN_SLOW();»_cilk_frame->scope1.x=_cilk_temp2;\
«steal if (0) {_cilk_sync1:n=_cilk_frame->scope0.n;}CILK2C_AT_THREAD_BOUNDARY_SLOW();»}
     if (CILK2C_SYNCHED) n = _cilk_frame->scope1.x;
     if (n > 90) «abort CILK2C_ABORT_SLOW();»
     {«sync CILK2C_BEFORE_SYNC_SLOW();_cilk_frame->header.entry=2;\
if (CILK2C_SYNC) {return;_cilk_sync2:;}CILK2C_AFTER_SYNC_SLOW();»\
«steal CILK2C_AT_THREAD_BOUNDARY_SLOW();»}
     {{int __tmp=(_cilk_frame->scope1.x+n);\
«steal Cilk_set_result(_cilk_ws,&__tmp,sizeof((__tmp)));}\
CILK2C_BEFORE_RETURN_SLOW();»return;}
}}
int (*use)(struct worker*const,int) = tree;
void (*use_slow)(struct worker*const,struct tree_frame*) = _cilk_tree_slow;
"""
HEAD = """# 1 "tree.cilki"
#include "runtime.h"
struct tree_frame{struct header header;struct{int n;}scope0;struct{int x;int y;}scope1;};
extern int leaf(int);
"""
MARKED = HEAD + FAST + SLOW
MARKS = re.compile(r"«(\w+) (.*?)»", re.DOTALL)
PLAIN = MARKS.sub(r"\2", MARKED)


def kinds_of_text(text):
    """The tagged parts, without white space: a list of (kind, text)."""
    found, kind = [], None
    for line in text.split("\n"):
        switch = re.fullmatch(r'#line \d+ "(.*)"', line)
        if switch:
            kind = switch[1].removeprefix(TAG) if switch[1].startswith(TAG) else None
            if kind:
                found.append((kind, ""))
        elif kind:
            found[-1] = (kind, found[-1][1] + re.sub(r"\s", "", line))
    return found


class TagOverhead(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.write("runtime.h", RUNTIME)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def tag(self, text, status=0, says=""):
        """The output of the filter."""
        done = subprocess.run([TOOL], input=text, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(says, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1 if status else 0)
        if status:
            self.assertEqual(done.stdout, "")
        return done.stdout

    def code(self, name, *options):
        """The machine code of a file, compiled in two steps as the Cilk compiler driver does, and the
        file and line of each instruction."""
        obj = self.path("a.o")
        subprocess.run(["gcc", "-E", "-x", "c", "-o", "a.i", name], check=True, cwd=self.folder)
        subprocess.run(["gcc", "-gdwarf-4", *options, "-c", "-o", obj, "a.i"], check=True,
                       cwd=self.folder)
        listing = subprocess.run(["objdump", "-d", "-l", "--no-show-raw-insn", obj], check=True,
                                 capture_output=True, text=True).stdout
        lines, line = {}, None
        for text in listing.split("\n"):
            place = re.fullmatch(r"(\S*):(\d+)(?: \(discriminator \d+\))?", text)
            instruction = re.match(r" *([0-9a-f]+):\t", text)
            if place:
                line = os.path.basename(place[1]), int(place[2])
            elif instruction:
                lines[int(instruction[1], 16)] = line
        subprocess.run(["objcopy", "-O", "binary", "-j", ".text", obj, self.path("a.bin")],
                       check=True)
        with open(self.path("a.bin"), "rb") as file:
            return file.read(), lines

    def test_what_is_tagged(self):
        """Exactly the code that the compiler inserted is tagged, each part with its kind."""
        expected = [(kind, re.sub(r"\s", "", text)) for kind, text in MARKS.findall(MARKED)]
        self.assertEqual(len(expected), 16)
        self.assertEqual(kinds_of_text(self.tag(PLAIN)), expected)

    def test_the_text_stays(self):
        def without_lines(text):
            return re.sub(r'\n#line \d+ "[^"\n]*"\n', "", text)
        self.assertEqual(without_lines(self.tag(PLAIN)), PLAIN)

    def assert_same_code(self, plain, options):
        """The same bytes; each instruction keeps its line, except for the tag."""
        self.write("plain.cilkc", plain)
        subprocess.run([TOOL, "plain.cilkc", "tagged.cilkc"], check=True, cwd=self.folder)
        before, lines_before = self.code("plain.cilkc", *options)
        after, lines_after = self.code("tagged.cilkc", *options)
        self.assertGreater(len(before), 100)
        self.assertEqual(before, after)
        self.assertEqual(lines_before.keys(), lines_after.keys())
        tagged = 0
        for place, (file, line) in lines_after.items():
            if file.startswith(TAG):
                tagged += 1
                self.assertEqual(line, lines_before[place][1])
            else:
                self.assertEqual((file, line), lines_before[place])
        return tagged, len(lines_after)

    def test_the_code_stays(self):
        for level in ("-O0", "-O1", "-O2", "-O3"):
            with self.subTest(level):
                tagged, total = self.assert_same_code(PLAIN, [level])
                self.assertGreater(tagged, total / 4)
                self.assertLess(tagged, total)

    def test_text_without_directives(self):
        """Its lines are those of the file itself."""
        plain = re.sub(r"^# .*\n", "", PLAIN, flags=re.MULTILINE)
        tagged, _ = self.assert_same_code(plain, ["-O2"])
        self.assertGreater(tagged, 0)

    def test_again(self):
        once = self.tag(PLAIN)
        self.assertEqual(self.tag(once), once)

    def test_in_place(self):
        self.write("a.cilkc", PLAIN)
        subprocess.run([TOOL, "a.cilkc", "a.cilkc"], check=True, cwd=self.folder)
        self.assertEqual(self.read("a.cilkc"), self.tag(PLAIN))

    def test_any_bytes(self):
        text = PLAIN.replace('"CILK2C', '"\xe4').encode("latin-1")
        done = subprocess.run([TOOL], input=text, capture_output=True, check=True)
        self.assertIn(b'"\xe4_SYNC', done.stdout)

    def test_text_without_procedures(self):
        text = '#define CILK_WHERE_AM_I IN_C_CODE\nint x;\n'
        self.assertEqual(self.tag(text), text)

    def test_what_is_not_cilk2c_s(self):
        self.tag("int main(void)\n{\n  return 0;\n}\n", 1, "<stdin>: not the output of cilk2c")
        self.tag(re.sub("#define .*\n", "", PLAIN), 1, "not the output of cilk2c")
        self.tag("", 1, "not the output of cilk2c")
        self.tag(PLAIN.replace("AT_SYNC_FAST();}", "AT_SYNC_SOON();}").replace(
            "   CILK2C_AT_SYNC_FAST", "   CILK2C_AT_SYNC_SOON"), 1,
                 "tree.cilk:22: CILK2C_AT_SYNC_SOON is no macro of Cilk-5.4.6")
        self.tag(FAST[:FAST.index("_cilk_frame,sizeof")].replace("«spawn ", ""), 1,
                 "tree.cilk:10: CILK2C_INIT_FRAME without its arguments")

    def test_files_that_are_not_there(self):
        for names in (["nowhere"], [self.path("runtime.h"), "nowhere/out"]):
            done = subprocess.run([TOOL, *names], capture_output=True, text=True, check=False,
                                  cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
