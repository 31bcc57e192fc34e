"""What another user can do in a directory where both may write: debug files, databases, links and FIFOs that the
other user planted. Root plays the user, as root and as an ordinary user, and the attacker."""
import json
import os
import shutil
import subprocess
import time
import unittest
import zlib

import profiling
import v4_writer
import viewer
import viewer_story
from test_own_database import ATTACKER, HPCPROF, SECRET, USER, DatabaseTest

BIN = profiling.BUILD / "bin"
HPCSTRUCT, HPCVIEWER = BIN / "hpcstruct", BIN / "hpcviewer"
THIRD = 65532
USERS = (None, USER)  # None: root
OF_ANOTHER, WRITABLE = "it belongs to another user", "other users can write to it"


def forged(data, wanted):
    """The bytes with four more, so that their CRC is the wanted one."""
    table = [zlib.crc32(bytes([byte])) ^ zlib.crc32(b"\0") for byte in range(256)]
    by_top = {entry >> 24: byte for byte, entry in enumerate(table)}
    register, places = wanted ^ 0xffffffff, []
    for _ in range(4):  # backwards from the register after them
        place = by_top[register >> 24]
        register = (register ^ table[place]) << 8 & 0xffffffff
        places.append(place)
    now, more = zlib.crc32(data) ^ 0xffffffff, b""
    for place in reversed(places):
        more += bytes([(now ^ place) & 0xff])
        now = now >> 8 ^ table[place]
    return data + more


class TwoUsers(DatabaseTest):
    def tool(self, *words, user=None, cwd=None, status=0):
        """What a tool printed and said."""
        cwd = cwd or self.root
        cache = self.root / f"cache-{user}"
        if not cache.exists():
            self.folder(cache.name, owner=user, permissions=0o700)
        done = subprocess.run([str(word) for word in words], cwd=cwd, user=user, group=user,
                              extra_groups=[] if user else None, capture_output=True, text=True, errors="replace",
                              timeout=profiling.HANG, stdin=subprocess.DEVNULL,
                              env={**os.environ, "XDG_CACHE_HOME": str(cache), "XDG_CONFIG_HOME": "/nonexistent",
                                   "LC_ALL": "C.UTF-8"})
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout, done.stderr

    def run_in(self, where, *words):
        subprocess.run([str(word) for word in words], cwd=where, check=True, capture_output=True)

    def give(self, path, user, permissions=0o644):
        os.chown(path, user or 0, user or 0)
        path.chmod(permissions)


