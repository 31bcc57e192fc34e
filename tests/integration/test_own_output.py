"""Output directories in places where other users can write: what hpcrun makes is its user's alone, and
nothing that others plant leads it to other files. Root plays both users."""
import os
import pathlib
import stat
import subprocess
import unittest

import profiling

USER, ATTACKER = profiling.ORDINARY_USER, 65533
VICTIM_TEXT = "a file of the victim's\n"


def mode(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


class OwnOutput(profiling.ProfilingTest):
    def setUp(self):
        super().setUp()
        self.output = self.directory / "output"
        self.victim = self.directory / "victim"
        self.victim.write_text(VICTIM_TEXT)

    def hpcrun(self, *words, user=None, umask=0o022, **options):
        """Runs hpcrun; what it said is in the result."""
        return self.run_tool(profiling.HPCRUN, *words, user=user, preexec_fn=lambda: os.umask(umask),
                             **options)

    def files(self):
        return sorted(self.output.iterdir())

    def check_victim(self):
        self.assertEqual(self.victim.read_text(), VICTIM_TEXT)

    def shell(self, script, *options):
        """hpcrun of a shell that does what another user could do meanwhile: $1 is the directory, $2 the
        victim's file."""
        return self.hpcrun("-o", self.output, *options, "sh", "-c", script, "sh", self.output,
                           self.victim)


class Permissions(OwnOutput):
    def check_modes(self, directory, files):
        self.assertEqual(oct(mode(self.output)), oct(directory))
        modes = {path.name: oct(mode(path)) for path in self.files() if not path.is_symlink()}
        self.assertLessEqual({".hpcrun", ".log"}, {path.suffix for path in self.files()})
        self.assertEqual(modes, dict.fromkeys(modes, oct(files)))

    def test_measurements_are_the_users_alone(self):
        self.assertEqual(self.hpcrun("-o", self.output, "true", "--password=secret").returncode, 0)
        self.check_modes(0o700, 0o600)

    def test_without_o_too(self):
        self.assertEqual(self.hpcrun("true").returncode, 0)
        self.output = self.directory / "hpctoolkit-true-measurements"
        self.check_modes(0o700, 0o600)

    def test_the_program_may_have_a_generous_umask(self):
        self.assertEqual(self.hpcrun("-o", self.output, "sh", "-c", "umask 0", umask=0).returncode, 0)
        self.check_modes(0o700, 0o600)

    def test_shared_leaves_them_to_the_umask(self):
        for umask, directory, files in ((0o022, 0o755, 0o644), (0o027, 0o750, 0o640),
                                        (0o077, 0o700, 0o600)):
            with self.subTest(umask=oct(umask)):
                self.output = self.directory / f"output-{umask:o}"
                done = self.hpcrun("-o", self.output, "--shared", "true", umask=umask)
                self.assertEqual(done.returncode, 0)
                self.check_modes(directory, files)

    def test_an_own_directory_keeps_its_mode(self):
        self.output.mkdir()
        self.output.chmod(0o750)
        self.assertEqual(self.hpcrun("-o", self.output, "true").returncode, 0)
        self.check_modes(0o750, 0o600)


@unittest.skipIf(os.geteuid() != 0, "needs root, to play two users")
class TwoUsers(OwnOutput):
    def make_directory(self, owner):
        self.output.mkdir()
        self.output.chmod(0o777)
        os.chown(self.output, owner, owner)

    def test_a_directory_of_another_user_is_refused(self):
        for user in (None, USER):
            with self.subTest(user=user):
                self.output = self.directory / f"of-attacker-{user}"
                self.make_directory(ATTACKER)
                done = self.hpcrun("-o", self.output, "true", user=user)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr.splitlines()[-1],
                                 f"hpcrun: {self.output}: belongs to another user ({ATTACKER}): name a "
                                 "directory that does not exist, or one of your own")
                self.assertEqual(self.files(), [])

    def test_nobody_else_can_read_arguments(self):
        self.assertEqual(self.hpcrun("-o", self.output, "true", "--password=secret",
                                     user=USER).returncode, 0)
        for path in self.files():
            read = subprocess.run(["cat", path], user=ATTACKER, capture_output=True)
            self.assertNotEqual(read.returncode, 0, path)

    def test_a_rank_does_not_join_a_directory_of_another_user(self):
        self.output = self.directory / "hpctoolkit-true-measurements"
        self.make_directory(ATTACKER)
        os.symlink("PMIx J", self.output / ".job")
        environment = {**os.environ, "PMIX_RANK": "0", "PMIX_NAMESPACE": "J"}
        self.assertEqual(self.hpcrun("true", env=environment).returncode, 0)
        self.assertEqual([path.name for path in self.files()], [".job"])
        self.assertTrue(list((self.directory / f"{self.output.name}-2").glob("*.hpcrun")))

    def test_a_rank_does_not_follow_a_link_to_its_directory(self):
        self.make_directory(0)
        os.symlink(self.output, self.directory / "hpctoolkit-true-measurements")
        environment = {**os.environ, "PMIX_RANK": "0", "PMIX_NAMESPACE": "J"}
        self.assertEqual(self.hpcrun("true", env=environment).returncode, 0)
        self.assertEqual(self.files(), [])

    def test_a_directory_that_another_user_put_there_meanwhile_gets_nothing(self):
        self.make_directory(ATTACKER)
        os.symlink(self.victim, self.output / "hpcrun.log")
        self.output.rename(f"{self.output}.planted")
        done = self.shell('mv "$1" "$1.moved" && mv "$1.planted" "$1" && exec sh -c "exit 3"')
        self.assertEqual(done.returncode, 3)
        self.assertIn("Operation not permitted", done.stderr)
        self.assertEqual([path.name for path in self.files()], ["hpcrun.log"])
        self.check_victim()


