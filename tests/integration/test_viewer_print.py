"""hpcviewer --print: all views and formats of a run with known numbers."""
import copy
import csv
import io
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import tempfile
import unittest

import profiling
import v4_reader
import v4_writer
import viewer
import viewer_screen
import viewer_story as story


class Story(story.StoryTest):
    def records(self, *arguments):
        return viewer.records(*arguments, self.db)


class TheWriter(Story):
    def test_an_independent_strict_reader_accepts_what_the_tests_write(self):
        db = v4_reader.read_database(self.db, for_viewer=True)
        self.assertEqual(db.profiles[0].values[0][db.metric("work", "execution")], 10.0)


class Text(Story):
    def test_top_down(self):
        shown = viewer.printed("top-down", self.db)
        self.assertEqual([line.rstrip() for line in shown.splitlines()],
                         [line.rstrip() for line in story.TOP_DOWN.splitlines()])

    def body(self, view, *options):
        return viewer.printed(view, *options, self.db).split(story.RULE + "\n")[1]

    def test_bottom_up(self):
        self.assertEqual(self.body("bottom-up"), story.BOTTOM_UP)

    def test_flat(self):
        self.assertEqual(self.body("flat"), story.FLAT)

    def test_nothing_is_wider_than_100_columns_here(self):
        for view in ("top-down", "bottom-up", "flat", "threads", "summary"):
            for line in viewer.printed(view, self.db).splitlines():
                self.assertLessEqual(len(line), 100, line)

    def test_other_locales_get_ascii(self):
        for view in ("top-down", "bottom-up", "flat", "threads", "summary"):
            self.assertTrue(viewer.printed(view, self.db, locale="C").isascii())
        self.assertIn("111 -> coder_run", viewer.printed("top-down", self.db, locale="C"))

    def test_depth_and_min_percent_say_what_they_leave_out(self):
        shown = self.body("top-down", "--depth", 2)
        self.assertIn("2 scopes go on below level 2", shown)
        self.assertEqual(len(shown.split("\n\n")[0].splitlines()), 5)
        shown = self.body("top-down", "--min-percent", 30)
        self.assertIn("scopes with less than 30% of work are left out", shown)
        self.assertNotIn("worker", shown)
        self.assertIn("coder.c:25", shown)

    def test_threads(self):
        shown = viewer.printed("threads", self.db).splitlines()
        self.assertRegex(shown[4], r"^ +7\.50 +75\.0% +71 +71  xz  "
                                   r"\(of 1503 samples 3 dropped, 4 partial\)$")
        self.assertRegex(shown[5], r"^ +2\.50 +25\.0% +71 +72  xz-worker$")
        self.assertRegex(shown[7], r"^ +10\.00 +sum$")
        self.assertRegex(shown[8], r"^ +2\.50 +25\.0% +min$")
        self.assertRegex(shown[9], r"^ +5\.00 +50\.0% +mean$")
        self.assertRegex(shown[10], r"^ +7\.50 +75\.0% +max$")

    def test_summary(self):
        shown = viewer.printed("summary", self.db)
        for expected in (
                "xz -9 file   8.25 s wall, 10.0 s CPU, 1.2 CPUs used\n1 process, 2 threads\n",
                "       10.00 s  work",
                "       10.00 s  work  the program's code\n"
                "  Not measured (reasons are below): idleness.",
                "Metrics that were not measured\n  idleness: no runtime with an agent took part\n",
                "CPUTIME, a sample each 5.000 ms; 200.3 per second were taken",
                "source: perf task-clock, in 1 thread",
                "source: POSIX timer, in 1 thread (perf is refused)",
                "       2,003     10.02 s  100.0%  fired",
                "       2,000     10.00 s   99.9%  recorded: in the views",
                "           3    15.00 ms    0.1%  dropped: in hpcrun's own code: ",
                "           4    20.00 ms    0.2%  partial: no unwind information: ",
                "xz -9 file  [exit]",
                "1  with source lines",
                "/lib/libc.so.6: changed since the run",
                "minicilk 1",
                "xz-h-72-6-0.hpcrun: 132 bytes at 4096 are damaged"):
            self.assertIn(expected, shown)

    def test_a_terminal_has_what_fits(self):
        shown = viewer.printed_on_terminal(60, "top-down", self.db)
        self.assertEqual([line.rstrip() for line in shown[:22]], """\
xz -9 file   8.25 s wall, 10.0 s CPU, 1.2 CPUs used
top-down view, logical projection
calling contexts, from the outermost procedure inwards

  work  10.00 s
  1 problem with the measurement: see --print summary

    work, s
       inclusive  scope
────────────────────────────────────────────────────────────
    10.00 100.0%  <whole program>
     7.50  75.0%    main thread
     7.50  75.0%      main  xz.c:100
     6.75  67.5%        loop at xz.c:110
     6.50  65.0%          111 » coder_run  coder.c:20
     3.00  30.0%            coder.c:25  state = step(state);
     3.00  30.0%            loop at coder.c:30
     2.00  20.0%            [6] coder.c:31  line_31();
     1.00  10.0%            [6] 33 » [I] min_size  util.h:40
     1.00  10.0%            [7] util.h:41
     0.50   5.0%            40 » coder_run  coder.c:20
     0.50   5.0%            [6] coder.c:25  state = step(sta""".splitlines())

    def test_names_on_a_terminal_are_shortened_before_places_and_places_left_out_whole(self):
        db = v4_writer.Database("t", ["work"])
        module, file = db.module("/t"), db.file("/src/long_file_name.cc")
        entry = db.entry()
        entry.call(db.function("std::map<int, std::pair<long, long>>::find(int)", module, 1, file, 10)).charge(2.0)
        entry.call(db.function("a_name_of_32_letters_without_end", module, 2, file, 20)).charge(1.0)
        shown = viewer.printed_on_terminal(90, "top-down", "--metrics", "work", viewer.written(self, db))
        self.assertRegex(shown[-2], r"      std::map<.*…>::find\(.*\)  long_file_name\.cc:10$")
        shown = viewer.printed_on_terminal(75, "top-down", "--metrics", "work", viewer.written(self, db))
        self.assertEqual(shown[-1], "        1  33.3%        1  33.3%      a_name_of_32_letters_without_end")
        shown = viewer.printed_on_terminal(69, "top-down", "--metrics", "work", viewer.written(self, db))
        self.assertEqual(shown[-1], "        1  33.3%        1  33.3%    [2] a_name_of_32_letters_without_")

    def test_no_line_is_longer_than_the_terminal_and_no_word_is_broken(self):
        whole = {view: viewer.printed(view, self.db) for view in ("bottom-up", "flat", "summary", "threads")}
        for view, text in whole.items():
            for width in (80, 50):
                shown = viewer.printed_on_terminal(width, view, self.db)
                self.assertLessEqual(max(map(len, shown)), width)
                if view == "summary":
                    self.assertEqual(" ".join(shown[1:]).split(), text.partition("\n")[2].split())

    def test_threads_on_a_terminal_have_the_metrics_that_fit(self):
        """18 columns for numbers of processes and threads, 19 for each metric, and 16 for a name."""
        p = v4_writer.Database("t", ["work", "waiting", "ready"])
        p.entry().call(p.function("f")).charge(1.0, 0).charge(2.0, 1).charge(3.0, 2)
        folder = viewer.written(self, p)
        for width, metrics in ((91, ["work", "waiting", "ready"]), (90, ["work", "waiting"]), (71, ["work"])):
            titles = viewer.printed_on_terminal(width, "threads", folder)[3].split()
            self.assertEqual(titles, [*metrics, "process", "thread", "name"], width)

    def test_names_cannot_command_the_terminal(self):
        db = v4_writer.Database("t\x1b[2J", ["work"])
        db.entry().call(db.function(b"evil\x1b]0;x\x07\xff\xc2\x9b\n", db.module("/b\x1b"))).charge(1.0)
        folder = viewer.written(self, db)
        for view in ("top-down", "bottom-up", "flat", "threads", "summary"):
            for locale in ("C", "C.UTF-8"):
                shown = viewer.printed(view, folder, locale=locale)
                self.assertEqual([c for c in shown if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)], [])


class Formats(Story):
    def test_csv_has_the_rows_of_json(self):
        for view in ("top-down", "bottom-up", "flat"):
            tree = viewer.printed_json(view, self.db)
            records = self.records(view)
            rows = list(viewer.rows_of(tree["root"]))
            self.assertEqual(len(records), len(rows))
            for record, (depth, row) in zip(records, rows):
                self.assertEqual(int(record["depth"]), depth)
                for key in ("kind", "name", "file", "module"):
                    self.assertEqual(record[key], row[key] or "")
                self.assertEqual(record["line"], str(row["line"] or ""))
                site = row.get("call_site", {"file": "", "line": ""})
                self.assertEqual((record["call_file"], record["call_line"]),
                                 (site["file"], str(site["line"])))
                for part in ("inclusive", "exclusive"):
                    self.assertEqual(float(record[f"work:{part}"]), row["metrics"]["work"][part])
                    self.assertEqual(record[f"idleness:{part}"], "-")

    def test_csv_is_quoted_and_ends_lines_as_rfc_4180_says(self):
        names = ['a,b', 'say "x"', 'two\nlines', 'plain']
        db = v4_writer.Database("t", ["a,b", "work"])
        main = db.entry()
        for name in names:
            main.call(db.function(name)).charge(1.0, 0).charge(1.0, 1)
        raw = subprocess.run([viewer.VIEWER, "--print", "top-down", "--format", "csv", viewer.written(self, db)],
                             capture_output=True).stdout
        self.assertIn(b'"say ""x"""', raw)
        self.assertTrue(all(line.endswith(b"\r") for line in raw.split(b"\n")
                            if line))
        read = list(csv.DictReader(io.StringIO(raw.decode(), newline="")))
        self.assertEqual(sorted(r["name"] for r in read[2:]),
                         sorted(name.replace("\n", r"\x0a") for name in names))
        self.assertEqual({r["a,b:inclusive"] for r in read[2:]}, {"1"})

    def test_json_describes_the_metrics(self):
        tree = viewer.printed_json("top-down", self.db)
        self.assertEqual(tree["title"], "xz")
        self.assertEqual(tree["metrics"], [
            {"name": "work", "unit": "s", "state": "measured"},
            {"name": "idleness", "unit": "s", "state": "not measurable",
             "why": "no runtime with an agent took part"}])
        self.assertEqual(tree["root"]["metrics"]["idleness"],
                         {"inclusive": None, "exclusive": None})
        main = viewer.find(tree["root"], "main")
        self.assertEqual({key: main[key] for key in ("kind", "file", "line", "module")},
                         {"kind": "procedure", "file": "/src/xz.c", "line": 100,
                          "module": "/usr/bin/xz"})
        self.assertEqual(viewer.find(tree["root"], "coder_run")["call_site"],
                         {"file": "/src/xz.c", "line": 111})

    def test_json_survives_any_name(self):
        db = v4_writer.Database(b"\xff\x01title", ["work"])
        db.entry().call(db.function(b'n\x80\xc3("\\\t\x1f')).charge(1.0)
        tree = viewer.printed_json("top-down", viewer.written(self, db))
        self.assertEqual(viewer.find(tree["root"], 'n\ufffd\ufffd("\\\t\x1f')["kind"], "procedure")

    def folded(self, *arguments):
        lines = viewer.printed(*arguments, "--format", "folded", self.db).splitlines()
        stacks = [line.rsplit(" ", 1) for line in lines]
        return {stack: int(value) for stack, value in stacks}, len(lines)

    def test_folded(self):
        self.assertEqual(self.folded("top-down"), (story.FOLDED, len(story.FOLDED)))
        shown, _ = self.folded("bottom-up")
        self.assertEqual(shown, story.FOLDED_BOTTOM_UP)

    def test_folded_stacks_add_up_whatever_is_left_out(self):
        for view in ("top-down", "bottom-up"):
            for options in (("--depth", 2), ("--depth", 3), ("--min-percent", 20)):
                shown, _ = self.folded(view, *options)
                left_out = 2_000_000_000 if (view, options[1]) == ("bottom-up", 20) else 0
                self.assertEqual(sum(shown.values()), 10_000_000_000 - left_out)
        shown, _ = self.folded("top-down", "--depth", 3)
        self.assertEqual(shown, {"main thread;main": 6_750_000_000,
                                 "main thread;main;write_out": 750_000_000,
                                 "application thread;worker;coder_run": 2_500_000_000})

    def test_threads(self):
        threads = viewer.printed_json("threads", self.db)
        self.assertEqual([(t["pid"], t["tid"], t["name"], t["metrics"]["work"])
                          for t in threads["threads"]],
                         [(71, 71, "xz", 7.5), (71, 72, "xz-worker", 2.5)])
        self.assertEqual([(t["samples"], t["dropped"], t["partial"], t["host"], t["rank"])
                          for t in threads["threads"]], [(1503, 3, 4, "h", None),
                                                         (500, 0, 0, "h", None)])
        self.assertEqual(threads["threads"][1]["id"], "NODE 7 PROCESS 71 THREAD 1")
        self.assertEqual(threads["threads"][1]["metrics"]["idleness"], None)
        self.assertEqual({s: threads["statistics"][s]["work"] for s in threads["statistics"]},
                         {"sum": 10.0, "min": 2.5, "mean": 5.0, "max": 7.5})
        records = self.records("threads", "--sort", "work")
        self.assertEqual([(r["kind"], r["tid"], r["work"], r["idleness"]) for r in records],
                         [("thread", "71", "7.5", "-"), ("thread", "72", "2.5", "-"),
                          ("sum", "", "10", "-"), ("min", "", "2.5", "-"), ("mean", "", "5", "-"),
                          ("max", "", "7.5", "-")])

    def test_samples_of_a_thread_with_several_events_and_reasons(self):
        run = copy.deepcopy(story.RUN)
        described = run["processes"][0]["threads"][0]["events"]
        described[0]["fates"].update({"dropped: out of memory": {"count": 5}, "partial: damaged": {"count": 6}})
        described.append(described[0])
        with tempfile.TemporaryDirectory() as folder:
            story.write(folder, with_run=False)
            viewer.describe_run(folder, **run)
            thread = viewer.printed_json("threads", folder)["threads"][0]
            self.assertEqual([thread[what] for what in ("samples", "dropped", "partial")], [3006, 16, 20])

    def test_summary(self):
        summary = viewer.printed_json("summary", self.db)
        self.assertEqual(summary["metrics"], {"work": 10.0, "idleness": None})
        process = summary["processes"][0]
        expected = {"pid": 71, "command": "xz -9 file", "threads": 2, "workers": None,
                    "wall": 8.25, "cpu": 10.0, "samples": 2003, "recorded": 2000, "idle": 0,
                    "nobody_working": 0, "dropped": {"in hpcrun's own code": 3}, "partial": 4}
        self.assertEqual({key: process[key] for key in expected}, expected)
        self.assertEqual(summary["problems"], story.RUN["problems"])
        self.assertEqual(process["dropped"], {"in hpcrun's own code": 3})
        self.assertEqual((process["partial"], process["partial_reasons"]), (4, {"no unwind information": 4}))
        self.assertEqual(summary["samples"][0]["fates"]["recorded"]["count"], 2000)


    def test_many_processes(self):
        """Of 25, the 20 with the most CPU time are listed, equal ones in the order of the run, and of 21 problems 20; of 20
        all, in that order."""
        with tempfile.TemporaryDirectory() as folder:
            for n, listed in (25, range(1, 21)), (20, range(20)):
                run = copy.deepcopy(story.RUN)
                first = run["processes"][0]
                run["processes"] = [{**first, "command": f"app {i}", "cpu": (25 - i - i % 2) / 100 if i else 0.0}
                                    for i in range(n)]
                run["problems"] = [f"problem {i}" for i in range(n - 4)]
                shutil.rmtree(folder)
                story.write(folder, with_run=False)
                viewer.describe_run(folder, **run)
                text = viewer.printed("summary", folder)
                self.assertEqual([int(i) for i in re.findall(r"  app (\d+)  \[", text)], list(listed))
                self.assertEqual("  5 more have 30.00 ms of CPU time or less each: --format json has them\n" in text, n == 25)
                self.assertEqual(text.count("  problem "), min(n - 4, 20))
                self.assertEqual("  1 more: --format json has them\n" in text, n == 25)
                self.assertEqual(len(viewer.printed_json("summary", folder)["processes"]), n)