@unittest.skipIf(os.geteuid() != 0, "needs root, to play other users")
class PlantedDebugFiles(TwoUsers):
    """A program without debug information in a directory where everybody may write. Its build-id and the checksum
    that it names are known to everybody."""

    def build(self, user, *options):
        """The stripped program of a user, in a sticky directory, and the checksum and note of its debug file."""
        where = self.folder(f"shared-{len(list(self.root.iterdir()))}", permissions=0o1777)
        program = self.compile(where, where / "named.c", owner=user)
        if "none" not in options:
            self.run_in(where, "objcopy", "--dump-section", f".note.gnu.build-id={self.root}/note", "program")
        self.run_in(where, "objcopy", "--only-keep-debug", "program", "program.debug")
        if "none" in options:
            self.run_in(where, "objcopy", "--remove-section=.note.gnu.build-id", "program")
        self.run_in(where, "objcopy", "--strip-all", "--add-gnu-debuglink=program.debug", "program")
        self.give(program, user, 0o755)
        checksum = zlib.crc32((where / "program.debug").read_bytes())
        (where / "program.debug").unlink()
        (where / "program.c").unlink()
        return where, checksum

    def secret_of(self, user):
        """A file that only its owner may read, and what a program has that was compiled beside it."""
        private = self.folder(f"private-{len(list(self.root.iterdir()))}", owner=user, permissions=0o700)
        secret = self.write(private / "secret", SECRET, 0o600, owner=user)
        return secret, self.compile(private, secret)

    def plant(self, where, evil, checksum, *options):
        """The debug file of an evil program, with the build-id and the checksum of the right one."""
        debug = evil.with_name("evil.debug")
        if "none" not in options:
            self.run_in(evil.parent, "objcopy", "--update-section", f".note.gnu.build-id={self.root}/note", evil)
        self.run_in(evil.parent, "objcopy", "--only-keep-debug", evil, debug)
        planted = where / ".debug" / "program.debug"
        planted.parent.mkdir()
        planted.write_bytes(forged(debug.read_bytes(), checksum))
        self.assertEqual(zlib.crc32(planted.read_bytes()), checksum)
        self.give(planted.parent, ATTACKER, 0o755)
        return planted

    def measure(self, where, user):
        out = self.folder(f"out-{len(list(self.root.iterdir()))}", owner=user)
        self.tool(profiling.HPCRUN, "-q", "-e", "CPUTIME@f1000", "-o", "m", "--", where / "program", user=user, cwd=out)
        return out

    def leaks(self, where, user, status, said):
        """Whether hpcprof of a user copies the secret."""
        out = self.measure(where, user)
        _, messages = self.tool(HPCPROF, "-o", "db", "m", user=user, cwd=out, status=status)
        self.assertIn(said, messages)
        copies = [path for path in (out / "db").rglob("secret") if path.is_file()]
        if not copies:
            self.check_secret(out / "db")
        return bool(copies)

    def test_a_file_that_names_a_secret(self):
        for user in USERS:
            for options in ((), ("none",)):
                with self.subTest(user=user, options=options):
                    where, checksum = self.build(user, *options)
                    _, evil = self.secret_of(user)
                    planted = self.plant(where, evil, checksum, *options)
                    # It would copy the secret if it were believed: the user's own file is.
                    self.give(planted, user)
                    self.assertTrue(self.leaks(where, user, 0, ""))
                    self.give(planted, ATTACKER)
                    refused = (0, "") if options else (1, f"{planted}: this debug file of {where}/program is not used: "
                                                          f"{OF_ANOTHER}")
                    self.assertFalse(self.leaks(where, user, *refused))
                    self.give(planted, user, 0o664)
                    self.assertFalse(self.leaks(where, user, 1, WRITABLE))
                    self.give(planted, user, 0o646)
                    self.assertFalse(self.leaks(where, user, 1, WRITABLE))

    def test_a_link_to_a_file_of_the_user(self):
        """The user has a file that the attacker made, for example in an archive."""
        for user in USERS:
            with self.subTest(user=user):
                where, checksum = self.build(user)
                _, evil = self.secret_of(user)
                planted = self.plant(where, evil, checksum)
                received = self.folder(f"received-{user}", owner=user) / "evil"
                planted.rename(received)
                self.give(received, user)
                planted.symlink_to(received)
                self.assertTrue(self.leaks(where, user, 0, ""))
                os.lchown(planted, ATTACKER, ATTACKER)
                self.assertFalse(self.leaks(where, user, 1, "a link on the way to it belongs to another user"))

    def structure(self, program, user, *options, status=0):
        """Whether hpcstruct knows the source of a program, and its messages."""
        printed, said = self.tool(HPCSTRUCT, "-o", "-", *options, program, user=user, status=status)
        return 'named.c"' in printed, said

    def check_owners(self, program, debug, user, options=(), lines=True):
        """A debug file is used if it belongs to root, the user, or the owner of the program."""
        for owner, permissions, why in ((user, 0o644, ""), (0, 0o644, ""), (ATTACKER, 0o644, OF_ANOTHER),
                                        (user, 0o664, WRITABLE), (user, 0o666, WRITABLE)):
            with self.subTest(user=user, debug=debug.name, owner=owner, permissions=oct(permissions)):
                self.give(debug, owner, permissions)
                knows, said = self.structure(program, user, *options, status=1 if why else 0)
                if lines:
                    self.assertEqual(knows, not why)
                self.assertEqual(why in said and f"{debug}: this debug file of " in said, bool(why), said)
        self.give(program, THIRD, 0o755)
        self.give(debug, THIRD)
        self.assertEqual(self.structure(program, user, *options)[1], "")
        self.give(program, user, 0o775)
        self.give(debug, user, 0o664)  # whoever can write to it can write to the program, too
        self.assertEqual(self.structure(program, user, *options)[1], "")

    def debug_of(self, where, user, *options):
        """A program and its debug file."""
        self.write(where / "named.c", "code\n")
        program = self.compile(where, where / "named.c", owner=user)
        debug = where / "program.debug"
        self.run_in(where, "objcopy", "--only-keep-debug", "program", debug)
        self.run_in(where, "objcopy", "--strip-all", *options, "program")
        self.give(program, user, 0o755)
        return program, debug

    def test_the_places_of_debug_files(self):
        for user in USERS:
            where = self.folder(f"linked-{user}")
            program, debug = self.debug_of(where, user, "--add-gnu-debuglink=program.debug")
            self.check_owners(program, debug, user)
            self.give(program, user, 0o755)
            (where / ".debug").mkdir()
            self.check_owners(program, debug.rename(where / ".debug" / debug.name), user)
            where = self.folder(f"by-id-{user}")
            program, debug = self.debug_of(where, user)
            note = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout
            build_id = note.split("Build ID: ")[1].split()[0]
            place = where / "debug" / ".build-id" / build_id[:2]
            place.mkdir(parents=True)
            debug = debug.rename(place / f"{build_id[2:]}.debug")
            self.check_owners(program, debug, user, ("--debug-dir", where / "debug"))

    def test_without_a_build_id_only_the_owner_of_the_program(self):
        for user in USERS:
            where = self.folder(f"linked-{user}")
            program, debug = self.debug_of(where, user, "--add-gnu-debuglink=program.debug",
                                           "--remove-section=.note.gnu.build-id")
            for owner, is_used in ((user, True), (ATTACKER, False), (0, user is None)):
                self.give(debug, owner)
                self.assertEqual(self.structure(program, user), (is_used, ""), owner)

    SPLIT = """
        extern volatile int sink;
        static inline __attribute__((always_inline)) int half(int n) { if (n & 1) sink = n; return n / 2; }
        volatile int sink;
        int main(void) { for (int i = 0; i < 9; i++) sink += half(i); return 0; }
        """

    def test_split_files(self):
        for user in USERS:
            where = self.folder(f"split-{user}")
            self.write(where / "s.c", self.SPLIT)
            self.run_in(where, "gcc", "-gdwarf-4", "-O1", "-gsplit-dwarf", "s.c", "-o", "program")
            program, = where.glob("program")
            dwo, = where.glob("*.dwo")
            self.give(program, user, 0o755)
            self.check_owners(program, dwo, user, lines=False)
            if shutil.which("dwp"):
                self.give(dwo, user)
                self.run_in(where, "dwp", "-e", "program", "-o", "program.dwp")
                dwo.unlink()
                self.give(program, user, 0o755)
                self.check_owners(program, where / "program.dwp", user, lines=False)

    @unittest.skipUnless(shutil.which("dwz"), "needs dwz")
    def test_supplements(self):
        for user in USERS:
            where = self.folder(f"dwz-{user}")
            self.write(where / "s.c", self.SPLIT)
            for name in ("program", "other"):
                self.run_in(where, "gcc", "-gdwarf-4", "-O1", "s.c", "-o", name)
            self.run_in(where, "dwz", "-m", where / "shared", "program", "other")
            self.give(where / "program", user, 0o755)
            self.check_owners(where / "program", where / "shared", user, lines=False)


