"""Sequential verdicts: tests that rest on time or chance go on until they have evidence.

    for evidence in self.looks():       # of an OfChance; one more run of the program for each look
        seen, truth, period = ...
        evidence.between("work", seen, 0.99 * truth, 1.01 * truth, of_samples(truth, period), 0.05 * truth)

After each run, the sums over all runs so far decide each claim:

    false   an interval that has the true sum lies outside of what the claim allows: the test fails
    true    the interval lies inside of what the claim allows, widened by `notices`
    open    neither: the program runs once more. When the test has taken LIMIT seconds it is skipped, with
            the claim that is open as the reason; run.py counts it

Why a false alarm is rare. The error of a sum is a sum of independent errors of mean 0, each at most `step`, of
variance V together. Bernstein's inequality bounds it without any limit theorem:

    P(error >= t) <= exp(-t^2 / (2 (V + step t / 3)))

So the error exceeds  radius = s + sqrt(s^2 + 2 V L),  s = step L / 3,  with probability exp(-L) at most, on either
side. Claim i at look j of the test's k-th Evidence takes exp(-L) = ALARM / (2 i (i + 1) j (j + 1) k (k + 1)). As
1/(n(n+1)) sums to 1 over n = 1, 2, ..., all claims at all looks together, on both sides, fail a correct product with
probability ALARM at most, however many there are. By the same radius a fault that moves a sum by more than `notices`
passes with probability ALARM at most.

Others on the machine do not only leave things to chance: they delay samples, by a time that the test measures and
passes as `unsure`. The interval grows by it. A run that is too unsure for what is to be noticed is no evidence for that
claim and is left out; whether it is does not depend on what was seen, so the bounds above stay valid.

Rates (of paths that are incomplete, of looks that find something) use Chernoff's bound for a binomial instead:
P(k or more of n) <= exp(-n D(k/n, p)), with D(q, p) = q ln(q/p) + (1-q) ln((1-q)/(1-p)).

A test may make hard assertions beside its claims: about what is impossible, not about what is improbable."""
import collections
import math
import time
import unittest

ALARM = 1e-6  # false alarms of a test, for each of its runs
LIMIT = 60  # seconds of a test after which no further run begins
MOST_LEFT_OUT = 4  # runs of which a claim could use none: others keep the machine busy


class Chance(collections.namedtuple("Chance", "variance step most", defaults=(math.inf,))):
    """Independent errors of mean 0: the sum of their variances, the largest that one can be, and the largest that
    their sum can be."""

    def __add__(self, other):
        return Chance(self.variance + other.variance, max(self.step, other.step), self.most + other.most)


EXACT = Chance(0, 0, 0)


def of_samples(seconds, period):
    """What is charged to a context by samples that come independently of its begin and end. A sample's increment is
    uniform in half to one and a half periods; its square is 13/12 of a period's on average."""
    return Chance(13 / 12 * period * max(seconds, period), 1.5 * period)


def of_share(seconds, total, period):
    """The same for a part of a total that is the sum of the same samples."""
    share = min(1, max(0, seconds / total))
    return Chance(13 / 12 * period * max(total * share * (1 - share), period), 1.5 * period)


def of_ends(number, period):
    """Threads or uninterrupted stretches of code: the first sample comes at a uniform phase and pays one period; the
    tail behind the last sample, of at most 1.5 periods, is not paid. Variances, in squared periods: 1/12 and 0.123."""
    return Chance(0.21 * number * period**2, 1.5 * period, 1.5 * period * number)


def of_tries(number, chance, value):
    """So many tries that are worth a value each, with that chance, and else nothing."""
    return Chance(number * chance * (1 - chance) * value**2, value, number * value)


def radius(chance, log):
    """What the error of a sum exceeds with probability exp(-log) at most, on one side."""
    step = chance.step * log / 3
    return min(chance.most, step + math.sqrt(step**2 + 2 * chance.variance * log))


def divergence(share, chance):
    """D(q, p) of Chernoff's bound."""
    def part(q, p):
        return 0 if q == 0 else math.inf if p == 0 else q * math.log(q / p)
    return part(share, chance) + part(1 - share, 1 - chance)


class Sum:
    """A claim about a sum over all looks."""

    def __init__(self):
        self.seen = self.low = self.high = self.notices = self.too_low = self.too_high = 0
        self.chance, self.left_out, self.unsure = EXACT, 0, 0

    def add(self, seen, low, high, chance, notices, too_low, too_high):
        # What may have been lost hides only values that are too high, and what may have been added the others.
        unsure = max(too_low if high < math.inf else 0, too_high if low > -math.inf else 0)
        if unsure > notices / 2:
            self.left_out, self.unsure = self.left_out + 1, unsure
            return
        self.seen, self.low, self.high = self.seen + seen, self.low + low, self.high + high
        self.notices, self.chance = self.notices + notices, self.chance + chance
        self.too_low, self.too_high = self.too_low + too_low, self.too_high + too_high

    def unused(self):
        """Runs that were left out, if all were."""
        return 0 if self.notices else self.left_out

    def interval(self, log):
        """What has the true sum."""
        around = radius(self.chance, log)
        return self.seen - around - self.too_high, self.seen + around + self.too_low

    def verdict(self, log):
        """True, False, or None if it is open."""
        least, most = self.interval(log)
        if least > self.high or most < self.low:
            return False
        inside = self.low - self.notices <= least and most <= self.high + self.notices
        return True if inside and self.notices else None

    def text(self, log):
        if self.unused():
            return f"others kept the machine busy, so that each run was unsure by {self.unsure:.3g} or as much"
        least, most = self.interval(log)
        return (f"{self.seen:.4g}, so {least:.4g} to {most:.4g}; allowed {self.low:.4g} to {self.high:.4g}, "
                f"a fault is {self.notices:.3g} away; {self.left_out} runs left out")


