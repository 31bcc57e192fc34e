#!/usr/bin/env python3
"""Real programs of this machine under hpcrun (make stress-programs).

usage: tests/stress/real_programs.py [--rounds N] [--hours H] [--one-way] [--jobs N] [--programs A,B]"""
import random
import shutil
import subprocess
import sys

import comparison
from comparison import BUILD, ROOT, Program

sys.path.insert(0, str(ROOT / "tests" / "bench"))
import programs  # noqa: E402 (needs the path above)

WAYS = (("CPUTIME@f5000", ()), ("REALTIME@f1000", ()), ("CPUTIME@f1000", (BUILD / "tests/tools/deny-perf",)),
        ("REALTIME@f1000", (BUILD / "tests/tools/deny-perf",)))

PYTHON = "import json,hashlib,subprocess,threading\n" \
    "ts=[threading.Thread(target=lambda:sum(i*i for i in range(20000))) for _ in range(8)]\n" \
    "[t.start() for t in ts];[t.join() for t in ts]\n" \
    "print(subprocess.run(['echo','x'],capture_output=True).stdout, len(json.dumps(list(range(9999)))))"
NODE = "const {Worker,isMainThread}=require('worker_threads');let n=0;" \
    "for(let i=0;i<3;i++){const w=new Worker('let s=0;for(let i=0;i<1e6;i++)s+=i',{eval:true});" \
    "w.on('exit',()=>{if(++n==3)console.log('done')})};" \
    "require('child_process').exec('echo hi',(e,o)=>console.log(o))"
JAVA = """import java.util.stream.*;
public class Main { public static void main(String[] a) {
    System.out.println(LongStream.range(0, 3000000).parallel().map(x -> x * x % 7).sum());
    StringBuilder s = new StringBuilder(); for (int i = 0; i < 200000; i++) s.append(i); System.out.println(s.length());
    System.gc(); } }"""
PERL = "my %h; $h{$_ % 997} .= $_ for 1..40000; print scalar(keys %h), qx(echo sub), length(join '', values %h), \"\\n\""
C = programs.c_source(40)
SQL = "with recursive c(x) as (values(1) union all select x+1 from c where x<60000) select sum(x%7), max(hex(x)) from c;"
SHELL = "i=0; while [ $i -lt 60 ]; do echo $i | cat >/dev/null; i=$((i+1)); done; (exit 3); echo $?; trap 'echo got' TERM USR1; (kill -USR1 $$) & wait; wait; kill -TERM $$; echo end"
BASH = "for i in {1..40}; do x=$(echo $i); done; coproc cat; echo a >&${COPROC[1]}; read y <&${COPROC[0]}; echo $x $y; set -o pipefail; false | true; echo $?"
MAKE = "all: a b c d\n\t@echo done\na b c d:\n\t@cksum text small.c | sort\n"