@unittest.skipIf(os.geteuid() != 0, "needs root, to play other users")
class OthersDatabases(TwoUsers):
    """Measurements of a user and a database with the name of theirs, in a directory where everybody may write."""

    def setUp(self):
        super().setUp()
        self.shared = self.folder("shared", permissions=0o1777)

    def database(self, user, name, marked, file="xz-h-71-5-0.hpcrun"):
        """A database whose command is marked, later than all measurements."""
        folder = self.shared / name
        viewer_story.write(folder)
        with viewer.changed_run(folder) as run:
            run["processes"][0].update(command=marked, file=file)
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user or 0, user or 0)
            path.chmod(0o755 if path.is_dir() else 0o644)
        return folder

    def measurements(self, user):
        self.tool(profiling.HPCRUN, "-q", "-o", "hpctoolkit-x-measurements", "sh", "-c", ": right", user=user,
                  cwd=self.shared)
        folder = self.shared / "hpctoolkit-x-measurements"
        file, = (path for path in folder.glob("*.hpcrun"))
        for path in folder.iterdir():
            os.utime(path, (1, 1), follow_symlinks=False)
        return folder, file.name

    def view(self, folder, user, *options, status=0):
        return self.tool(HPCVIEWER, "--print", "summary", *options, folder.name, user=user, cwd=self.shared,
                         status=status)

    def clear(self):
        for path in self.shared.iterdir():
            shutil.rmtree(path)

    def test_only_an_own_database_of_these_measurements_is_shown(self):
        name = "hpctoolkit-x-database"
        for user in USERS:
            for owner, permissions, is_of_run, why in (
                    (user, 0o755, True, None), (0, 0o755, True, None), (ATTACKER, 0o755, True, OF_ANOTHER),
                    (user, 0o775, True, WRITABLE), (user, 0o757, True, WRITABLE),
                    (user, 0o755, False, "it was made of other measurements")):
                with self.subTest(user=user, owner=owner, permissions=oct(permissions), is_of_run=is_of_run):
                    folder, file = self.measurements(user)
                    found = self.database(owner, name, "wrong", file if is_of_run else "xz-h-71-5-0.hpcrun")
                    found.chmod(permissions)
                    printed, said = self.view(folder, user)
                    made = self.shared / f"{name}.2"
                    self.assertEqual(made.exists(), why is not None)
                    if why:
                        self.assertIn(f"{name} is not shown: {why}; running hpcprof to create {name}.2", said)
                        self.assertIn(": right", printed)
                        self.assertNotIn("wrong", printed)
                        self.assertIn(f"opening its database {made.name}", self.view(folder, user)[1])
                    else:
                        self.assertIn("wrong", printed)
                    self.clear()

    def test_a_directory_where_the_user_may_not_create_a_database(self):
        user = max(USERS, key=lambda user: user or 0)
        folder, _ = self.measurements(user)
        closed = self.folder("closed", permissions=0o755)
        _, said = self.tool(HPCVIEWER, "--print", "summary", folder, user=user, cwd=closed, status=1)
        self.assertRegex(said, r"\nhpcprof: hpctoolkit-x-database\.unfinished-\d+: Permission denied \(hpcprof -o DB "
                               r"chooses another place\)\n")

    def test_a_database_of_more_measurements_is_another(self):
        for user in USERS:
            folder, file = self.measurements(user)
            self.database(user, "hpctoolkit-x-database", "wrong", file)
            path = self.shared / "hpctoolkit-x-database" / "run.json"
            run = json.loads(path.read_text())
            for files in (["other-h-1-2-3.hpcrun", file], [f"../{folder.name}/{file}"], [""], []):
                run["processes"] = [{**run["processes"][0], "file": name} for name in files] if run["processes"] else []
                path.write_text(json.dumps(run))
                _, said = self.view(folder, user)
                self.assertIn("it was made of other measurements", said)
                shutil.rmtree(self.shared / "hpctoolkit-x-database.2")
            self.clear()

    def test_other_things_with_the_name(self):
        """A link of the attacker's to the database of another run or to nothing, a FIFO, an empty directory."""
        for user in USERS:
            for plant in ("link", "link to nothing", "fifo", "directory"):
                folder, _ = self.measurements(user)
                place = self.shared / "hpctoolkit-x-database"
                if plant == "link to nothing":
                    place.symlink_to("nothing")
                elif plant == "link":
                    place.symlink_to(self.database(user, "elsewhere", "wrong"))
                elif plant == "fifo":
                    os.mkfifo(place)
                else:
                    place.mkdir()
                os.lchown(place, ATTACKER, ATTACKER)
                printed, said = self.view(folder, user)
                self.assertIn("hpctoolkit-x-database is not shown: ", said)
                self.assertIn(": right", printed)
                place.unlink() if plant != "directory" else place.rmdir()
                self.clear()

    def test_without_a_name_other_users_databases_do_not_count(self):
        for user in USERS:
            self.database(ATTACKER, "theirs", "wrong")
            _, said = self.tool(HPCVIEWER, "--print", "summary", user=user, cwd=self.shared, status=2)
            self.assertIn("no database given, and those here are other users'", said)
            self.database(user, "mine", "right")
            printed, _ = self.tool(HPCVIEWER, "--print", "summary", user=user, cwd=self.shared)
            self.assertIn("right", printed)
            self.clear()
        os.chown(self.shared, ATTACKER, ATTACKER)  # the user went to the directory of another one
        self.database(ATTACKER, "theirs", "theirs")
        printed, _ = self.tool(HPCVIEWER, "--print", "summary", user=USER, cwd=self.shared)
        self.assertIn("theirs", printed)

    def test_sources_that_a_database_names(self):
        """In a database of another user files that not everybody may read are not shown, nor to root originals."""
        for user in USERS:
            for maker, owner, permissions, copied, is_shown in (
                    (user, user, 0o644, False, True), (ATTACKER, user, 0o644, False, True),
                    (user, user, 0o600, False, user is not None), (ATTACKER, user, 0o600, False, False),
                    (user, user, 0o600, True, True), (ATTACKER, user, 0o600, True, False)):
                with self.subTest(user=user, maker=maker, permissions=oct(permissions), copied=copied):
                    secret = self.write(self.root / "secret.c", SECRET, permissions, owner=owner or 0)
                    folder = self.shared / "db"
                    db = v4_writer.Database("x")
                    file = db.file("src/secret.c" if copied else str(secret), copied)
                    main = db.function("main", db.module("/x"), 16, file, 1)
                    db.entry(1, "main thread").call(main).statement(file, 1).charge(1)
                    v4_writer.write_database(db, str(folder))
                    if copied:
                        (folder / "src").mkdir()
                        (folder / "src" / "secret.c").symlink_to(secret)
                    for path in (folder, *folder.rglob("*")):
                        os.lchown(path, maker or 0, maker or 0)
                    printed, _ = self.tool(HPCVIEWER, "--print", "top-down", folder, user=user)
                    self.assertIn("secret.c:1", printed)
                    self.assertEqual(SECRET.strip() in printed, is_shown)
                    if not copied and permissions == 0o600 and user is None and maker is None:
                        # The user says where sources are.
                        printed, _ = self.tool(HPCVIEWER, "--print", "top-down", "-I", self.root, folder)
                        self.assertIn(SECRET.strip(), printed)
                    secret.unlink()
                    self.clear()


