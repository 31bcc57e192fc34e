"""Tasks of ITT and ranges of NVTX are regions of the time line: the library that their loaders open under hpcrun."""
import os

import profiling
from profiling import program

BEGIN, END, MOST, DEEPEST = 1, 2, 4096, 32
ITT, NVTX = "INTEL_LIBITTNOTIFY64", "NVTX_INJECTION64_PATH"
LIBRARY = profiling.BUILD / "lib" / "libhpctoolkit-ranges.so"


def around(*names):
    return [(BEGIN, name) for name in names] + [(END, name) for name in reversed(names)]


class Ranges(profiling.ProfilingTest):
    RANGES = program("ranges")

    def marks(self, *arguments, **options):
        done, (image,) = self.measure(self.RANGES, *arguments, **options)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        return [[mark[1:] for mark in thread.marks] for thread in image.threads], image.threads[0].lost_marks

    def test_itt(self):
        (main, other), lost = self.marks("itt", 3)
        self.assertEqual(main, [(BEGIN, "outer"), *3 * around("inner"), (BEGIN, "first"), (BEGIN, "second"), (END, "first"),
                                (END, "second"), (BEGIN, "region"), (END, "outer"), (END, "region")])
        self.assertEqual((other, lost), ([(BEGIN, "other")], 0))

    def test_nvtx(self):
        (main, other), lost = self.marks("nvtx", 3)
        self.assertEqual(main, [(BEGIN, "outer"), *3 * around("inner"), (BEGIN, "first"), (BEGIN, "second"), (END, "first"),
                                (END, "second"), (BEGIN, "region"), (END, "outer"), (END, "region"), *around("w?de")])
        self.assertEqual((other, lost), ([(BEGIN, "other")], 0))

    def test_many(self):
        """The last begin that is recorded has no end; of later ranges the begins are counted."""
        for kind, later in (("itt", ("first", "second", "region")), ("nvtx", ("first", "second", "region", "w?de"))):
            (main, _), lost = self.marks(kind, 3000)
            self.assertEqual(main, [(BEGIN, "outer"), *3000 * around("inner")][:MOST])
            self.assertEqual(lost, len(("inner", "outer")) + 3000 - MOST // 2 + len(later))

    def test_deep(self):
        (main,), _ = self.marks("deep", DEEPEST + 8)
        self.assertEqual(main, around(*DEEPEST * ["level"]) + around("after"))

    def outputs(self, *options, is_measured=True, **variables):
        environment = {name: value for name, value in os.environ.items() if name not in (ITT, NVTX)}
        for kind in ("itt", "nvtx"):
            hpcrun = (profiling.HPCRUN, "-q", "-o", self.directory / kind, *options) if is_measured else ()
            yield self.run_tool(*hpcrun, self.RANGES, kind, env={**environment, **variables}).stdout

    def test_only_under_hpcrun(self):
        self.assertEqual([*self.outputs(is_measured=False)], ["no tool\n"] * 2)
        ours = {ITT: str(LIBRARY), NVTX: str(LIBRARY)}
        self.assertEqual([*self.outputs(is_measured=False, **ours)], ["no functions\n"] * 2)

    def test_variables_of_the_user_stay(self):
        self.assertEqual([*self.outputs(**{ITT: "/nowhere", NVTX: "/nowhere"})], ["no tool\n"] * 2)

    def test_none_without_a_time_line(self):
        self.assertEqual([*self.outputs("--trace", "off")], ["no tool\n"] * 2)
