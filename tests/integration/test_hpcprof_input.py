"""hpcprof: damaged input is reported, and costs only the damaged part. Where binaries and their structure come from."""
import os
import pathlib
import struct

import measurement_writer as mw
from hpcprof_case import PROGRAM, WORK, HpcprofCase
from hpcprof_scenario import Module, check_database
from structure_model import GENERATOR, elf_file, header_hash
from v4_reader import read_database


class BadMeasurementsTest(HpcprofCase):
    def test_no_measurements(self):
        os.mkdir(self.at("empty"))
        pathlib.Path(self.at("file")).touch()
        for name, part in (("empty", "no measurement files"), ("nonexistent", "No such file"),
                           ("file", "Not a directory")):
            done = self.scenario.run(directories=[name], status=1)
            self.assert_says(done.stderr, "hpcprof: " + name, part)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertEqual(self.names(), ["empty", "file"])

    def test_a_database_is_no_measurement(self):
        self.process(self.program())
        self.scenario.write()
        self.scenario.run("-o", "db")
        done = self.scenario.run(directories=["db"], status=1)
        self.assertEqual(done.stderr, "hpcprof: db: a database that hpcprof has made already; hpcviewer shows it\n")

    def test_one_bad_directory_costs_only_itself(self):
        self.process(self.program())
        self.scenario.write()
        os.mkdir(self.at("empty"))
        done = self.scenario.run("-o", "db", directories=[self.scenario.measurements, "empty"],
                                 status=1)
        self.assert_says(done.stderr, "empty", "no measurement files")
        check_database(self, self.scenario, read_database(self.at("db")), WORK)

    def test_damaged_files(self):
        """One file is truncated in its last chunk, one is garbage, one has another version."""
        module = self.program()
        for pid in range(4):
            self.process(module, pid=pid, start_time=pid)
        self.scenario.write()
        paths = [pathlib.Path(self.scenario.measurements, process.file_name())
                 for process in self.scenario.processes]
        paths[0].write_bytes(paths[0].read_bytes()[:-3])
        paths[1].write_bytes(bytes(1000))
        data = bytearray(paths[2].read_bytes())
        data[8] = 7
        paths[2].write_bytes(data)
        done = self.scenario.run("-o", "db", status=1)
        self.assert_says(done.stderr, paths[0].name, "damaged")
        self.assert_says(done.stderr, paths[1].name, "not a measurement file")
        self.assert_says(done.stderr, paths[2].name, "version 7")
        self.assert_says(done.stderr, "3 problems")
        db = read_database(self.at("db"))
        run = self.run_json()
        self.assertEqual([p["pid"] for p in run["processes"]], [0, 3])
        self.assertEqual([p["complete"] for p in run["processes"]], [False, True])
        self.assertEqual([p["state"] for p in run["processes"]], ["unknown", "exit"])
        for path in paths[:3]:
            self.assertTrue(any(path.name in line for line in run["problems"]))
        total = db.profiles[0].values[0][db.metric("work", "execution")]
        self.assertEqual(total, 6)  # 3 s of each of the two

    def test_damage_anywhere_is_survived(self):
        """Damages a byte of each chunk: only that chunk is lost."""
        module = self.program()
        process = self.process(module)
        for _ in range(5):
            thread = process.thread()
            self.scenario.sample(process, thread, [(2, 0x1000)], 0, mw.seconds(1))
        whole = process.encode()
        os.makedirs(self.scenario.measurements)
        path = pathlib.Path(self.scenario.measurements, process.file_name())
        offset = 16
        for i, chunk in enumerate(process.encoded_chunks()):
            damaged = bytearray(whole)
            damaged[offset + len(chunk) - 1] ^= 0x55
            path.write_bytes(damaged)
            done = self.scenario.run("-o", f"db{i}", status=1)
            self.assert_says(done.stderr, path.name, "damaged")
            read_database(self.at(f"db{i}"))
            offset += len(chunk)

    def test_a_file_given_twice_counts_once(self):
        self.process(self.program())
        self.scenario.write()
        done = self.scenario.run("-o", "db", directories=[self.scenario.measurements] * 2, status=1)
        self.assert_says(done.stderr, "the same process as in")
        check_database(self, self.scenario, read_database(self.at("db")), WORK)

    def test_the_whole_one_of_two_files_of_a_process_counts(self):
        self.process(self.program())
        self.scenario.write()
        whole, = pathlib.Path(self.scenario.measurements).glob("*.hpcrun")
        for name in ("a", "z"):  # one sorts before the intact file, one after it
            cut = pathlib.Path(self.at(name), whole.name)
            cut.parent.mkdir()
            cut.write_bytes(whole.read_bytes()[:whole.stat().st_size * 6 // 10])
            done = self.scenario.run("-o", f"db-{name}", directories=[cut.parent, self.scenario.measurements], status=1)
            self.assert_says(done.stderr, f"{cut}: the same process as in {whole}, which is used")
            check_database(self, self.scenario, read_database(self.at(f"db-{name}")), WORK)

    def test_the_later_one_of_two_whole_files_of_a_process_counts(self):
        process = self.process(self.program())
        self.scenario.write()
        process.threads[0].values.clear()
        process.end = (10 * 10**9, 9 * 10**9, mw.EXIT, 0)
        for name in ("a", "z"):
            earlier = process.write(self.at(name))
            done = self.scenario.run("-o", f"db-{name}", status=1,
                                     directories=[self.at(name), self.scenario.measurements])
            self.assert_says(done.stderr, f"{earlier}: the same process as in ")
            check_database(self, self.scenario, read_database(self.at(f"db-{name}")), WORK)


class BadBinariesTest(HpcprofCase):
    """A module without structure does not affect the others."""

    def check_without_structure(self, module, *says):
        self.process(Module(module.path, module.build_id, None))
        other = self.scenario.binary("other", "0c", PROGRAM)
        self.process(other, pid=200, start_time=7000)
        db = self.scenario.database(status=1)
        self.assert_says(self.scenario.stderr, os.path.basename(module.path), *says)
        check_database(self, self.scenario, db, WORK)
        run = self.run_json()
        quality = {os.path.basename(m["path"]): m for m in run["modules"]}
        self.assertEqual(quality["other"]["structure"], "full")
        self.assertEqual(quality["other"]["why"], "")
        found = quality[os.path.basename(module.path)]
        self.assertEqual(found["structure"], "none")
        self.assertIn(says[0], found["why"])

    def test_missing(self):
        module = self.program()
        os.unlink(module.path)
        self.check_without_structure(module, "does not exist")

    def test_other_contents(self):
        """Two are of another build, of which one has no build-id."""
        for content, says in ((elf_file("abcd02"), "changed since the run"), (elf_file(""), "changed since the run"),
                              (b"#!/bin/sh\n", "not an x86-64 ELF file")):
            with self.subTest(content=content[:16], says=says):
                self.setUp()
                module = self.program()
                pathlib.Path(module.path).write_bytes(content)
                self.check_without_structure(module, says)

    def test_rebuilt_but_its_structure_is_in_the_cache(self):
        """The structure of the old build is still in the cache."""
        module = self.program()
        pathlib.Path(module.path).write_bytes(elf_file("abcd02"))
        cache = pathlib.Path(self.at("cache/hpctoolkit/structure"))
        cache.mkdir(parents=True)
        newest = PROGRAM.image()
        for i, (name, data) in enumerate((
                ("abcd01-0000000000000001.hpcstruct", newest.replace(b"main", b"niam")),
                ("abcd01-0000000000000000.hpcstruct", newest),
                ("abcd01-0000000000000002.hpcstruct", newest.replace(GENERATOR, GENERATOR[::-1])),
                ("abcd0102-0000000000000000.hpcstruct", newest.replace(b"main", b"long")),
                ("abcd01-0000000000000003.tmp", newest.replace(b"main", b"cut.")))):
            (cache / name).write_bytes(data)
            os.utime(cache / name, ns=(0, 10**18 + i))
        self.process(module)
        db = self.scenario.database()
        self.assert_says(self.scenario.stderr, module.path, "changed since the run", "in the cache")
        check_database(self, self.scenario, db, WORK)

    def test_a_directory(self):
        module = self.program()
        os.unlink(module.path)
        os.mkdir(module.path)
        self.check_without_structure(module, "Is a directory")

    def test_hpcstruct_fails(self):
        """It complains, crashes, says nothing, or writes a damaged structure."""
        write = f"open(structure, 'wb').write({PROGRAM.image()[:-40]!r}); print(structure)"
        for code, *says in (("sys.exit('hpcstruct: it is all wrong')", "it is all wrong"),
                            ("os.kill(os.getpid(), signal.SIGSEGV)", "killed by signal 11"),
                            ("sys.exit(0)", "hpcstruct failed"), (write, "structure file is damaged", "without names")):
            with self.subTest(says=says):
                self.setUp()
                module = self.program()
                self.scenario.hpcstruct.set_code(module.path, code)
                self.check_without_structure(module, *says)

    def test_damaged_structure_in_the_cache_is_made_again(self):
        module = self.program()
        self.scenario.hpcstruct.set_image(module.path, PROGRAM.image()[:200])
        self.scenario.hpcstruct.set_code(module.path, "if not os.path.exists(structure):\n"
                                         f"    open(structure, 'wb').write({PROGRAM.image()!r})\n"
                                         "print(structure)")
        self.process(module)
        db = self.scenario.database(status=1)
        self.assert_says(self.scenario.stderr, "structure file is damaged")
        check_database(self, self.scenario, db, WORK)

    def test_no_hpcstruct(self):
        os.unlink(self.at("bin/hpcstruct"))
        for pid in range(2):
            module = self.scenario.binary(f"program{pid}", f"0{pid}")
            self.process(module, pid=pid, start_time=pid)
        db = self.scenario.database(status=1)
        self.assert_says(self.scenario.stderr, "hpcstruct", "No such file")
        check_database(self, self.scenario, db, WORK)

    def test_hpcstruct_complains_but_delivers(self):
        module = self.program()
        self.scenario.hpcstruct.set_code(module.path, "print(structure)\n"
                                         "sys.exit('hpcstruct: no debug information')")
        self.process(module)
        db = self.scenario.database(status=1)
        self.assert_says(self.scenario.stderr, module.path, "no debug information")
        check_database(self, self.scenario, db, WORK)

    def test_structure_that_is_no_structure(self):
        """Nothing, text, XML, a head without a foot, an image of another version."""
        image = PROGRAM.image()
        for i, data in enumerate((b"", b"no image", b"<HPCToolkitStructure/>", image[:16],
                                  image.replace(GENERATOR, GENERATOR[::-1]))):
            module = self.scenario.binary(f"program{i}", f"{i:02x}")
            self.scenario.hpcstruct.set_code(module.path, f"open(structure, 'wb').write({data!r})\n"
                                             "print(structure)")
            self.process(module, pid=i, start_time=i)
        db = self.scenario.database(status=1)
        check_database(self, self.scenario, db, WORK)

    def test_a_module_that_was_loaded_but_not_sampled_is_not_looked_at(self):
        module = self.program()
        process = self.process(module)
        self.scenario.load(process, Module("/nonexistent/library", "99", None))
        check_database(self, self.scenario, self.scenario.database(), WORK)
        self.assertEqual(self.scenario.hpcstruct.runs(), [module.path])

    def test_binaries_without_build_id(self):
        """A binary without build-id is the measured one if header, size and time are the same."""
        elf = elf_file(padding=100)
        known = {"header_hash": header_hash(elf), "size": len(elf)}
        other = {"header_hash": 77, "size": len(elf) + 1, "modified": 1}
        for i, wrong in enumerate((None, *other)):
            module = self.scenario.binary(f"program{i}", "", PROGRAM, content=elf)
            fields = {**known, "modified": os.stat(module.path).st_mtime_ns}
            if wrong:
                fields[wrong] = other[wrong]
                module = Module(module.path, "", None)
            process = self.process(pid=i, start_time=i)
            instance = self.scenario.load(process, module, **fields)
            self.scenario.sample(process, process.thread(), [(instance, 0x1000)], 0, 1000)
        db = self.scenario.database(status=1)
        self.assertEqual(self.scenario.stderr.count("changed since the run"), len(other))
        check_database(self, self.scenario, db, WORK)

    def test_replaced_paths_of_binaries(self):
        module = self.program()
        os.mkdir(self.at("moved"))
        os.rename(module.path, self.at("moved/program"))
        self.scenario.hpcstruct.set_structure(self.at("moved/program"), PROGRAM)
        self.process(module)
        db = self.scenario.database("-R", f"{self.scenario.folder}={self.at('moved')}")
        check_database(self, self.scenario, db, WORK)


def own_vdso_build_id():
    """The build-id of the vdso, which is the same in every process."""
    with open("/proc/self/maps") as maps:
        span = next((line.split()[0] for line in maps if line.endswith("[vdso]\n")), None)
    if span is None:
        return None
    begin, end = (int(part, 16) for part in span.split("-"))
    with open("/proc/self/mem", "rb") as memory:
        memory.seek(begin)
        image = memory.read(end - begin)
    at = image.find(struct.pack("<I", 3) + b"GNU\0")  # a note's type and name
    size, = struct.unpack_from("<I", image, at - 4)
    return image[at + 8:at + 8 + size].hex()


class VdsoTest(HpcprofCase):
    def sample(self, build_id, structure):
        module = Module("[vdso]", build_id, structure)
        process = self.process()
        instance = self.scenario.load(process, module, flags=mw.VDSO)
        self.scenario.sample(process, process.thread(), [(instance, 0x1000)], 0, 1000)
        return self.scenario.database()

    def test_that_of_this_kernel(self):
        build_id = own_vdso_build_id()
        if build_id is None:
            self.skipTest("this kernel has no vdso")
        self.scenario.hpcstruct.set_structure("vdso", PROGRAM)
        db = self.sample(build_id, PROGRAM)
        check_database(self, self.scenario, db, WORK)
        self.assertEqual([m.path for m in db.modules], ["[vdso]"])

    def test_that_of_another_kernel(self):
        db = self.sample("00112233", None)
        self.assertEqual([(f.name, f.module.path) for f in db.functions], [("<vdso>", "[vdso]")])
        self.assertEqual(self.scenario.hpcstruct.runs(), [])
        self.assertEqual(self.scenario.stderr, "")