@unittest.skipIf(os.geteuid() != 0, "needs root, to play other users")
class PlantedOutputs(TwoUsers):
    """A directory where everybody may write, and not sticky: the kernel does not protect its links."""

    def test_links_and_fifos_under_the_names_of_outputs(self):
        for user in USERS:
            shared = self.folder(f"shared-{user}", permissions=0o777)
            viewer_story.write(shared / "db")
            subprocess.run(["chmod", "-R", "a+rX", shared / "db"], check=True)
            self.write(shared / "named.c", "code\n")
            self.compile(shared, shared / "named.c")
            victim = self.write(self.root / f"victim-{user}", SECRET, 0o600, owner=user)
            commands = ((HPCVIEWER, "--print", "flat", "--output", "out", "db"), (HPCSTRUCT, "-o", "out", "program"),
                        (HPCSTRUCT, "program"))
            for command in commands:
                out = shared / ("out" if "out" in command else "program.hpcstruct")
                for plant in (lambda: out.symlink_to(victim), lambda: os.mkfifo(out)):
                    plant()
                    os.lchown(out, ATTACKER, ATTACKER)
                    reader = os.open(out, os.O_RDONLY | os.O_NONBLOCK)  # so that a writer need not wait for one
                    _, said = self.tool(*command, user=user, cwd=shared, status=1)
                    os.close(reader)
                    self.assertIn(f"{out.name}: a link or FIFO of another user's decides where that is", said)
                    self.assertEqual(victim.read_text(), SECRET)
                    out.unlink()
                # The user's own link, here to a file in a directory in which an ordinary user cannot create others.
                out.symlink_to(victim)
                os.lchown(out, user or 0, user or 0)
                self.tool(*command, user=user, cwd=shared)
                self.assertTrue(out.is_symlink())
                self.assertNotEqual(victim.read_text(), SECRET)
                self.assertEqual((victim.stat().st_mode & 0o777, victim.stat().st_uid), (0o600, user or 0))
                victim.write_text(SECRET)
                out.unlink()
                if user:  # a second name of the victim, where the user cannot make another file
                    os.link(victim, self.root / "second")
                    out.symlink_to(self.root / "second")
                    os.lchown(out, user, user)
                    self.assertIn("Permission denied", self.tool(*command, user=user, cwd=shared, status=1)[1])
                    self.assertEqual(victim.read_text(), SECRET)
                    (self.root / "second").unlink()
                    out.unlink()
                self.tool(*command, user=user, cwd=shared)
                self.assertEqual((out.stat().st_mode & 0o777, out.stat().st_uid), (0o644, user or 0))
                out.unlink()