# name: a shell command run in the directory of the inputs; it says on standard output what it did.
COMMANDS = {
    "ls": "ls -1 --color=never .", "cat": "cat text | cat | cksum", "sort": "sort -u text | cksum",
    "sort, parallel": "sort --parallel=2 -S 1M text | cksum", "uniq": "uniq -c text | cksum", "wc": "wc text",
    "cut": "cut -c3-9 text | cksum", "tr": "tr a-z A-Z < text | cksum", "head": "head -n 99 text | cksum",
    "tail": "tail -n 99 text | cksum", "md5sum": "md5sum text", "sha256sum": "sha256sum text", "b2sum": "b2sum text",
    "base64": "base64 text | base64 -d | cksum", "factor": "factor 1234567890123456789 99999999977",
    "seq": "seq 1 3 100000 | cksum", "od": "od -x text | cksum", "paste": "paste text text | cksum",
    "comm": "comm text text | cksum", "tac": "tac text | cksum", "rev": "rev text | cksum", "nl": "nl text | cksum",
    "fold": "fold -w 33 text | cksum", "split": "split -b 100k text; cat x?? | cksum", "tsort": "tsort pairs | cksum",
    "shuf": "shuf --random-source=text text | cksum", "find": "find . -name '*.c' -newer text | sort",
    "xargs": "seq 50 | xargs -n 3 -P 2 echo | sort | cksum", "grep": "grep -c e.*a text", "sed": "sed 's/e/EE/g' text | cksum",
    "awk": "awk '{n[$1]++} END {print length(n)}' text", "diff": "diff text small.c | cksum",
    "patch": "diff -u small.c other.c > p; patch -s -o out small.c p; cksum out",
    "tar": "tar cf - --mtime=@0 --sort=name --owner=0 --group=0 text small.c | cksum", "gzip": "gzip -nc text | gzip -d | cksum",
    "pigz": "pigz -p3 -nc text | cksum", "bzip2": "bzip2 -c small.c | cksum", "xz": "xz -T2 -c text | cksum",
    "zstd": "zstd -qc -T2 text | cksum", "lz4": "lz4 -c text 2>/dev/null | cksum", "zip": "zip -qX - small.c | wc -c",
    "openssl": "openssl enc -aes-256-cbc -K 00 -iv 00 -in text 2>/dev/null | openssl dgst -sha512",
    "gcc": "gcc -O2 -c small.c -o o.o && cksum o.o", "g++": "g++ -O1 -c small.cc -o o.o && cksum o.o",
    "gcc, whole": "gcc -O1 -pthread hello.c -o hello && ./hello", "ld": "gcc -c hello.c -o h.o; ld -r h.o -o r.o && cksum r.o",
    "as": "gcc -S small.c -o s.s && as s.s -o o.o && cksum o.o", "clang": "clang -O1 -c small.c -o o.o && cksum o.o",
    "make": "make -s -j3 -f Make", "cmake": "cmake --version; echo 'message(hi)' > l.cmake; cmake -P l.cmake",
    "bison": "printf '%%%%\\ns: %%empty;\\n' > g.y; bison g.y -o g.c && wc -l g.c", "flex": "echo '%%' | flex -t | wc -l",
    "m4": "seq 999 | m4 | cksum", "objdump": "objdump -d /bin/true | cksum", "readelf": "readelf -aW /bin/true | cksum",
    "nm": "nm -D /bin/bash | cksum", "strings": "strings /bin/bash | cksum", "strip": "cp /bin/true t; strip t; cksum t",
    "python3": ["python3", "-c", PYTHON], "python3, processes": "python3 pool.py", "perl": ["perl", "-e", PERL],
    "node": ["node", "-e", NODE], "java": "java -cp . Main", "javac": "javac -d out Main.java && ls out",
    "sqlite3": ["sqlite3", ":memory:", SQL], "git": "git init -q g && cd g && cp ../text . && git add . && "
    "GIT_COMMITTER_DATE='0 +0000' GIT_AUTHOR_DATE='0 +0000' git -c user.name=a -c user.email=b commit -qm m && git log --format=%H && git gc -q",
    "dash": ["dash", "-c", SHELL], "bash": ["bash", "-c", BASH], "tmux": "tmux -L s$$ -f /dev/null new -d 'sleep 9' && "
    "tmux -L s$$ ls -F '#{session_windows}'; tmux -L s$$ kill-server", "ssh-keygen": "ssh-keygen -q -t ed25519 -N '' -f k && wc -l k",
    "curl": "curl -s file://$PWD/text | cksum", "wget": "wget -q -O - http://127.0.0.1:1/ ; echo $?",
    "gdb": "gdb -q -batch -ex 'p 1+2' -ex 'info line main' hello0", "gdb, run": "gdb -q -batch -ex 'handle SIG63 nostop noprint' -ex run hello0 2>&1 | grep -c hello",
    "strace": "strace -f -o /dev/null ./hello0", "man": "man -P cat ls 2>/dev/null | wc -c", "groff": "groff -Tascii page.1 2>/dev/null | cksum",
    "bc": "echo 'scale=300; a(1)*4' | bc -l", "jq": "seq 1000 | jq -s 'map(.*2)|add'", "xmllint": "xmllint --format x.xml",
    "vim": "vim -u NONE -es -c '%s/e/E/g' -c 'wq! v.out' text; cksum v.out",
    "perf": "perf --version", "valgrind": "valgrind -q ./hello0",
    "dpkg": "dpkg --compare-versions 1.2 lt 1.10 && echo less", "file": "file -b /bin/bash text", "iconv": "iconv -f utf8 -t utf16 text | cksum", "getent": "getent passwd root",
    "ps": "ps -o comm= -p 1 | wc -l", "timeout": "timeout 0.2 sleep 9; echo $?", "nice": "nice -n 3 nice", "date": "date -d @0 -u",
    "script": "script -qc 'echo hi' /dev/null", "cppcheck": "cppcheck -q --template=gcc other.c", "clang-format": "clang-format small.c | cksum",
    "xxd": "xxd text | cksum", "column": "column -t pairs | cksum", "setsid": "setsid -w echo hi", "unshare": "unshare -r echo hi",
    "hpcstruct": f"{BUILD}/bin/hpcstruct -o - /bin/true | cksum",
}


def make_inputs(directory):
    (directory / "text").write_bytes(programs.text_like(400000, 1).replace(b" e", b"\n"))
    (directory / "small.c").write_text(C)
    (directory / "other.c").write_text(C.replace("int a", "int aa", 3).replace("a;", "a ;", 2))
    (directory / "small.cc").write_text("#include <map>\n#include <string>\nint f() { std::map<std::string, int> m; m[\"x\"]++; return (int)m.size(); }\n")
    (directory / "hello.c").write_text("#include <pthread.h>\n#include <stdio.h>\nstatic void *f(void *x) { return x; }\nint main(void) "
                                       "{ pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); puts(\"hello\"); return 0; }\n")
    (directory / "Main.java").write_text(JAVA)
    (directory / "Make").write_text(MAKE)
    (directory / "page.1").write_text(".TH X 1\n.SH NAME\n" + "x \\- does things\n" * 300)
    (directory / "x.xml").write_text("<a>" + "<b c='d'>e</b>" * 500 + "</a>")
    rng = random.Random(2)
    (directory / "pairs").write_text("".join(f"a{rng.randrange(900)} b{rng.randrange(900)}\n" for _ in range(3000)))
    (directory / "pool.py").write_text("import multiprocessing\ndef f(x): return x * x\nif __name__ == '__main__':\n"
                                       "    with multiprocessing.Pool(3) as p: print(sum(p.map(f, range(2000))))\n")
    subprocess.run(["gcc", "-O1", "-g", "-pthread", "hello.c", "-o", "hello0"], cwd=directory, check=True)
    if shutil.which("javac"):
        subprocess.run(["javac", "Main.java"], cwd=directory, check=True)


def program(command):
    if isinstance(command, list):
        return Program(command, tool=command[0])
    return Program(["sh", "-c", command], tool=command.split()[0])


if __name__ == "__main__":
    sys.exit(comparison.main(__doc__, {name: program(command) for name, command in COMMANDS.items()}, make_inputs, WAYS))
