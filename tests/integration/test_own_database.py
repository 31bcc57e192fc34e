"""Only the user can read the database, and it has no copies of files that must stay secret, although programs can name
any file with #line. The tests run as root and take the roles of the users. Programs are really compiled and run."""
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest

import profiling

USER, ATTACKER = profiling.ORDINARY_USER, 65533
HPCPROF = profiling.BUILD / "bin" / "hpcprof"
SECRET = "a line that only its owner may read\n"


def mode(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


class DatabaseTest(unittest.TestCase):
    """Works in a directory that every user can search and only root can write to."""

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="hpctest-"))
        self.root.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)

    def folder(self, name, owner=None, permissions=0o755):
        folder = self.root / name
        folder.mkdir(permissions)
        folder.chmod(permissions)
        if owner is not None:
            os.chown(folder, owner, owner)
        return folder

    def write(self, path, text, permissions=0o644, owner=None):
        path.write_text(text)
        path.chmod(permissions)
        if owner is not None:
            os.chown(path, owner, owner)
        return path

    def command(self, *words, cwd, user=None, umask=0o022, cache=None, **options):
        cache = cache or (cwd / "cache" if user else profiling.CACHE)
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        done = subprocess.run([str(word) for word in words], cwd=cwd, user=user, group=user,
                              extra_groups=[] if user else None, umask=umask, env=environment,
                              capture_output=True, text=True, errors="replace", timeout=600,
                              **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def compile(self, where, named, owner=None, name="program"):
        """A program that spends time in lines that it attributes to a file (#line); compiled in `where`."""
        source = self.write(where / f"{name}.c", f"""
            volatile unsigned long sum;
            #line 1 "{named}"
            int main(void) {{ for (unsigned long i = 0; i < 20000000; i++) sum += i; return 0; }}
            """, owner=owner)
        self.command("cc", "-g", "-O1", source.name, "-o", name, cwd=where)
        if owner is not None:
            os.chown(where / name, owner, owner)
        return where / name

    def database(self, program, *options, user=None, where=None, umask=0o022):
        """The database of a run, and hpcprof's messages."""
        where = where or self.folder(f"out-{len(list(self.root.iterdir()))}", owner=user)
        self.command(profiling.HPCRUN, "-q", "-e", "CPUTIME@f1000", "-o", "measurements", "--",
                     program, cwd=where, user=user, umask=umask)
        done = self.command(HPCPROF, "-o", "database", *options, "measurements", cwd=where, user=user,
                            umask=umask)
        return where / "database", done.stderr

    def copy(self, database, source):
        return database / "src" / str(source).lstrip("/")

    def check_copied(self, database, source, permissions):
        copy = self.copy(database, source)
        self.assertEqual(copy.read_bytes(), source.read_bytes())
        self.assertEqual(oct(mode(copy)), oct(permissions))

    def check_secret(self, database):
        """No file of the database contains the secret."""
        for path in database.rglob("*"):
            if path.is_file():
                self.assertNotIn(SECRET.encode(), path.read_bytes(), path)


class Copies(DatabaseTest):
    def test_sources_keep_their_permissions(self):
        for permissions in (0o644, 0o600, 0o640):
            with self.subTest(permissions=oct(permissions)):
                where = self.folder(f"tree-{permissions:o}")
                source = self.write(where / "named.c", SECRET, permissions)
                database, said = self.database(self.compile(where, source))
                self.check_copied(database, source, permissions)
                self.assertEqual(said, "")

    def test_links_out_of_the_directory_of_compilation_are_followed_to_what_everybody_may_read(self):
        where = self.folder("tree")
        inner, outer = where / "inner", self.folder("outer")
        inner.mkdir()
        self.write(inner / "file.c", SECRET)
        (where / "named.c").symlink_to("inner/file.c")
        database, _ = self.database(self.compile(where, where / "named.c"))
        self.check_copied(database, where / "named.c", 0o644)
        (where / "out.c").symlink_to("../outer/file.c")
        for permissions, in_private in ((0o600, False), (0o644, True), (0o644, False)):
            self.write(outer / "file.c", SECRET, permissions)
            outer.chmod(0o700 if in_private else 0o755)
            database, said = self.database(self.compile(where, where / "out.c"))
            if permissions == 0o644 and not in_private:
                self.check_copied(database, where / "out.c", 0o644)
                self.assertEqual(said, "")
            else:
                self.check_secret(database)
                self.assertIn(f"{where}/out.c: this source file is not copied: a symbolic link leads out of", said)

    def test_three_refused_files_are_named_and_the_others_counted(self):
        where, outer = self.folder("tree"), self.folder("outer")
        self.write(outer / "file.c", SECRET, 0o600)
        functions = ""
        for i in range(5):
            (where / f"out{i}.c").symlink_to("../outer/file.c")
            functions += (f'\n#line 1 "{where}/out{i}.c"\n'
                          f'void work{i}(void) {{ for (int i = 0; i < 20000000; i++) sum += i; }}')
        source = self.write(where / "program.c", f"volatile unsigned long sum;{functions}\n"
                            "int main(void) { work0(); work1(); work2(); work3(); work4(); }")
        self.command("cc", "-g", "-O1", source.name, "-o", "program", cwd=where)
        _, said = self.database(where / "program")
        self.assertEqual(said.count(": this source file is not copied: "), 3)
        self.assertIn("2 more source files are not copied for such reasons", said)

    def test_links_out_of_a_directory_of_I_are_not_followed(self):
        where, searched = self.folder("tree"), self.folder("searched")
        self.write(self.folder("outer") / "file.c", SECRET, 0o600)
        (searched / "gone.c").symlink_to("../outer/file.c")
        program = self.compile(where, "/not/there/gone.c")
        database, said = self.database(program, "-I", searched)
        self.check_secret(database)
        self.assertIn("a symbolic link leads out of", said)
        (searched / "gone.c").unlink()
        self.write(searched / "gone.c", SECRET)
        database, said = self.database(program, "-I", searched)
        self.check_copied(database, searched / "gone.c", 0o644)

    def test_what_is_no_source_file_is_left_out(self):
        where = self.folder("tree")
        os.mkfifo(where / "fifo")
        os.truncate(self.write(where / "huge.c", ""), (64 << 20) + 1)
        (where / "zero").symlink_to("/dev/zero")
        for name in ("fifo", "huge.c", "zero", "/dev/zero", "/proc/self/environ", "/proc/kmsg"):
            with self.subTest(name=name):
                named = where / name
                database, _ = self.database(self.compile(where, named))
                copy = self.copy(database, named)
                self.assertFalse(copy.exists() and copy.stat().st_size)


class Permissions(DatabaseTest):
    def check_tree(self, database, directories, files):
        self.assertEqual(oct(mode(database)), oct(directories))
        for path in database.rglob("*"):
            if "src" in path.relative_to(database).parts and path.is_file():
                continue
            if path.is_symlink():
                self.assertEqual(os.readlink(path), "../src")
                continue
            self.assertEqual(oct(mode(path)), oct(directories if path.is_dir() else files), path)

    def test_the_database_is_the_users_alone_unless_it_is_shared(self):
        where = self.folder("tree")
        program = self.compile(where, self.write(where / "named.c", "code\n"))
        database, _ = self.database(program)
        self.check_tree(database, 0o700, 0o600)
        database, _ = self.database(program, "--shared")
        self.check_tree(database, 0o755, 0o644)
        database, _ = self.database(program, "--shared", umask=0o077)
        self.check_tree(database, 0o700, 0o600)

    def test_default_names_have_nothing_that_a_terminal_obeys(self):
        where = self.folder("tree")
        program = self.compile(where, self.write(where / "named.c", "code\n"))
        self.command(profiling.HPCRUN, "-q", "-o", "a\x1b[2J\nz", program, cwd=where)
        done = self.command(HPCPROF, "a\x1b[2J\nz", cwd=where)
        self.assertEqual(done.stdout, "hpctoolkit-a_[2J_z-database\n")
        self.assertTrue((where / "hpctoolkit-a_[2J_z-database").is_dir())


@unittest.skipIf(os.geteuid() != 0, "needs root, to play other users")
class OtherUsers(DatabaseTest):
    def test_a_users_own_private_sources_are_copied_and_stay_private(self):
        where = self.folder("home", owner=USER, permissions=0o700)
        source = self.write(where / "named.c", SECRET, 0o600, owner=USER)
        program = self.compile(where, source, owner=USER)
        database, said = self.database(program, user=USER, where=where)
        self.check_copied(database, source, 0o600)
        self.assertEqual(said, "")

    def test_sources_beside_the_directory_of_compilation_are_copied(self):
        where = self.folder("home", owner=USER, permissions=0o700)
        build = self.folder("home/build", owner=USER)
        source = self.write(where / "named.c", SECRET, owner=USER)
        database, said = self.database(self.compile(build, source, owner=USER), user=USER, where=where)
        self.check_copied(database, source, 0o644)

    def check_refused(self, secret, user, owner_of_program, **options):
        where = self.folder("theirs", owner=owner_of_program)
        program = self.compile(where, secret, owner=owner_of_program)
        database, said = self.database(program, user=user, **options)
        self.check_secret(database)
        self.assertFalse(self.copy(database, secret).exists())
        self.assertIn("this source file is not copied", said)

    def test_another_users_program_names_a_file_of_roots(self):
        self.check_refused(self.write(self.root / "secret", SECRET, 0o600), None, ATTACKER)

    def test_another_users_program_names_a_file_in_a_directory_of_roots(self):
        private = self.folder("private", permissions=0o700)
        self.check_refused(self.write(private / "secret", SECRET, 0o644), None, ATTACKER)

    def test_another_users_program_names_a_file_of_the_users(self):
        secret = self.write(self.root / "secret", SECRET, 0o600, owner=USER)
        self.check_refused(secret, USER, ATTACKER)

    def test_roots_own_program_names_a_secret_that_is_no_source_of_it(self):
        self.check_refused(self.write(self.root / "secret", SECRET, 0o600), None, None)

    def test_a_file_of_a_group(self):
        secret = self.write(self.root / "secret", SECRET, 0o640)
        os.chown(secret, 0, ATTACKER)
        self.check_refused(secret, None, ATTACKER)

    def test_another_users_link_in_a_directory_of_compilation_for_all(self):
        shared = self.folder("shared", permissions=0o1777)
        secret = self.write(self.root / "secret", SECRET, 0o600, owner=USER)
        link = shared / "named.c"
        link.symlink_to(secret)
        os.chown(link, ATTACKER, ATTACKER, follow_symlinks=False)
        program = self.compile(shared, link, owner=USER)
        database, said = self.database(program, user=USER)
        self.check_secret(database)
        self.assertIn("a symbolic link on the way is another user's", said)

    def test_another_users_second_name_of_roots_file(self):
        secret = self.write(self.root / "secret", SECRET, 0o600)
        theirs = self.folder("their-tree", owner=ATTACKER)
        os.link(secret, theirs / "named.c")
        self.check_refused(theirs / "named.c", None, ATTACKER)

    def test_another_users_private_sources_for_root(self):
        """The owner's own program names the files: they are no other user's secrets."""
        where = self.folder("tree", owner=ATTACKER)
        source = self.write(where / "named.c", SECRET, 0o600, owner=ATTACKER)
        database, _ = self.database(self.compile(where, source, owner=ATTACKER))
        self.check_copied(database, source, 0o600)

    def test_a_cache_that_another_user_can_write_to_is_not_used(self):
        where = self.folder("tree")
        program = self.compile(where, self.write(where / "named.c", "code\n"))
        cache = where / "cache" / "hpctoolkit" / "structure"
        for owner, permissions, why in ((ATTACKER, 0o777, "belongs to another user"),
                                        (0, 0o777, "other users can write to it")):
            with self.subTest(owner=owner):
                cache.mkdir(parents=True, exist_ok=True)
                cache.chmod(permissions)
                os.chown(cache, owner, owner)
                done = self.command(profiling.BUILD / "bin" / "hpcstruct", "--cache", program, cwd=where,
                                    cache=where / "cache")
                self.assertIn(f"{cache}: {why}", done.stderr)
                self.assertEqual(list(cache.iterdir()), [])
                self.assertNotIn(str(cache), done.stdout)

    def test_a_directory_of_another_user_is_refused(self):
        where = self.folder("tree")
        program = self.compile(where, self.write(where / "named.c", "code\n"))
        self.command(profiling.HPCRUN, "-q", "-o", "measurements", program, cwd=where)
        theirs = self.folder("theirs", owner=ATTACKER, permissions=0o777)
        done = subprocess.run([HPCPROF, "-o", theirs, "measurements"], cwd=where, capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, f"hpcprof: {theirs}: belongs to another user ({ATTACKER}): name "
                                      "a directory that does not exist, or one of your own\n")
        self.assertEqual(list(theirs.iterdir()), [])