class Planted(OwnOutput):
    """Names that are there before hpcrun makes them."""

    def check_measured(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(profiling.read_measurements(self.output))
        self.check_victim()

    def test_a_log_that_is_a_link(self):
        self.check_measured(self.shell('ln -s "$2" "$1/hpcrun.log"'))

    def test_a_log_that_is_a_link_to_nothing(self):
        self.check_measured(self.shell('ln -s "$2.new" "$1/hpcrun.log"'))
        self.assertFalse(pathlib.Path(f"{self.victim}.new").exists())

    def test_a_log_that_is_a_second_name_of_a_file(self):
        self.check_measured(self.shell('ln "$2" "$1/hpcrun.log"'))

    def test_a_log_that_is_a_fifo(self):
        self.check_measured(self.shell('mkfifo "$1/hpcrun.log"'))

    def test_the_directory_itself_is_a_link_by_now(self):
        done = self.shell('mv "$1" "$1.moved" && mkdir "$1.other" && ln -s "$1.other" "$1" && '
                          'exec sh -c "exit 3"')
        self.assertEqual(done.returncode, 3)
        self.assertEqual(list(pathlib.Path(f"{self.output}.other").iterdir()), [])


# A launcher with this library stops after it has read a directory, until the file named in GO exists.
STOPS = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
int closedir(DIR *stream)
{
    int result = ((int (*)(DIR *))dlsym(RTLD_NEXT, "closedir"))(stream);
    if (write(1, "read\n", 5) == 5)
        while (access(getenv("GO"), F_OK) != 0)
            usleep(1000);
    return result;
}
"""


class AtOnce(OwnOutput):
    """Several hpcrun that name one directory at the same time: one of them gets it."""

    def check_one_got_it(self, ended):
        """ended: (status, standard error) of each."""
        self.assertEqual(sorted(status for status, _ in ended), [0, 1, 1])
        for status, said in ended:
            if status:
                self.assertRegex(said, r"(?m)^hpcrun: \S+: (another hpcrun is using this directory|"
                                       r"exists and is not an empty directory)$")
        self.assertEqual(len(profiling.read_measurements(self.output)), 1)

    def test_all_find_it_empty(self):
        stopper = self.compile_text("stops.so", STOPS, "-shared", "-fPIC", "-O1")
        environment = {**os.environ, "GO": str(self.directory / "go"), "LD_PRELOAD": str(stopper)}
        self.output.mkdir(mode=0o700)
        all_three = [subprocess.Popen([profiling.HPCRUN, "-o", self.output, "true"], env=environment, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
        for one in all_three:
            self.assertEqual(one.stdout.readline(), "read\n")
        (self.directory / "go").touch()
        said = [one.communicate(timeout=profiling.HANG)[1] for one in all_three]
        self.check_one_got_it([(one.returncode, text) for one, text in zip(all_three, said)])

    def test_one_after_the_other(self):
        ended = [self.hpcrun("-o", self.output, "true") for _ in range(3)]
        self.check_one_got_it([(done.returncode, done.stderr) for done in ended])

    def test_default_names_are_one_for_each(self):
        all_three = [subprocess.Popen([profiling.HPCRUN, "-q", "true"], cwd=self.directory) for _ in range(3)]
        self.assertEqual([one.wait(timeout=profiling.HANG) for one in all_three], [0, 0, 0])
        for directory in ("", "-2", "-3"):
            where = self.directory / f"hpctoolkit-true-measurements{directory}"
            self.assertEqual(len(profiling.read_measurements(where)), 1)

    def test_a_command_that_cannot_run_leaves_it_free(self):
        script = self.directory / "no-program"
        script.write_text("?")
        script.chmod(0o755)
        self.assertEqual(self.hpcrun("-o", self.output, script).returncode, 126)
        self.assertEqual(self.hpcrun("-o", self.output, "true").returncode, 0)

    def test_a_set_of_runs(self):
        first = subprocess.Popen([profiling.HPCRUN, "-o", self.output, "--workers", "1", "--repeat", "1", "sh", "-c",
                                  'echo >&2; while [ ! -e "$0" ]; do sleep 0.01; done', self.directory / "go"],
                                 stderr=subprocess.PIPE, text=True)
        while first.stderr.readline() != "\n":
            self.assertIsNone(first.poll())
        second = self.hpcrun("-o", self.output, "--workers", "1", "true")
        (self.directory / "go").touch()
        first.communicate(timeout=profiling.HANG)
        self.assertEqual((first.returncode, second.returncode), (0, 1))
        self.assertEqual(second.stderr.splitlines()[-1], f"hpcrun: {self.output}: another hpcrun is adding runs to this set")


class Names(OwnOutput):
    def test_the_directory_is_named_without_what_a_terminal_obeys(self):
        name = b"a\x1b[2J\nb\xc2\x9b\xe2\x80\xae\xffz"
        os.symlink("/bin/true", os.fsencode(self.directory) + b"/" + name)
        done = subprocess.run([profiling.HPCRUN, b"./" + name], cwd=self.directory,
                              capture_output=True)
        self.assertEqual(done.returncode, 0)
        self.assertTrue((self.directory / "hpctoolkit-a_[2J_b___z-measurements").is_dir())
