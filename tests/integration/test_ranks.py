"""Ranks of parallel jobs: their numbers in the measurements and in every view, one directory and one database per job.
The tests set the variables of the launchers instead of running them."""
import csv
import io
import os
import pathlib
import subprocess
import tempfile
import unittest

import profiling
import v4_reader
import viewer

HPCPROF = profiling.BUILD / "bin" / "hpcprof"

# Variables that the launchers set for rank N of job J, and what srun sets for a launcher's daemon.
STEP = {"SLURM_PROCID": 0, "SLURM_JOB_ID": 9, "SLURM_STEP_ID": "1"}
LAUNCHERS = {
    "Open MPI": lambda rank, job: {"OMPI_COMM_WORLD_RANK": rank, "PMIX_RANK": rank,
                                   "PMIX_NAMESPACE": job, **STEP},
    "PMIx": lambda rank, job: {"PMIX_RANK": rank, "PMIX_NAMESPACE": job},
    "MPICH": lambda rank, job: {"PMI_RANK": rank, "PMI_SIZE": "4"},
    "MPICH in a Slurm job": lambda rank, job: {"PMI_RANK": rank, "PMI_SIZE": "4", **STEP},
    "MVAPICH": lambda rank, job: {"MV2_COMM_WORLD_RANK": rank},
    "Slurm": lambda rank, job: {"SLURM_PROCID": rank, "SLURM_JOB_ID": job, "SLURM_STEP_ID": "0"},
}


class Ranks(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def start(self, variables, *options, command=("true",), before=()):
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith(("OMPI_", "PMI", "MV2_", "SLURM_"))}
        environment.update({key: str(value) for key, value in variables.items()})
        return subprocess.Popen([*before, profiling.HPCRUN, "-q", *options, *command],
                                env=environment, cwd=self.folder, stderr=subprocess.PIPE,
                                text=True)

    def finish(self, *processes):
        for process in processes:
            said = process.communicate(timeout=600)[1]
            self.assertEqual((process.returncode, profiling.without_perf_notice(said)), (0, ""))

    def directories(self):
        return sorted(path.name for path in self.folder.iterdir() if path.is_dir())

    def database(self, *directories):
        target = self.folder / "db"
        subprocess.run([HPCPROF, "-o", target, *directories], cwd=self.folder, check=True,
                       capture_output=True, timeout=600)
        return target

    def ranks(self, *directories):
        summary = viewer.printed_json("summary", self.database(*directories))
        return [process["rank"] for process in summary["processes"]]

    def test_every_launcher_gives_ranks_that_share_a_directory_and_a_database(self):
        for name, variables in LAUNCHERS.items():
            with self.subTest(launcher=name):
                self.setUp()
                self.finish(*[self.start(variables(rank, "77")) for rank in (2, 0, 3, 1)])
                self.assertEqual(self.directories(), ["hpctoolkit-true-measurements"])
                db = self.database("hpctoolkit-true-measurements")
                summary = viewer.printed_json("summary", db)
                self.assertEqual([p["rank"] for p in summary["processes"]], [0, 1, 2, 3])
                profiles = v4_reader.read_database(db).profiles[1:]
                self.assertEqual([[identifier.physical for identifier in profile.ids
                                   if identifier.kind == "RANK"] for profile in profiles],
                                 [[0], [1], [2], [3]])
                threads = viewer.printed_json("threads", db)["threads"]
                self.assertEqual([t["rank"] for t in threads], [0, 1, 2, 3])
                records = csv.DictReader(io.StringIO(viewer.printed("threads", "--format", "csv",
                                                                    db), newline=""))
                self.assertEqual([r["rank"] for r in records][:4], ["0", "1", "2", "3"])
                for rank in range(4):
                    self.assertIn(f"  rank {rank}: true  [exit]", viewer.printed("summary", db))
                    self.assertRegex(viewer.printed("threads", db), rf"  rank {rank}: true\n")

    def test_a_script_around_the_program(self):
        """MPICH's launcher gives no job id: the process that started the ranks stands for the job, not the scripts."""
        for rank in (0, 1):
            self.finish(self.start(LAUNCHERS["MPICH"](rank, ""),
                                   before=("sh", "-c", '"$@"; exit $?', "sh")))
        self.assertEqual(self.directories(), ["hpctoolkit-true-measurements"])

    def test_a_rank_has_a_directory_once(self):
        """Programs that are profiled one after the other, as in an interactive job, are not mixed."""
        for _ in range(2):
            self.finish(*[self.start(LAUNCHERS["Slurm"](rank, "5")) for rank in (0, 1)])
        self.assertEqual(self.directories(), ["hpctoolkit-true-measurements",
                                              "hpctoolkit-true-measurements-2"])
        for directory in self.directories():
            self.assertEqual(len(list((self.folder / directory).glob("*.hpcrun"))), 2)

    def test_a_directory_that_is_named(self):
        variables = LAUNCHERS["Open MPI"]
        self.finish(*[self.start(variables(rank, "a"), "-o", "m") for rank in range(2)])
        for rank, job in ((0, "a"), (2, "b")):
            late = self.start(variables(rank, job), "-o", "m")
            said = late.communicate(timeout=600)[1]
            self.assertEqual(late.returncode, 1)
            self.assertRegex(said, r"\Ahpcrun: m: exists, and is neither empty nor [^\n]*\n\Z")
        self.assertEqual(self.ranks("m"), [0, 1])

    def test_jobs_and_what_is_no_job_keep_apart(self):
        self.finish(self.start({}))
        self.finish(self.start(LAUNCHERS["PMIx"](0, "one")))
        self.finish(self.start(LAUNCHERS["PMIx"](1, "two")))
        self.finish(self.start({}))
        self.assertEqual(len(self.directories()), 4)
        self.assertEqual(self.ranks(*self.directories()), [None, None, 0, 1])

    def test_several_directories_make_one_database(self):
        for rank in range(3):
            self.finish(self.start(LAUNCHERS["PMIx"](rank, "j"), "-o", f"node{rank}"))
        self.assertEqual(self.ranks("node0", "node1", "node2"), [0, 1, 2])

    def test_the_batch_script_of_a_slurm_job_has_no_rank(self):
        self.finish(self.start({"SLURM_PROCID": 0, "SLURM_JOB_ID": 5}, "-o", "m"))
        self.assertEqual(self.ranks("m"), [None])

    def test_what_is_no_number_is_no_rank(self):
        self.finish(self.start({"PMI_RANK": "1x"}, "-o", "m"))
        self.finish(self.start({"PMI_RANK": "", "PMIX_RANK": "7", "PMIX_NAMESPACE": "j"}, "-o", "n"))
        self.assertEqual(self.ranks("m", "n"), [None, 7])

    def test_a_launcher_that_is_profiled_itself(self):
        """hpcrun mpirun ...: the children are followed; each has the rank of its own environment."""
        self.finish(self.start({}, "-o", "m", command=(
            "sh", "-c", "for i in 0 1; do PMI_RANK=$i true; PMI_RANK=$i /bin/true; done; exit 0")))
        ranks = self.ranks("m")
        self.assertEqual(sorted(r for r in ranks if r is not None), [0, 1])
        self.assertIn(None, ranks)
