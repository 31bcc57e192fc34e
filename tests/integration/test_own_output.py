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
        modes = {path.name: oct(mode(path)) for path in self.files()}
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


class Names(OwnOutput):
    def test_the_directory_is_named_without_what_a_terminal_obeys(self):
        name = b"a\x1b[2J\nb\xc2\x9b\xe2\x80\xae\xffz"
        os.symlink("/bin/true", os.fsencode(self.directory) + b"/" + name)
        done = subprocess.run([profiling.HPCRUN, b"./" + name], cwd=self.directory,
                              capture_output=True)
        self.assertEqual(done.returncode, 0)
        self.assertTrue((self.directory / "hpctoolkit-a_[2J_b___z-measurements").is_dir())
