"""The sequential verdicts of evidence.py, on simulated samplers whose truth is known: exactly, where a distribution
can be summed up, else by seeded random numbers, so that each run of these tests is the same."""
import math
import os
import random
import re
import subprocess
import unittest

import evidence
import profiling
from evidence import EXACT, Chance, Evidence


def tail(k, n, p):
    """P(k or more of n)."""
    return sum(math.comb(n, i) * p**i * (1 - p)**(n - i) for i in range(k, n + 1))


def sampled(rng, length, period=1.0):
    """What a sampler charges to a thread of that length: its first sample comes at a uniform phase and pays one period,
    each other one what has passed since, which is uniform in half to one and a half periods."""
    at, paid = period * (1 - rng.random()), 0.0
    if at <= length:
        paid = period
        while (step := period * rng.uniform(0.5, 1.5)) and at + step <= length:
            at, paid = at + step, paid + step
    return paid


def outcome(make_claims, looks=50, alarm=evidence.ALARM):
    """true, false or open after that many looks; make_claims gets the evidence."""
    found = Evidence(limit=math.inf, alarm=alarm)
    try:
        for look in found.looks():
            if look > looks:
                return "open"
            make_claims(found)
        return "true"
    except AssertionError:
        return "false"
    except unittest.SkipTest:
        return "open"


class Bounds(unittest.TestCase):
    def test_the_sum_of_a_binomial(self):
        """The radius is exceeded with no more than its probability; exactly counted."""
        for n, p in ((200, 0.5), (500, 0.05), (500, 0.002)):
            for log in (2.0, 5.0, 14.0):
                most = evidence.radius(Chance(n * p * (1 - p), 1), log)
                over = math.floor(n * p + most) + 1
                self.assertLessEqual(tail(over, n, p) if over <= n else 0, math.exp(-log))

    def test_rates(self):
        for n, p in ((200, 0.5), (500, 0.05), (500, 0.002)):
            for log in (2.0, 5.0, 14.0):
                rate = evidence.Rate()
                rate.tries = n
                for rate.hits in range(math.ceil(n * p), n + 1):
                    if rate.excludes(p, log):
                        self.assertLessEqual(tail(rate.hits, n, p), math.exp(-log))
                        break

    def test_the_budget_is_never_exceeded(self):
        """All numbers of claims, all looks, two sides."""
        found, spent = Evidence(), 0.0
        for found.n_looks in range(1, 300):
            spent += sum(2 * math.exp(-found.log(number)) for number in range(1, 300))
        self.assertLess(spent, evidence.ALARM)
        self.assertGreater(spent, 0.98 * evidence.ALARM)

    def test_what_a_sampler_errs_by(self):
        """Beginnings and ends of threads: variance and largest error are those of of_ends; the mean is within a
        twentieth of a period."""
        rng = random.Random(1)
        lengths = [rng.uniform(5, 9) for _ in range(20000)]
        errors = [sampled(rng, length) - length for length in lengths]
        mean = sum(errors) / len(errors)
        variance, most, _ = evidence.of_ends(1, 1.0)
        self.assertLess(abs(mean), 0.05)
        self.assertLess(sum((e - mean)**2 for e in errors) / len(errors), 1.03 * variance)
        self.assertLess(max(map(abs, errors)), most)


