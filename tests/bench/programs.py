"""The programs that the benchmarks run, with inputs made here; how long each runs can be scaled."""
import os
import pathlib
import random
import subprocess

import java_class

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build")).resolve()


def text_like(size, seed):
    """Compressible bytes: words drawn with very different frequencies."""
    rng = random.Random(seed)
    words = [bytes(rng.choices(b"abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9)))
             for _ in range(20000)]
    weights = [1 / (i + 1) for i in range(len(words))]
    out = bytearray()
    while len(out) < size:
        out += b" ".join(rng.choices(words, weights, k=20000)) + b"\n"
    return bytes(out[:size])


def c_source(functions):
    """A C file that takes the compiler's time: loops, switches, calls."""
    lines = []
    for i in range(functions):
        callee = f"f{i // 2}(k & 3, p)" if i else "k"
        lines.append(
            f"int f{i}(int a, int *p) {{ int s = {i}; for (int k = 0; k < a; k++) {{ if (p[k] > s) s += "
            f"p[k] * {i % 7 + 1}; else switch (p[k] & 7) {{ case 0: s ^= k; break; case 1: s += {callee};"
            f" break; case 3: s -= p[k / 2]; break; default: s *= 3; }} }} return s; }}")
    return "\n".join(lines)


def cxx_source(functions):
    """A C++ file of containers, closures and regular expressions: the compiler's stack is 20 to 150 KB deep."""
    headers = [f"#include <{name}>" for name in ("algorithm", "functional", "map", "regex", "string", "vector")]
    return "\n".join(headers + [f"""
struct record{i} {{ std::map<std::string, std::vector<int>> values; std::string name; }};
int work{i}(std::vector<record{i}> &records, const std::function<int(int)> &f) {{
    std::sort(records.begin(), records.end(), [](const auto &a, const auto &b) {{ return a.name < b.name; }});
    int sum = 0;
    for (auto &r : records)
        for (auto &[key, list] : r.values)
            if (std::regex_match(key, std::regex("a{i}+b*")))
                sum += std::count_if(list.begin(), list.end(), [&](int x) {{ return f(x) > {i}; }});
    return sum;
}}""" for i in range(functions)])


PYTHON = """
import json, sys
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
class Node:
    def __init__(self, depth): self.children = [Node(depth - 1) for _ in range(3)] if depth else []
    def count(self): return 1 + sum(child.count() for child in self.children)
for _ in range(int(sys.argv[1])):
    fib(20); Node(7).count(); json.loads(json.dumps([{"a": i, "b": str(i)} for i in range(20000)]))
    sorted(range(30000), key=lambda i: (i * 7919) % 30011)
"""

SQL = ("with recursive c(x) as (values(1) union all select x+1 from c where x<{}) "
       "select sum(x%7), count(distinct x%1000), max(length(hex(x))) from c;")


NODE = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
for (let i = +process.argv[2]; i > 0; i--) {
    fib(27);
    const rows = Array.from({length: 20000}, (_, k) => ({key: (k * 7919) % 30011, name: "n" + k}));
    rows.sort((a, b) => a.key - b.key);
    JSON.parse(JSON.stringify(rows));
}
"""


def make_site(folder, pages):
    """A site for hugo: pages of Markdown with code, and templates that use each other."""
    rng = random.Random(6)
    words = text_like(4000, 7).decode().split()
    (folder / "content").mkdir(parents=True)
    (folder / "layouts" / "_default").mkdir(parents=True)
    (folder / "layouts" / "partials").mkdir()
    (folder / "config.toml").write_text('baseURL = "http://localhost/"\ntitle = "Bench"\n')
    for name in ("single", "list"):
        (folder / "layouts" / "_default" / f"{name}.html").write_text('{{ partial "tags.html" . }}{{ .Content }}')
    (folder / "layouts" / "partials" / "tags.html").write_text(
        "{{ range $name, $tags := .Site.Taxonomies }}{{ range $tag, $_ := $tags }}{{ $tag | title | markdownify }}{{ end }}{{ end }}")
    for page in range(pages):
        text = "".join(f"# {word}\n\n{' '.join(rng.choices(words, k=60))} **{word}**\n\n- a\n  - b\n\n```go\nx := {page}\n```\n\n"
                       for word in rng.choices(words, k=6))
        tags = ", ".join(rng.choices(words[:12], k=3))
        (folder / "content" / f"{page}.md").write_text(f"---\ntitle: P{page}\ntags: [{tags}]\n---\n{text}")
    return str(folder)


def video(frames, width=320, height=240):
    """A y4m file in which a pattern moves over noise."""
    rng = random.Random(4)
    noise = bytes(rng.choices(range(96, 160), k=width * height * 2))
    color = bytes([128]) * (width * height // 2)
    out = bytearray(f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C420\n".encode())
    for frame in range(frames):
        at = frame * 3 * (width + 1) % (width * height)
        out += b"FRAME\n" + noise[at:at + width * height] + color
    return bytes(out)


def picture(width, height):
    rng = random.Random(5)
    return f"P6 {width} {height} 255\n".encode() + rng.randbytes(width * height * 3)


class Programs:
    """name -> command, each about `seconds` long on a machine of 2026."""

    def __init__(self, directory, seconds):
        self.directory = pathlib.Path(directory)
        recursion = BUILD / "tests" / "programs" / "hpcrun" / "recursion"
        large = self.file("large", text_like(int(20e6 * seconds), 1))
        medium = self.file("medium", text_like(int(1.4e6 * seconds), 2))
        small = self.file("small", text_like(int(1.0e6 * seconds), 3))
        source = self.file("big.c", c_source(int(190 * seconds)).encode())
        cxx = self.file("big.cc", cxx_source(max(1, int(3 * seconds))).encode())
        script = self.file("work.py", PYTHON.encode())
        node = self.file("work.js", NODE.encode())
        self.file("Fib.class", java_class.fib_class(max(1, int(105 * seconds))))
        frames = self.file("frames.y4m", video(int(430 * seconds)))
        image = self.file("image.ppm", picture(600, 400))
        site = make_site(self.directory / "site", int(250 * seconds))
        cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True,
                             text=True).stdout.strip()
        self.commands = {
            "recursion 10": [recursion, "10", str(1000 * seconds), "leaf"],
            "recursion 500": [recursion, "500", str(1000 * seconds), "leaf"],
            "xz": ["xz", "-kc", "-6", "-T1", small],
            "zstd": ["zstd", "-qc", "-19", "--single-thread", medium],
            "python3": ["/usr/bin/python3", script, str(max(1, int(40 * seconds)))],
            "sqlite3": ["sqlite3", ":memory:", SQL.format(int(1.9e6 * seconds))],
            "cc1": [cc1, "-O2", "-quiet", source, "-o", "/dev/null"],
            "clang": ["clang", "-O2", "-w", "-c", source, "-o", "/dev/null"],
            "clang++": ["clang++", "-std=c++17", "-O2", "-w", "-c", cxx, "-o", "/dev/null"],
            "openssl": ["openssl", "speed", "-seconds", str(max(1, int(seconds / 2))), "rsa2048"],
            "pigz": ["pigz", "-kc9", "-p2", large],
            "node": ["node", node, str(max(1, int(28 * seconds)))],
            "java": ["java", "-XX:+PreserveFramePointer", "-cp", self.directory, "Fib"],
            "x264": ["x264", "--quiet", "--threads", "1", "--demuxer", "y4m", "-o", "/dev/null", frames],
            "imagemagick": ["convert", "-limit", "thread", "1", image, "-resize", "200%",
                            *["-blur", "0x4"] * max(1, int(3 * seconds)), "null:"],
            "primecount": ["primecount", str(int(2e14 * seconds**1.5)), "-t1"],
            "hugo": ["hugo", "-s", site, "-d", str(self.directory / "public")],
            "ripgrep": ["rg", "-j1", "-c", r"\w+ (\w+) \w*q\w*", large],
            "contexts": [BUILD / "tests" / "programs" / "bench" / "contexts", str(int(1e6 * seconds))],
        }

    def file(self, name, content):
        path = self.directory / name
        path.write_bytes(content)
        return str(path)


# Programs of Go and Rust, for the section `outside` alone: no profiler can be loaded into Go's.
ONLY_OUTSIDE = ("hugo", "ripgrep")


def missing(commands):
    """The programs that are not installed here."""
    return [name for name, command in commands.items()
            if subprocess.run(["which", str(command[0])], capture_output=True).returncode != 0]


def run(command, environment=None):
    """Runs a command, output discarded; returns its status and rusage (children included)."""
    with open(os.devnull, "wb") as null:
        process = subprocess.Popen([str(word) for word in command], stdout=null, stderr=null,
                                   env=dict(os.environ, **(environment or {})))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage
