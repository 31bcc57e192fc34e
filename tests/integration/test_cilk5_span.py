"""Work and span of Cilk-5: a program that tells what a patched runtime does, written by hand."""
import profiling
from logical_case import LogicalTest, walk
import test_work_span

STOLEN = profiling.BUILD / "tests" / "programs" / "cilk5" / "stolen"


class Cilk5(LogicalTest):
    def look(self):
        """What the program noted and what was measured, of each work and span."""
        done, _ = self.profile(STOLEN, options=("--work-span",))
        begin, left, right, deep, end = (int(time) * 1e-9 for time in done.stdout.split())
        expected = {"cilk_main": (begin + left + right + deep + end, begin + left),
                    "left": (left, left), "right": (right + deep, 0), "deep": (deep, 0)}
        return [(truth, self.value(metric, name)) for name, truths in expected.items()
                for metric, truth in zip(("exact work", "span"), truths)]

    def test_a_procedure_that_is_stolen(self):
        """The thread may lose the CPU between the program's look at a clock and hpcrun's: WorkSpan says how often."""
        for _ in test_work_span.WorkSpan.LOOKS:
            pairs = self.look()
            if all(abs(seen - truth) <= 0.02 * truth + 1e-4 for truth, seen in pairs):
                return
        self.fail(pairs)

    def test_contexts_are_procedures_at_lines(self):
        """Both clones of cilk_main, and the runtime's first procedure, are cilk_main."""
        self.profile(STOLEN, options=("--work-span",))
        paths = {tuple(node["name"] for node in path if node["kind"] == "procedure") for path in walk(self.tree)
                 if path[-1]["kind"] == "procedure" and path[-1]["metrics"]["exact work"]["exclusive"]}
        paths.discard((test_work_span.SERIAL,))
        self.assertEqual({path[path.index("cilk_main"):] for path in paths},
                         {("cilk_main",), ("cilk_main", "left"), ("cilk_main", "right"), ("cilk_main", "right", "deep")})
        self.assertEqual(len(paths), 4, paths)

    def test_without_the_patch_it_is_named(self):
        program = self.directory / "unpatched"
        self.run_tool("objcopy", "--strip-symbol=hpctoolkit_cilk5", STOLEN, program)
        done, _ = self.measure(program, options=("--work-span",), status=1)
        self.assertIn("work and span were not measured: Cilk-5 reports them only with the patch in runtime-patches/cilk5",
                      done.stderr)
        self.make_database()
        states = {m["name"]: m.get("why") for m in self.view(view="summary")["metric_states"]}
        for name in ("exact work", "span", "burdened span"):
            self.assertIn("runtime-patches/cilk5", states[name])

    def test_nothing_is_told_without_the_option(self):
        done, _ = self.measure(STOLEN, status=1)
        self.assertEqual(done.stdout, "")
