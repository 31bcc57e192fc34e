"""A profiled program starts programs that can't load the library: they run as without hpcrun."""
import os
import shutil
import subprocess

import profiling
from profiling import HPCRUN, program

# A program without a C library. Prints whether LD_PRELOAD names the library.
SAYS = r"""
static long call(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}
static int has(const char *text, const char *word)
{
    for (; *text; text++) {
        const char *t = text, *w = word;
        while (*w && *t == *w)
            t++, w++;
        if (!*w)
            return 1;
    }
    return 0;
}
__attribute__((used)) void begin(long *stack)
{
    char **environment = (char **)(stack + 1 + stack[0] + 1);
    int asked = 0;
    for (; *environment; environment++)
        asked |= has(*environment, "libhpcrun");
    call(1, 1, (long)(asked ? "asked\n" : "plain\n"), 6);
    call(231, 0, 0, 0);
}
__asm__(".globl _start\n_start: mov %rsp, %rdi\n and $-16, %rsp\n call begin\n");
"""


class Exec(profiling.ProfilingTest):
    ways = ("execv", "execve", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "execveat",
            "execveat-descriptor", "fexecve-path", "posix_spawn", "posix_spawnp", "system", "popen", "vfork")

    def test_library_that_is_out_of_reach(self):
        """As in a container without the library: the programs run without it, and no error is printed."""
        for part in ("bin", "lib"):
            shutil.copytree(profiling.BUILD / part, self.directory / part, symlinks=True)
        library = self.directory / "lib/libhpcrun.so"
        script = (f"import os, subprocess, sys; os.rename('{library}', '{library}.away'); "
                  "print(subprocess.run(['/bin/echo', 'spawned'], capture_output=True)); "
                  "sys.stdout.flush(); os.execv('/bin/echo', ['echo', 'executed'])")
        done = self.run_tool(self.directory / "bin/hpcrun", "-q", "-o", "m", "/usr/bin/python3", "-c", script)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout, "CompletedProcess(args=['/bin/echo', 'spawned'], returncode=0, "
                                      "stdout=b'spawned\\n', stderr=b'')\nexecuted\n")

    def compile(self, name, text, *flags, compiler="gcc"):
        source, built = self.directory / f"{name}.c", self.directory / name
        source.write_text(text)
        done = subprocess.run([compiler, "-w", "-O1", "-fno-stack-protector", *flags, "-o", built, source],
                              capture_output=True, text=True)
        return built if done.returncode == 0 else None

    def run_by(self, way, path):
        environment = dict(os.environ, PATH=f"{self.directory}:{os.environ['PATH']}")
        return self.run_tool(HPCRUN, "-q", "-o", f"m-{way}-{path.name}", program("execs"), way, path,
                             env=environment, timeout=600)

    def test_other_c_library(self):
        """Its loader gets an environment without the library, which would end the program."""
        loader = self.compile("ld-other.so.1", SAYS, "-nostdlib", "-static-pie", "-fPIE")
        other = self.compile("other", "int main(void) { return 0; }", f"-Wl,-dynamic-linker,{loader}")
        script = self.directory / "script"
        script.write_text(f"#!{other}\n")
        script.chmod(0o755)
        for path in (other, script):
            for way in self.ways:
                with self.subTest(f"{way} {path.name}"):
                    done = self.run_by(way, path)
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "plain\n", ""))

    def test_static_program(self):
        """A static program ignores LD_PRELOAD, but its children may not: the environment is unchanged."""
        says = self.compile("says", SAYS, "-nostdlib", "-static")
        for way in self.ways:
            with self.subTest(way):
                done = self.run_by(way, says)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "asked\n", ""))

    def test_musl(self):
        """Real programs of another C library: as children, and started by hpcrun."""
        if not shutil.which("musl-gcc"):
            self.skipTest("musl-tools is not installed")
        for name, flag, why in (("dynamic", "-pie", "not linked with glibc"),
                                ("static", "-static", "statically linked")):
            built = self.compile(name, '#include <stdio.h>\nint main(void) { puts("musl"); return 0; }', flag,
                                 compiler="musl-gcc")
            self.assertEqual(self.run_tool(built).stdout, "musl\n")
            for way in self.ways:
                with self.subTest(f"{way} {name}"):
                    done = self.run_by(way, built)
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "musl\n", ""))
            done = self.run_tool(HPCRUN, "-o", f"m-{name}", built)
            allowed = profiling.outside_is_allowed()
            self.assertEqual((done.returncode, done.stdout), (0, "musl\n") if allowed else (1, ""))
            self.assertTrue(done.stderr.startswith(f"hpcrun: {built}: {why}: measured from outside"), done.stderr)

    @staticmethod
    def can_run(program):
        """A kernel without 32-bit system calls refuses such programs."""
        try:
            return subprocess.run([program], capture_output=True).returncode == 0
        except OSError:
            return False

    def test_32_bits(self):
        text = 'void _start(void) { __asm__("mov $1, %eax; mov $0, %ebx; int $0x80"); }'
        small = self.compile("small", text, "-m32", "-nostdlib", "-fPIE", "-pie",
                             "-Wl,-dynamic-linker,/lib/ld-linux.so.2")
        if not small or not self.can_run(small):
            self.skipTest("no dynamically linked 32-bit program can be made and run here")
        for way in self.ways:
            with self.subTest(way):
                done = self.run_by(way, small)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_other_preloaded_libraries_stay(self):
        """Only our library is removed from the program's own list."""
        show = SAYS.replace('asked |= has(*environment, "libhpcrun")',
                            'if (has(*environment, "LD_PRELOAD=")) asked = '
                            'has(*environment, "=/nowhere/a.so:/nowhere/b.so") ? 1 : asked')
        loader = self.compile("ld-other.so.1", show, "-nostdlib", "-static-pie", "-fPIE")
        other = self.compile("other", "int main(void) { return 0; }", f"-Wl,-dynamic-linker,{loader}")
        script = ('LD_PRELOAD="/nowhere/a.so $LD_PRELOAD:/nowhere/b.so" 2>/dev/null exec '
                  f"{other}")
        done = self.run_tool(HPCRUN, "-q", "-o", "m", "sh", "-c", script, timeout=600)
        self.assertEqual(done.stdout, "asked\n")

    def test_empty_environment(self):
        done = self.run_tool(HPCRUN, "-q", "-o", "m", "env", "-i", "/bin/sh", "-c", "echo fine")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "fine\n", ""))