class Columns(Story):
    """What the screens show is what the printers print."""

    def test_text(self):
        lines = viewer.printed("top-down", "--columns", "work:exclusive", "--bars", self.db).splitlines()
        at = lines.index(next(line for line in lines if line.endswith("exclusive  scope")))
        self.assertEqual(lines[at - 1].strip(), "work, s")
        row = next(line for line in lines[at:] if "coder_run" in line)
        self.assertRegex(row, r"^     5\.00 ███ +111 » coder_run  coder\.c:20$")

    def test_csv_and_json(self):
        record = self.records("flat", "--columns", "work:exclusive")[0]
        self.assertEqual([name for name in record if ":" in name], ["work:exclusive"])
        whole = viewer.printed_json("flat", "--columns", "work:exclusive", self.db)["root"]
        self.assertEqual(whole["metrics"], {"work": {"exclusive": 10}})

    def test_one_part_of_a_derived_metric(self):
        options = "--derive", "twice = 2 * $work", "--columns", "twice:exclusive"
        self.assertEqual([name for name in self.records("flat", *options)[0] if ":" in name], ["twice:exclusive"])
        whole = viewer.printed_json("flat", *options, self.db)["root"]
        self.assertEqual(whole["metrics"], {"twice": {"exclusive": 20}})

    def test_the_screen(self):
        """The rows of the viewer are the lines of the text: the costs, two spaces more, and names below markers."""
        columns = "--columns", "work:exclusive,work:inclusive"
        text = viewer.printed("top-down", *columns, "--min-percent", "0", self.db).split(story.RULE + "\n")[1]
        rows = [(line[:32], line[32:].strip().split("  ")[0]) for line in text.splitlines()]
        terminal = self.enterContext(viewer_screen.Viewer(*columns, self.db))
        terminal.press("v", "g", "*")
        terminal.until(lambda lines: [(line[:32], re.split("  +", line[34:].replace("▾", " ").strip())[0])
                                      for line in lines[4:4 + len(rows)]] == rows, "the lines of the text")