class Rate:
    """A claim about a probability: at least `least` and at most `most`. A fault is as far away as `noticed`
    (a pair of the same kind)."""

    def __init__(self):
        self.hits = self.tries = 0

    def add(self, hits, tries, least, most, noticed):
        self.hits, self.tries = self.hits + hits, self.tries + tries
        self.least, self.most, self.noticed = least, most, noticed

    def unused(self):
        return 0

    def excludes(self, chance, log):
        """Whether so many hits are too improbable at that chance."""
        return self.tries > 0 and self.tries * divergence(self.hits / self.tries, chance) >= log

    def verdict(self, log):
        share = self.hits / self.tries if self.tries else 0
        if any(self.excludes(bound, log) and wrong for bound, wrong in
               ((self.least, share < self.least), (self.most, share > self.most))):
            return False
        low, high = self.noticed
        inside = ((low <= 0 or (share > low and self.excludes(low, log))) and
                  (high >= 1 or (share < high and self.excludes(high, log))))
        return True if inside else None

    def text(self, _):
        return f"{self.hits} of {self.tries}, allowed {self.least:.3g} to {self.most:.3g}"


class Count:
    """What a test needs for its verdict, which is never false."""

    def __init__(self):
        self.counted = 0

    def add(self, counted, wanted):
        self.counted, self.wanted = self.counted + counted, wanted

    def unused(self):
        return 0

    def verdict(self, _):
        return True if self.counted >= self.wanted else None

    def text(self, _):
        return f"{self.counted:g} of the {self.wanted:g} that are needed"


class Evidence:
    """Claims about runs of one program."""

    def __init__(self, limit=LIMIT, alarm=ALARM, most_left_out=MOST_LEFT_OUT):
        self.end, self.alarm, self.most_left_out = time.monotonic() + limit, alarm, most_left_out
        self.claims, self.n_looks, self.was_busy = {}, 0, False

    def claim(self, what, kind):
        return self.claims.setdefault(what, kind())

    def between(self, what, seen, low, high, chance, notices, unsure=0, too_high=None):
        """Adds a run's values to a claim: but for chance, what was seen is between low and high. `unsure` is the most
        by which it may be too low or too high in this run for a reason that was measured, such as a halt of the
        machine; too low only, if too_high says otherwise."""
        self.claim(what, Sum).add(seen, low, high, chance, notices, unsure, unsure if too_high is None else too_high)

    def time(self, what, seen, burned, counted, chance, notices=0.06, unsure=0):
        """What a program `burned` on purpose was sampled, and no more than the kernel `counted`, within 2 %. A fault
        is a share of the time on top of that."""
        self.between(what, seen, 0.98 * burned, 1.02 * counted, chance, notices * burned, unsure)

    def rate(self, what, hits, tries, least=0.0, most=1.0, noticed=(0.0, 1.0)):
        """Adds a run's counts to a claim: each try is a hit with a probability of at least `least` and at most `most`;
        a fault makes it less than noticed[0] or more than noticed[1]."""
        self.claim(what, Rate).add(hits, tries, least, most, noticed)

    def enough(self, what, counted, wanted):
        """Adds a run's count of what the test needs: it goes on until it has so many, and never fails for it."""
        self.claim(what, Count).add(counted, wanted)

    def log(self, number):
        """L of the claim with that number, from 1, at this look."""
        looks = self.n_looks * (self.n_looks + 1)
        return math.log(2 * number * (number + 1) * looks / self.alarm)

    def open_claims(self):
        """Texts of the claims that are open; raises if one is false."""
        found = []
        for number, (what, claim) in enumerate(self.claims.items(), 1):
            log = self.log(number)
            verdict = claim.verdict(log)
            text = f"{what}: {claim.text(log)}"
            if verdict is False:
                raise AssertionError(f"{text}, at look {self.n_looks}")
            if verdict is None:
                found.append(text)
        return found

    def looks(self):
        """Yields the number of each look, until every claim is decided."""
        while True:
            self.n_looks += 1
            yield self.n_looks
            waiting = self.open_claims()
            if not waiting:
                return
            left_out = max(claim.unused() for claim in self.claims.values())
            if left_out >= self.most_left_out or time.monotonic() > self.end:
                self.was_busy = left_out > 0
                n_claims = len(self.claims)
                raise unittest.SkipTest(f"not enough evidence after {self.n_looks} runs, though {n_claims - len(waiting)} "
                                        f"of {n_claims} claims hold: {waiting[0]}")


class OfChance:
    """A test class, mixed into a TestCase, whose verdicts rest on time or chance: tests/repeat.py runs these."""
    rests_on_chance = True
    n_evidences, end, last = 0, None, None

    def evidence(self, limit=LIMIT):
        """False alarms of all the evidence of a test: ALARM at most. The limit is one for all. If the last one of the
        class had no use for its runs, since others kept the machine busy, one such run is enough for this one."""
        self.n_evidences += 1
        self.end = self.end or time.monotonic() + limit
        most = 1 if self.last and self.last.was_busy else MOST_LEFT_OUT
        type(self).last = Evidence(self.end - time.monotonic(), ALARM / (self.n_evidences * (self.n_evidences + 1)), most)
        return self.last

    def looks(self, limit=LIMIT):
        """Yields new evidence, self.found, for each look until every claim is decided."""
        self.found = self.evidence(limit)
        for _ in self.found.looks():
            yield self.found