class Verdicts(unittest.TestCase):
    """A hundred threads of 5 to 9 periods in each look. A fault moves what is seen by 5 %."""

    def claims(self, seed, factor):
        rng = random.Random(seed)

        def claim(found):
            lengths = [rng.uniform(5, 9) for _ in range(100)]
            seen, truth = factor * sum(sampled(rng, length) for length in lengths), sum(lengths)
            found.between("time", seen, 0.99 * truth, 1.01 * truth, evidence.of_ends(100, 1.0), 0.04 * truth)
        return claim

    def test_a_correct_sampler(self):
        """At a budget of 1 in 20, fewer than 1 in 20 of 400 fail."""
        found = [outcome(self.claims(seed, 1), alarm=0.05) for seed in range(400)]
        self.assertLess(found.count("false"), 400 / 20)
        self.assertEqual(found.count("open"), 0)

    def test_a_fault_is_noticed(self):
        """Looks with a fault go on until it is noticed."""
        for factor in (0.94, 1.06):
            found = [outcome(self.claims(seed, factor)) for seed in range(100)]
            self.assertEqual(found.count("false"), 100)

    def test_between_right_and_wrong(self):
        """A claim that is neither right nor noticeably wrong ends in either way or not at all, but a right one is
        never false."""
        found = [outcome(self.claims(seed, 1.01)) for seed in range(50)]
        self.assertEqual(found.count("false"), 0)

    def test_what_is_unsure_is_no_evidence(self):
        """A run that is too unsure counts neither way, one that is less unsure as much as it can."""
        def unsure(seen, **by):
            return outcome(lambda found: found.between("time", seen, 99, 101, EXACT, 10, **by), looks=5)
        self.assertEqual([unsure(seen, unsure=30) for seen in (60, 100, 140)], ["open"] * 3)
        self.assertEqual([unsure(seen, unsure=4) for seen in (90, 96, 104, 110)], ["false", "true", "true", "false"])
        self.assertEqual([unsure(seen, unsure=4, too_high=0) for seen in (96, 104)], ["true", "false"])

    def test_others_can_only_lower_it(self):
        """Then a high value is evidence that it is not too low, and a low one is none."""
        def at_least(seen):
            return outcome(lambda found: found.between("time", seen, 99, math.inf, EXACT, 10, unsure=30, too_high=0),
                           looks=5)
        self.assertEqual([at_least(seen) for seen in (60, 80, 100, 140)], ["false", "open", "true", "true"])

    def test_rates_of_a_coin(self):
        """A third of all: at most a half is right, at most a quarter is wrong."""
        rng = random.Random(2)

        def claim(most):
            return lambda found: found.rate("heads", sum(rng.random() < 1 / 3 for _ in range(50)), 50, most=most,
                                            noticed=(0, most + 0.1))
        self.assertEqual(outcome(claim(1 / 2), looks=200), "true")
        self.assertEqual(outcome(claim(1 / 4), looks=200), "false")

    def test_counts(self):
        self.assertEqual(outcome(lambda found: found.enough("samples", 10, 45)), "true")
        self.assertEqual(outcome(lambda found: found.enough("samples", 0, 1)), "open")

    def test_a_busy_machine_is_left_alone_soon(self):
        found = Evidence()
        with self.assertRaisesRegex(unittest.SkipTest, f"after {evidence.MOST_LEFT_OUT} runs.*kept the machine busy"):
            for _ in found.looks():
                found.between("time", 100, 99, 101, EXACT, 10, unsure=30)

    def test_a_class_does_not_try_again_and_again(self):
        class Test(evidence.OfChance):
            pass

        def runs(unsure):
            found = Test().evidence()
            try:
                for _ in found.looks():
                    found.between("time", 100, 99, 101, EXACT, 10, unsure=unsure)
            except unittest.SkipTest:
                pass
            return found.n_looks
        self.assertEqual([runs(unsure) for unsure in (30, 30, 0, 30, 30)], [evidence.MOST_LEFT_OUT, 1, 1, 4, 1])
        for look in (found := Test().evidence()).looks():
            found.enough("claims that others do not disturb go on", 1, 3)
        self.assertEqual(look, 3)

    def test_no_evidence_is_a_skip_with_the_reason(self):
        found = Evidence(limit=0)
        with self.assertRaisesRegex(unittest.SkipTest, "^not enough evidence after 1 runs, though 0 of 1 claims hold: samples: 1 of the 2 "):
            for _ in found.looks():
                found.enough("samples", 1, 2)


class Repeat(unittest.TestCase):
    """tests/repeat.py"""

    def run_tests(self, name, status, **environment):
        done = subprocess.run([profiling.ROOT / "tests" / "repeat.py", os.environ.get("BUILD", profiling.ROOT / "build"),
                               "--runs", "2", "--hogs", "1", f"test_evidence.Sample.{name}"], capture_output=True,
                              text=True, env=dict(os.environ, SAMPLE_OF_REPEAT="1", **environment),
                              timeout=profiling.HANG)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def test_passed(self):
        self.assertTrue(self.run_tests("test_good", 0).endswith("\n2 runs of 1 tests: 0 failed, 0 skipped\n"))

    def test_failed_and_skipped(self):
        text = self.run_tests("test_", 1)
        self.assertTrue(text.endswith("\n6 runs of 3 tests: 2 failed, 2 skipped\n"), text)
        self.assertEqual(text.count("AssertionError: 1 != 2"), 2)
        self.assertRegex(text, re.compile(r"^    2      2       0 .* test_evidence.Sample.test_bad$", re.M))
        self.assertRegex(text, r"skipped 2 times: only N of N\n")


if "SAMPLE_OF_REPEAT" in os.environ:
    class Sample(unittest.TestCase):
        """What Repeat runs."""

        def test_good(self):
            pass

        def test_bad(self):
            self.assertEqual(1, 2)

        def test_skipped(self):
            self.skipTest("only 3 of 4.5")