class Fifos(TwoUsers):
    """A FIFO in place of an input. The test opens it for writing whenever somebody reads: then a tool that waits for it
    gets an empty file and goes on, and does not say what is wrong."""

    def run_with(self, fifo, *words, status=1):
        out = self.root / "said"
        with open(out, "w", encoding="utf-8") as said:
            tool = subprocess.Popen([str(word) for word in words], cwd=self.root, stdout=said, stderr=said,
                                    stdin=subprocess.DEVNULL,
                                    env={**os.environ, "XDG_CONFIG_HOME": str(self.root / "config"), "HOME": str(self.root)})
            while tool.poll() is None:
                try:
                    os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
                except OSError:  # nobody reads
                    pass
                time.sleep(0.005)
        text = out.read_text()
        self.assertEqual(tool.returncode, status, text)
        return text

    def put_fifo(self, path):
        if path.exists():
            path.unlink()
        os.mkfifo(path)
        return path

    def check(self, path, *words, status=1):
        try:
            said = self.run_with(self.put_fifo(path), *words, status=status)
        finally:
            path.unlink()
        self.assertIn("not a regular file", said)

    def test_measurements(self):
        where = self.root / "m"
        self.tool(profiling.HPCRUN, "-q", "-o", where, "true")
        measured, = where.glob("*.hpcrun")
        listed, = where.glob("*.processes")
        others = (where / "x-h-1-2-3.hpcrun", listed, measured.with_suffix(".arenas"))
        for number, path in enumerate(others):
            with self.subTest(path=path.name):
                kept = path.read_bytes() if path.exists() else None
                self.check(path, HPCPROF, "-o", f"db-{number}", where)
                self.assertTrue((self.root / f"db-{number}" / "meta.db").exists())
                if kept is not None:
                    path.write_bytes(kept)
        self.check(where / "x-h-1-2-3.hpcrun", HPCSTRUCT, where)

    def test_databases(self):
        for name in ("meta.db", "profile.db", "run.json", "physical/meta.db"):
            with self.subTest(name=name):
                database = self.root / f"with-{os.path.basename(name)}-{len(name)}"
                viewer_story.write(database)
                options = ("--physical",) if "/" in name else ()
                self.check(database / name, HPCVIEWER, "--print", "top-down", *options, database)

    def test_sources_of_a_database_and_the_configuration(self):
        viewer_story.write(self.root / "db")
        fifo = self.put_fifo(self.root / "db" / "src" / "src" / "coder.c")
        said = self.run_with(fifo, HPCVIEWER, "--print", "top-down", "db", status=0)
        self.assertIn("coder.c:25", said)
        (self.root / "config" / "hpctoolkit").mkdir(parents=True)
        self.check(self.root / "config" / "hpctoolkit" / "hpcviewer.conf", HPCVIEWER, "--print", "top-down", "db",
                   status=2)

    def test_sets_and_binaries(self):
        (self.root / "set").mkdir()
        self.check(self.root / "set" / "set.index", HPCVIEWER, "--print", "scaling", "set")
        self.check(self.root / "set" / "set.index", profiling.HPCRUN, "-o", "set", "--workers", "1", "--", "true",
                   "{P}")
        self.check(self.root / "binary", HPCSTRUCT, "binary")


