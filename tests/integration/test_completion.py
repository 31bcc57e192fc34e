"""Completion of command lines in bash: completions/hpctoolkit.bash."""
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

from terminal import Terminal
from test_man_pages import BUILD, ROOT, TOOLS, install, options_of_help

SCRIPT = ROOT / "completions" / "hpctoolkit.bash"
ASK = """
source {script}
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
function=$(complete -p {tool} | sed 's/.*-F \\([^ ]*\\).*/\\1/')
$function {tool} "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD - 1]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


class Completion(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "a directory").mkdir()
        (self.folder / "database").mkdir()
        (self.folder / "a file").touch()

    def complete(self, *words, script=SCRIPT, path=BUILD / "bin"):
        """What bash offers for the last of the words, as bash itself would split them."""
        text = ASK.format(script=shlex.quote(str(script)), tool=words[0],
                          words=" ".join(map(shlex.quote, words)))
        done = subprocess.run(["bash", "--norc", "--noprofile", "-c", text], capture_output=True,
                              text=True, cwd=self.folder, check=True,
                              env=dict(os.environ, PATH=f"{path}:{os.environ['PATH']}"))
        self.assertEqual(done.stderr, "")
        return set(done.stdout.split("\n")) - {""}

    def test_every_option_of_every_help(self):
        for tool in TOOLS:
            options = options_of_help(tool)
            self.assertGreater(len(options), 5)
            offered = self.complete(tool, "-")
            self.assertLessEqual(options, offered)
            manual = (BUILD / "man" / f"{tool}.1").read_text().replace("\\-", "-")
            for option in offered - options:  # --help has 35 lines
                self.assertRegex(manual, rf"{option}(\\fR)?[,\s]")
            long = {option for option in offered if option.startswith("--")}
            self.assertEqual(self.complete(tool, "--"), long)
        self.assertEqual(self.complete("hpcviewer", "--print", "flat", "--m"),
                         {"--metrics", "--min-percent"})

    def named_in_complaint(self, *arguments):
        """The names that a tool says there are."""
        done = subprocess.run([BUILD / "bin" / arguments[0], *arguments[1:]], capture_output=True,
                              text=True)
        return set(re.search(r"there are ([\w, -]+)", done.stderr)[1].split(", "))

    def test_values(self):
        self.assertEqual(self.complete("hpcviewer", "--print", ""),
                         self.named_in_complaint("hpcviewer", "--print", "x", "."))
        self.assertEqual(self.complete("hpcviewer", "--print", "flat", "--format", ""),
                         self.named_in_complaint("hpcviewer", "--format", "x", "."))
        self.assertEqual(self.complete("hpcviewer", "--format", "=", "fl"), {"flamegraph"})
        self.assertEqual(self.complete("hpcviewer", "--format", "="),
                         self.complete("hpcviewer", "--format", ""))
        self.assertEqual(self.complete("hpcviewer", "--depth", ""), set())
        self.assertEqual(self.complete("hpcrun", "--agent", "n"), {"none"})

    def test_events(self):
        listed = subprocess.run([BUILD / "bin" / "hpcrun", "-L"], capture_output=True, text=True,
                                check=True).stdout.splitlines()
        usable = {line.split()[0] for line in listed[:listed.index("") if "" in listed else None]}
        self.assertLessEqual({"CPUTIME", "REALTIME"}, usable)
        for option in ("-e", "--event"):
            self.assertEqual(self.complete("hpcrun", option, ""), usable)
            self.assertEqual(self.complete("hpcrun", "-e", "CPUTIME", option, "REAL"), {"REALTIME"})

    def test_files_and_directories(self):
        directories, files = {"a directory", "database"}, {"a directory", "a file", "database"}
        for words in (("hpcviewer", ""), ("hpcprof", ""), ("hpcprof", "-o", ""),
                      ("hpcviewer", "-I", ""), ("hpcprof", "--include", "="), ("hpcrun", "-o", ""),
                      ("hpcviewer", "--kinds", ""), ("hpcviewer", "database", "")):
            self.assertEqual(self.complete(*words), directories, words)
        for words in (("hpcstruct", ""), ("hpcstruct", "-o", ""), ("hpcviewer", "--output", "")):
            self.assertEqual(self.complete(*words), files, words)
        self.assertEqual(self.complete("hpcviewer", "a"), {"a directory"})

    def test_commands_behind_hpcrun(self):
        for words in (("hpcrun",), ("hpcrun", "-q"), ("hpcrun", "-e", "CPUTIME"),
                      ("hpcrun", "--event", "=", "CPUTIME"), ("hpcrun", "-o", "m", "--")):
            self.assertIn("hpcviewer", self.complete(*words, "hpcv"), words)
        # The command's own arguments are not hpcrun's.
        for words in (("hpcrun", "ls"), ("hpcrun", "-o", "m", "--", "ls"), ("hpcrun", "ls", "-e")):
            self.assertEqual(self.complete(*words, "a"), {"a directory", "a file"}, words)
        self.assertEqual(self.complete("hpcrun", "ls", "-"), set())

    def test_at_a_prompt(self):
        with Terminal(["env", f"PATH={BUILD / 'bin'}:{os.environ['PATH']}", "bash", "--norc",
                       "--noprofile", "-i"], environment={"PS1": "> "}) as terminal:
            terminal.type(f"cd {self.folder}; source {shlex.quote(str(SCRIPT))}; clear; echo rea\"dy\"\n")
            terminal.until_seen("ready")
            terminal.type("hpcviewer --pri\tbot\t--format=fla\tdat\t")
            terminal.until_seen("> hpcviewer --print bottom-up --format=flamegraph database/")

    def test_installed(self):
        install(PREFIX=self.folder / "p")
        for tool in TOOLS:
            script = self.folder / "p/share/bash-completion/completions" / tool
            self.assertEqual(self.complete(tool, "--vers", script=script,
                                           path=self.folder / "p/bin"), {"--version"})
