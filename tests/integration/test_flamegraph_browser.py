"""The flame graph's page in a real browser, headless Chromium: no script error; search, zoom, tooltip
and dark mode work; text is legible, and more and less are told apart by the color-blind.

A script appended to a copy of the page uses it and leaves what it saw in the document, which Chromium
prints. Part of `make test-all`, which installs Chromium."""
import html
import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import viewer
import viewer_story as story

CHROMIUM = shutil.which("chromium")

# Runs before the page's own script: catches its errors.
CATCH = "<script>var errors = []; onerror = (what) => { errors.push(String(what)); };</script>"

# Uses the page as a reader would and reports as JSON.
USE = """<script>
const shown = (e) => getComputedStyle(e).display !== 'none';
const all = () => Array.from(document.querySelectorAll('.f'));
const named = (name) => all().find((e) => e.textContent === name);
const said = () => document.getElementById('said').textContent;
const type = (text) => {
    const field = document.getElementById('wanted');
    field.value = text;
    field.dispatchEvent(new Event('input', {bubbles: true}));
};
const report = {};
const widths = () => { // of the widest frame of each name
    const widest = {};
    for (const e of all().filter(shown))
        widest[e.textContent] = Math.max(widest[e.textContent] || 0, e.getBoundingClientRect().width);
    return widest;
};
const colors = (e) => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor];
report.before = widths();
report.colors = all().map(colors);
report.page = colors(document.body);
type('coder');
report.found = all().filter((e) => e.classList.contains('found')).map((e) => e.textContent);
report.found_colors = all().filter((e) => e.classList.contains('found')).map(colors);
report.matches = document.getElementById('matches').textContent;
type('(');
report.bad_pattern = document.getElementById('matches').textContent;
type('');
report.found_after = all().filter((e) => e.classList.contains('found')).length;
named('coder_run').dispatchEvent(new MouseEvent('mouseenter'));
report.tooltip = said();
named('coder_run').click();
report.zoomed = widths();
document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}));
report.after = widths();
document.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true}));
report.focus = document.activeElement.id;
report.errors = errors;
document.documentElement.setAttribute('data-report', JSON.stringify(report));
</script>"""

# sRGB to what people without red (protan), green (deutan) or blue (tritan) cones see: Machado,
# Oliveira, Fernandes, "A physiologically-based model for simulation of color vision deficiency"
# (2009), severity 1.0; in linear RGB.
DEFICIENCIES = {
    "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
               (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
               (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
               (0.004733, 0.691367, 0.303900)),
}


def linear(color):
    """The linear RGB, 0..1, of "rgb(1, 2, 3)"."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def luminance(color):
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear(color)))


def contrast(pair):
    """The contrast ratio of WCAG 2."""
    dark, light = sorted(map(luminance, pair))
    return (light + 0.05) / (dark + 0.05)


def lab(rgb):
    """CIE L*a*b* (D65) of linear RGB."""
    matrix = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.9505, 1.0, 1.089)
    x, y, z = (sum(m * c for m, c in zip(row, rgb)) / w for row, w in zip(matrix, white))
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def seen(color, deficiency):
    rgb = linear(color)
    return lab([min(1, max(0, sum(m * c for m, c in zip(row, rgb))))
                for row in DEFICIENCIES[deficiency]])


def difference(a, b, deficiency):
    """The color difference (CIE76); about 2.3 is just noticeable."""
    return sum((x - y) ** 2 for x, y in zip(seen(a, deficiency), seen(b, deficiency))) ** 0.5


@unittest.skipUnless(os.environ.get("TEST_ALL"), "long form: make test-all")
@unittest.skipUnless(CHROMIUM, "chromium is not installed")
class InChromium(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def report(self, *databases, dark=False, use=USE):
        page = viewer.printed("top-down", "--format", "flamegraph", *databases)
        path = os.path.join(self.folder, "page.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(page.replace("<head>", "<head>" + CATCH, 1).replace("</body>", use + "</body>"))
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                   f"--user-data-dir={self.folder}/profile", "--window-size=1200,800",
                   f"--blink-settings=preferredColorScheme={0 if dark else 1}", "file://" + path]
        environment = dict(os.environ, HOME=self.folder, XDG_CONFIG_HOME=self.folder)
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
        found = re.search(r'data-report="([^"]*)"', done.stdout)
        self.assertTrue(found, done.stderr[-2000:])
        return json.loads(html.unescape(found[1]))

    def one(self, **more):
        db = os.path.join(self.folder, "db")
        if not os.path.exists(db):
            story.write(db)
        return self.report(db, **more)

    def test_reading_the_page(self):
        report = self.one()
        self.assertEqual(report["errors"], [])
        # Widths are inclusive costs (viewer_story): main 9 s of 10.
        whole = report["before"]["main thread"] + report["before"]["application thread"]
        self.assertAlmostEqual(report["before"]["write_out"] / whole, 0.075, delta=0.01)
        self.assertEqual(set(report["found"]), {"coder_run"})
        # 6.5 s below main, with the recursive call in it, and 2.5 s below worker.
        self.assertEqual(report["matches"], "3 frames, 90.0% of the width")
        self.assertIn("Invalid regular expression", report["bad_pattern"])
        self.assertEqual(report["found_after"], 0)
        self.assertRegex(report["tooltip"], r"^coder_run +coder\.c:20\nwork ")
        self.assertGreater(report["zoomed"]["coder_run"], report["before"]["coder_run"])
        self.assertNotIn("write_out", report["zoomed"])
        self.assertEqual(report["after"], report["before"])
        self.assertEqual(report["focus"], "wanted")

    def check_legible(self, report):
        for pair in (*report["colors"], *report["found_colors"], report["page"]):
            self.assertGreaterEqual(contrast(pair), 4.5, pair)

    def test_light_and_dark(self):
        light, dark = self.one(), self.one(dark=True)
        self.check_legible(light)
        self.check_legible(dark)
        self.assertEqual(dark["errors"], [])
        self.assertGreater(luminance(light["page"][1]), 0.9)
        self.assertLess(luminance(dark["page"][1]), 0.05)

    def test_found_frames_stand_out(self):
        report = self.one()
        for deficiency, (_, frame), (_, found) in itertools.product(
                DEFICIENCIES, report["colors"], report["found_colors"]):
            self.assertGreater(difference(frame, found, deficiency), 25, (deficiency, frame, found))

    def test_more_and_less_are_told_apart(self):
        sides = [os.path.join(self.folder, name) for name in ("before", "after")]
        for side, costs in zip(sides, ({"grown": 1.0, "shrunk": 4.0, "same": 2.0},
                                       {"grown": 4.0, "shrunk": 1.0, "same": 2.0})):
            db = viewer.v4_writer.Database("app", ["work"])
            main = db.entry().call(db.function("main", db.module("/bin/app"), 0x10))
            for name, cost in costs.items():
                main.call(db.function(name, db.module("/bin/app"), len(name))).charge(cost)
            viewer.v4_writer.write_database(db, side)
        use = """<script>
            const color = {};
            for (const e of document.querySelectorAll('.f'))
                color[e.textContent] = getComputedStyle(e).backgroundColor;
            document.documentElement.setAttribute('data-report', JSON.stringify({color, errors}));
            </script>"""
        report = self.report(*sides, use=use)
        self.assertEqual(report["errors"], [])
        for deficiency, (a, b) in itertools.product(
                DEFICIENCIES, itertools.combinations(("grown", "shrunk", "same"), 2)):
            self.assertGreater(difference(report["color"][a], report["color"][b], deficiency), 15,
                               (deficiency, a, b, report["color"]))