class Unpacking(TwoUsers):
    """A few kilobytes that unpack to gigabytes."""

    @staticmethod
    def zeros(size, piece=1 << 20):
        """A zlib stream of so many zeros: the same block again and again."""
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        block = packer.compress(bytes(piece)) + packer.flush(zlib.Z_FULL_FLUSH)
        checksum = (size % 65521) << 16 | 1  # Adler's: its first sum stays 1
        return b"\x78\x9c" + block * (size // piece) + b"\x03\0" + checksum.to_bytes(4, "big")

    def program(self, sizes):
        """A program whose compressed debug sections have these sizes."""
        self.write(self.root / "named.c", "code\n")
        program = self.compile(self.root, self.root / "named.c")
        for name, size in sizes.items():
            header = (1).to_bytes(4, "little") + bytes(4) + size.to_bytes(8, "little") + (1).to_bytes(8, "little")
            (self.root / "section").write_bytes(header + self.zeros(size))
            self.run_in(self.root, "objcopy", "--update-section", f"{name}=section", program)
            self.set_flag(program, name)
        return program

    def set_flag(self, program, name):
        """Sets SHF_COMPRESSED of a section."""
        for line in subprocess.run(["readelf", "-SW", program], capture_output=True, text=True,
                                   check=True).stdout.splitlines():
            fields = line.split("]", 1)[-1].split()
            if fields and fields[0] == name:
                index = int(line.split("[")[1].split("]")[0])
        data = bytearray(program.read_bytes())
        at = int.from_bytes(data[40:48], "little") + 64 * index + 8
        data[at:at + 8] = (int.from_bytes(data[at:at + 8], "little") | 0x800).to_bytes(8, "little")
        program.write_bytes(data)

    def memory_of(self, *words):
        """Status, messages, and the most memory that a tool had."""
        said = self.root / "said"
        with open(said, "w", encoding="utf-8") as out:
            tool = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=out)
            _, status, usage = os.wait4(tool.pid, 0)
            tool.returncode = os.waitstatus_to_exitcode(status)
        return tool.returncode, said.read_text(), usage.ru_maxrss * 1024

    def test_sections_of_a_gigabyte(self):
        names = (".debug_info", ".debug_abbrev", ".debug_line", ".debug_str")
        program = self.program(dict.fromkeys(names, 1 << 30))
        self.assertLess(program.stat().st_size, 5 << 20)
        status, said, memory = self.memory_of(HPCSTRUCT, "-o", "-", program)
        self.assertEqual(status, 1, said)
        self.assertIn(f"hpcstruct: {program}: its debug information is damaged: .debug_info: compressed section of "
                      f"{1 << 30} bytes, which is too large for the size of the file; if it is right, "
                      "objcopy --decompress-debug-sections makes it readable\n", said)
        self.assertLess(memory, 64 * program.stat().st_size + (100 << 20))

    def test_the_sum_counts(self):
        """Each alone is allowed."""
        program = self.program({".debug_info": 9 << 20, ".debug_abbrev": 9 << 20})
        status, said, _ = self.memory_of(HPCSTRUCT, "-o", "-", program)
        self.assertEqual(status, 1, said)
        self.assertIn(f".debug_abbrev: compressed section of {9 << 20} bytes, which is too large", said)
        self.assertNotIn(".debug_info", said)