class Options(Story):
    def names(self, view, *options):
        root = viewer.printed_json(view, *options, self.db)["root"]
        return [row["name"] for row in root["children"]]

    def test_sort(self):
        self.assertEqual(self.names("bottom-up"),
                         ["coder_run", "min_size", "write_out", "main", "worker"])
        self.assertEqual(self.names("bottom-up", "--sort", "work:inclusive"),
                         ["coder_run", "main", "worker", "min_size", "write_out"])
        self.assertEqual(self.names("bottom-up", "--sort", "work"),
                         ["coder_run", "min_size", "write_out", "main", "worker"])
        main = viewer.find(viewer.printed_json("top-down", "--sort", "work:exclusive",
                                               self.db)["root"], "main")
        self.assertEqual([row["name"] for row in main["children"]],
                         ["write_out", "loop at xz.c:110"])

    def test_metrics(self):
        db = v4_writer.Database("t", ["a", "b", "a,b", "zero"])
        db.entry().call(db.function("f")).charge(1.0, 0).charge(2.0, 1).charge(4.0, 2)
        folder = viewer.written(self, db)

        def shown(*options):
            tree = viewer.printed_json("flat", *options, folder)
            root = tree["root"]["metrics"]
            self.assertEqual([m["name"] for m in tree["metrics"]], list(root))
            return {name: root[name]["inclusive"] for name in root}

        self.assertEqual(shown(), {"a": 1, "b": 2, "a,b": 4})
        self.assertEqual(shown("--metrics", "b"), {"b": 2})
        self.assertEqual(shown("--metrics", "b,a,zero"), {"b": 2, "a": 1, "zero": 0})
        self.assertEqual(shown("--metrics", "zero,a,b"), {"zero": 0, "a,b": 4})
        for names, parts in (("b:inclusive,a", ["b:inclusive", "a:inclusive", "a:exclusive"]),
                             ("a,b:exclusive", ["a,b:exclusive"]),
                             ("a:inclusive,b", ["a:inclusive", "b:inclusive", "b:exclusive"]),
                             ("b:exclusive,b:inclusive", ["b:inclusive", "b:exclusive"])):
            self.assertEqual(list(viewer.records("flat", "--metrics", names, folder)[0])[8:], parts)
            [costs] = {tuple(row["metrics"]["b"]) for _, row in viewer.rows_of(viewer.printed_json(
                "flat", "--metrics", names, folder)["root"]) if "b" in row["metrics"]} or {()}
            self.assertEqual([f"b:{part}" for part in costs], [part for part in parts if part.startswith("b:")])
        self.assertEqual(viewer.run("--print", "flat", "--metrics", "b:sideways", folder).returncode, 2)
        text = viewer.printed("flat", "--metrics", "a,b,b,zero", folder)
        self.assertIn("a,b", text.splitlines()[8])
        self.assertIn("zero", text.splitlines()[8])

    def test_depth(self):
        def depth(*options):
            rows = viewer.rows_of(viewer.printed_json(*options, self.db)["root"])
            return max(level for level, _ in rows)
        self.assertEqual(depth("top-down", "--depth", 1), 1)
        self.assertEqual(depth("top-down", "--depth", 3), 3)
        self.assertEqual(depth("top-down", "--depth", 999999999999), 7)
        self.assertEqual(depth("bottom-up", "--depth", 2), 2)

    def test_min_percent(self):
        names = [row["name"] for _, row in viewer.rows_of(
            viewer.printed_json("top-down", "--min-percent", "65", self.db)["root"])]
        self.assertEqual(names, ["<whole program>", "main thread", "main", "loop at xz.c:110",
                                 "coder_run"])
        self.assertEqual(self.names("bottom-up", "--min-percent", "9"), ["coder_run", "min_size"])
        self.assertEqual(self.names("bottom-up", "--min-percent", "75", "--sort", "work:inclusive"),
                         ["coder_run", "main"])

    def test_physical(self):
        tree = viewer.printed_json("top-down", "--physical", self.db)
        self.assertEqual(tree["projection"], "physical")
        self.assertEqual(viewer.find(tree["root"], "_start")["metrics"]["work"]["exclusive"], 1.5)
        self.assertEqual(viewer.printed_json("threads", "--physical", self.db)["statistics"]["sum"],
                         {"work": 1.5, "idleness": None})

    def test_metrics_that_were_not_measured_can_be_asked_for(self):
        shown = viewer.printed("top-down", "--metrics", "idleness,work", self.db)
        main = next(line for line in shown.splitlines() if "  main  " in line)
        self.assertRegex(main, r"^        -               -            7\.50  75\.0%     0\.25 ")

    def test_what_cannot_be_understood(self):
        for arguments, expected in [
                ([], "no database given"),
                (["a", "b", "c"], "more than two databases"),
                (["--print", "sideways", self.db], "no view 'sideways'"),
                (["--print", "flat", "--format", "xml", self.db], "no format 'xml'"),
                (["--print", "threads", "--format", "folded", self.db],
                 "folded is for top-down, bottom-up, flat; threads can be printed as text, csv, json\n"),
                (["--print", "threads", "--format", "svg", self.db],
                 "svg is for top-down, bottom-up, flat, timeline, scaling; threads can be printed as text, csv, json\n"),
                (["--print", "summary", "--format", "folded", self.db], "; summary can be printed as text, json, markdown\n"),
                (["--print", "summary", "--format", "csv", self.db],
                 "--format csv is for top-down, bottom-up, flat, threads, phases, critical-path, scaling, losses; summary can be printed as text, json, markdown\n"),
                (["--print", "flat", "--format", "gnuplot", self.db], "no format 'gnuplot'"),
                (["--print", "timeline", "--format", "firefox", self.db], "no format 'firefox'; there are text, csv"),
                (["--numbers", "plain", self.db], "unknown option --numbers"),
                (["--print", "flat", "--depth", "0", self.db], "--depth takes"),
                (["--print", "flat", "--depth", "x", self.db], "--depth takes"),
                (["--print", "flat", "--min-percent", "-1", self.db], "--min-percent takes"),
                (["--print", "flat", "--min-percent", "nan", self.db], "--min-percent takes"),
                (["--print", "flat", "--min-percent", "inf", self.db], "--min-percent takes"),
                (["--print", "flat", "--min-percent", "101", self.db], "from 0 to 100, not '101'"),
                (["--print", "summary", "--sort", "nonsense", self.db],
                 "--sort is for top-down, bottom-up, flat, threads, losses; it does nothing for --print summary\n"),
                (["--print", "timeline", "--kinds", self.db], "--kinds is for top-down, bottom-up, flat, threads, summary, phases"),
                (["--print", "critical-path", "--physical", self.db], "it does nothing for --print critical-path"),
                (["--print", "phases", "--fold-inlined", self.db], "it does nothing for --print phases"),
                (["--print", "threads", "--depth", "2", self.db], "--depth is for top-down, bottom-up, flat, timeline, losses"),
                (["--print", "summary", "--min-percent", "2", self.db],
                 "--min-percent is for top-down, bottom-up, flat, critical-path, losses"),
                (["--format", "json", self.db], "need --print"),
                (["--bogus", self.db], "unknown option --bogus"),
                (["--physical=1", self.db], "--physical takes no value"),
                (["-x", self.db], "unknown option -x"),
                ([self.db, "--print"], "--print needs a value"),
                (["--print", "flat", "--sort", "nonsense", self.db], "no metric 'nonsense'"),
                (["--print", "flat", "--sort", "work:sideways", self.db], "no metric 'work:side"),
                (["--print", "threads", "--sort", "nonsense", self.db], "no metric 'nonsense'"),
                (["--print", "flat", "--sort", "idleness", self.db], "was not measured: no runtime"),
                (["--print", "flat", "--metrics", "work,nonsense", self.db], "no metric 'nonsense'"),
                (["--print", "flat", "--metrics", "", self.db], "no metric ''")]:
            with self.subTest(arguments=arguments):
                done = viewer.run(*arguments)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stdout, "")
                self.assertIn(expected, done.stderr)
                self.assertTrue(done.stderr.startswith("hpcviewer: "))
                self.assertLessEqual(len(done.stderr.splitlines()), 2)

    def test_help_and_version(self):
        done = viewer.run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in ("top-down", "bottom-up", "flat", "threads", "summary", "--physical",
                     "--format", "folded", "flamegraph", "speedscope", "pprof", "--output", "--sort",
                     "--metrics", "--depth", "--min-percent"):
            self.assertIn(word, done.stdout)
        self.assertTrue(all(len(line) <= 80 for line in done.stdout.splitlines()))
        self.assertEqual(viewer.run("--version").returncode, 0)

    def test_databases_without_a_physical_projection_or_metrics(self):
        db = v4_writer.Database("t", [])
        db.entry().call(db.function("f"))
        one, other = viewer.written(self, story.describe()), viewer.written(self, db)
        for folder, lacks, *arguments in ((one, "physical projection", "flat", "--physical"), (other, "metrics", "flat"),
                                          (other, "metrics", "threads"), (other, "metrics", "summary")):
            done = viewer.run("--print", *arguments, folder)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", f"hpcviewer: {folder}: no {lacks} in it\n"))

    def test_a_full_disk_is_noticed(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([viewer.VIEWER, "--print", "flat", self.db], stdout=full,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left", done.stderr)

    def test_a_truncated_database_is_one_line_in_every_view(self):
        folder = viewer.written(self, story.describe())
        with open(pathlib.Path(folder) / "meta.db", "r+b") as file:
            file.truncate(100)
        for view in "flat", "threads", "summary", "timeline", "critical-path", "phases":
            with self.subTest(view=view):
                done = viewer.run("--print", view, folder)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, rf"\Ahpcviewer: {folder}/meta.db: truncated: [^\n]*\n\Z")

    def test_without_a_terminal_the_viewer_says_so(self):
        done = viewer.run(self.db)
        self.assertEqual(done.returncode, 1)
        self.assertIn("not a terminal", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)


class WithoutRun(unittest.TestCase):
    def test_a_database_of_others_says_less(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder = os.path.join(temporary, "db")
            story.write(folder, with_run=False)
            summary = viewer.printed_json("summary", folder)
            self.assertEqual((summary["title"], summary["processes"], summary["threads"]),
                             ("xz (v4)", [], 2))
            self.assertEqual(summary["metrics"], {"work": 10.0})
            self.assertIn("says nothing about samples", viewer.printed("summary", folder))
            threads = viewer.printed_json("threads", folder)["threads"]
            self.assertEqual([(t["pid"], t["id"]) for t in threads],
                             [(None, "NODE 7 PROCESS 71 THREAD 0"),
                              (None, "NODE 7 PROCESS 71 THREAD 1")])

    def test_units_in_names(self):
        db = v4_writer.Database("t", ["CPUTIME (sec)", "COPY (B)", "CYCLES", "odd (x) y"])
        call = db.entry().call(db.function("f"))
        for metric in range(4):
            call.charge(3e6, metric)
        folder = viewer.written(self, db)
        units = [m["unit"] for m in viewer.printed_json("flat", folder)["metrics"]]
        self.assertEqual(units, ["s", "B", "count", "count"])
        head = viewer.printed("flat", folder).split("\n\n")[1].splitlines()
        self.assertEqual([line.split("  ")[-1].strip() for line in head],
                         ["3000000.0 s", "3.000 MB", "3.000 M", "3.000 M"])

    def test_threads_of_databases_without_totals(self):
        folder = viewer.written(self, story.describe(), v4_writer.Layout(totals=False))
        threads = viewer.printed_json("threads", folder)
        self.assertEqual([t["metrics"]["work"] for t in threads["threads"]], [7.5, 2.5])


class DeepTrees(unittest.TestCase):
    """Long paths: no code may recurse over their length or take quadratic time."""

    def test_a_recursion_20000_deep(self):
        depth = 20000
        db = v4_writer.Database("deep", ["work"])
        f = db.function("f", db.module("/bin/p"), 16, db.file("/p.c"), 1)
        at = db.entry()
        for _ in range(depth):
            at = at.call(f)
        at.charge(2.0)
        folder = viewer.written(self, db)
        records = viewer.printed("top-down", "--format", "csv", folder).splitlines()
        self.assertEqual(len(records), depth + 3)
        self.assertTrue(records[-1].startswith(f"{depth + 1},procedure,f,"))
        flat = viewer.printed_json("flat", folder)["root"]
        self.assertEqual(viewer.find(flat, "f")["metrics"]["work"], {"inclusive": 2.0, "exclusive": 2.0})
        callers = viewer.printed_json("bottom-up", folder)["root"]
        self.assertEqual(len(list(viewer.rows_of(callers))), 12)
        folded = viewer.printed("top-down", "--format", "folded", folder)
        self.assertEqual(folded.count(";f"), depth)
        text = viewer.printed("top-down", folder).splitlines()
        self.assertIn(f"[{depth + 1}] f  p.c:1", text[-1])


class Measurements(unittest.TestCase):
    """A measurement directory in place of a database; hpcprof is a stand-in here."""

    def setUp(self):
        self.top = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.viewer = self.top / "bin" / "hpcviewer"
        self.viewer.parent.mkdir()
        shutil.copy(viewer.VIEWER, self.viewer)
        story.write(self.top / "made")
        self.measurements = self.top / "elsewhere" / "hpctoolkit-xz-measurements-2"
        self.measurements.mkdir(parents=True)
        (self.measurements / story.RUN["processes"][0]["file"]).write_text("a measurement")
        self.database = self.top / "hpctoolkit-xz-database-2"

    def hpcprof(self, *lines):
        path = self.viewer.parent / "hpcprof"
        path.write_text("\n".join(["#!/bin/sh", f'echo "$@" >> {self.top}/calls', *lines]) + "\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def view(self, folder):
        return subprocess.run([self.viewer, "--print", "threads", folder], capture_output=True,
                              text=True, cwd=self.top)

    def test_hpcprof_makes_the_database_once(self):
        self.hpcprof(f'cp -r {self.top}/made "$2"', 'echo "$2"')
        done = self.view(f"{self.measurements}/")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("xz-worker", done.stdout)
        self.assertIn("is a measurement directory; running hpcprof to create", done.stderr)
        calls = (self.top / "calls").read_text().splitlines()
        self.assertEqual(calls, [f"-o {self.database.name} {self.measurements}/"])
        again = self.view(self.measurements)
        self.assertEqual(again.returncode, 0)
        self.assertEqual(done.stdout, again.stdout)  # and not what hpcprof prints
        self.assertIn(f"opening its database {self.database.name}", again.stderr)
        self.assertEqual(len((self.top / "calls").read_text().splitlines()), 1)

    def test_a_database_older_than_the_measurements_is_not_shown(self):
        """A new one is made, under the next free number, and found again."""
        self.hpcprof(f'cp -r {self.top}/made "$2"')
        self.view(self.measurements)
        second, third = (self.database.with_name(f"{self.database.name}.{n}") for n in (2, 3))
        for stale, made in (self.database, second), (second, third):
            os.utime(stale / "meta.db", (1, 1))
            done = self.view(self.measurements)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"{stale.name} is not shown: it was made before the last measurement; running hpcprof to "
                          f"create {made.name}", done.stderr)
            self.assertTrue(made.is_dir())
            self.assertIn(f"opening its database {made.name}", self.view(self.measurements).stderr)
        self.assertEqual(len((self.top / "calls").read_text().splitlines()), 3)

    def test_the_only_measurements_here_with_databases_of_several_times(self):
        self.hpcprof(f'cp -r {self.top}/made "$2"')
        here = self.top / "here"
        here.mkdir()
        self.measurements.rename(here / "m")
        for _ in range(2):
            done = subprocess.run([self.viewer, "--print", "threads"], capture_output=True, text=True, cwd=here)
            self.assertEqual(done.returncode, 0, done.stderr)
            os.utime(here / "hpctoolkit-m-database" / "meta.db", (1, 1))
        self.assertEqual(sorted(path.name for path in here.iterdir()),
                         ["hpctoolkit-m-database", "hpctoolkit-m-database.2", "m"])
        (here / "hpctoolkit-m-database.2").rename(here / "hpctoolkit-m-database.old")
        done = subprocess.run([self.viewer, "--print", "threads"], capture_output=True, text=True, cwd=here)
        self.assertEqual(done.returncode, 2)
        self.assertIn("several are here: hpctoolkit-m-database.old, m", done.stderr)

    def test_failures(self):
        done = self.view(self.measurements)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("No such file", done.stderr)
        self.hpcprof("exit 1")
        done = self.view(self.measurements)
        self.assertEqual(done.returncode, 1)
        self.assertIn("hpcprof created no database", done.stderr)

    def test_what_is_neither(self):
        for path, expected in ((self.top, "neither a database"), ("/nowhere", "No such file"),
                               (__file__, "not a directory")):
            done = viewer.run("--print", "flat", path)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(expected, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_another_users_database(self):
        """Whether it is one can't be seen."""
        closed = self.top / "closed"
        closed.mkdir(mode=0)
        self.top.chmod(0o755)
        more = {"user": profiling.ORDINARY_USER} if os.geteuid() == 0 else {}
        done = subprocess.run([profiling.BUILD / "bin/hpcviewer", "--print", "flat", closed], capture_output=True,
                              text=True, timeout=600, **more)
        self.assertEqual((done.returncode, done.stderr), (1, f"hpcviewer: {closed}: Permission denied\n"))
