"""Pictures for the documents, as SVG: a terminal's screen in its colors, and the page of a flame graph."""
import html
import re

CHARACTER, LINE = 7.2, 16  # pixels of a cell
NO_BREAK = "\u00a0"  # a space that is not merged with others
PAGE, TEXT, DIM = "#1b1b1b", "#dddddd", "#8a8a8a"
BASE = ("#000000", "#cc5555", "#55aa55", "#bbaa44", "#5588dd", "#aa66aa", "#44aaaa", "#cccccc")
ESCAPE = re.compile(r"\x1b\[([\d;]*)m")
FRAME = re.compile(r'<div class="f"[^>]*? title="([^"]*)" style="left:([\d.]+)%;width:([\d.]+)%;top:(\d+)px;'
                   r'background:([^"]*)">(.*?)</div>')


def palette(number):
    """A color of the 256 that terminals have."""
    if number < 16:
        return BASE[number % 8]
    if number >= 232:
        return "#" + 3 * f"{8 + 10 * (number - 232):02x}"
    levels = (0, 95, 135, 175, 215, 255)
    number -= 16
    return "#" + "".join(f"{levels[digit]:02x}" for digit in (number // 36, number // 6 % 6, number % 6))


class Style:
    def __init__(self):
        self.reset()

    def reset(self):
        self.color, self.bold, self.dim, self.underlined, self.is_reversed = None, False, False, False, False

    def take(self, codes):
        """The codes of an escape sequence."""
        numbers = [int(code or 0) for code in codes.split(";")]
        while numbers:
            number = numbers.pop(0)
            if number == 0:
                self.reset()
            elif number in (1, 2, 4, 7):
                setattr(self, {1: "bold", 2: "dim", 4: "underlined", 7: "is_reversed"}[number], True)
            elif number in (22, 24, 27):
                for name in {22: ("bold", "dim"), 24: ("underlined",), 27: ("is_reversed",)}[number]:
                    setattr(self, name, False)
            elif 30 <= number <= 37:
                self.color = BASE[number - 30]
            elif number == 38:
                self.color = palette(numbers[1])
                del numbers[:2]
            elif number == 39:
                self.color = None

    def shown(self):
        color = self.color or (DIM if self.dim else TEXT)
        return (PAGE, color) if self.is_reversed else (color, None)


def runs(line, style):
    """(column, text, style's attributes) of the parts of a line."""
    column, at = 0, 0
    for escape in [*ESCAPE.finditer(line), None]:
        text = line[at:escape.start() if escape else len(line)]
        if text:
            yield column, text, (*style.shown(), style.bold, style.underlined)
            column += len(text)
        if escape:
            style.take(escape[1])
            at = escape.end()


def head(width, height, title):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">\n<title>{html.escape(title)}</title>\n'
            f'<rect width="100%" height="100%" rx="6" fill="{PAGE}"/>\n')


def screen(lines, columns, title):
    """The SVG of a screen whose lines have escape sequences. Each part is as wide as its cells in every font."""
    style, drawn = Style(), []
    for row, line in enumerate(lines):
        y = 8 + row * LINE
        for column, text, (color, background, bold, underlined) in runs(line, style):
            x, width = 8 + column * CHARACTER, len(text) * CHARACTER
            if background:
                drawn.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{LINE}" fill="{background}"/>')
            if text.strip():
                drawn.append(f'<text x="{x:.1f}" y="{y + 12}" textLength="{width:.1f}" fill="{color}"'
                             f'{" font-weight=" + chr(34) + "bold" + chr(34) if bold else ""}'
                             f'{" text-decoration=" + chr(34) + "underline" + chr(34) if underlined else ""}>'
                             f'{html.escape(text.replace(" ", NO_BREAK))}</text>')
    return (head(16 + columns * CHARACTER, 16 + len(lines) * LINE, title) +
            '<g font-family="monospace" font-size="12">\n' + "\n".join(drawn) + "\n</g>\n</svg>\n")


def flame_graph(page, title, width=860, rows=24, least=0.3):
    """The SVG of a page's frames that are at least `least` percent wide, in its first `rows` rows."""
    drawn, bottom = [], 0
    for what, left, share, top, color, name in FRAME.findall(page):
        x, size, y = 8 + float(left) / 100 * width, float(share) / 100 * width, 8 + int(top)
        row = int(top) // 18
        if float(share) < least or row >= rows:
            continue
        bottom = max(bottom, y + 18)
        letters = int((size - 6) / 6)
        label = html.unescape(name)
        label = label if len(label) <= letters else label[:letters - 1] + "…" if letters > 3 else ""
        drawn.append(f'<g><title>{what}</title><rect x="{x:.1f}" y="{y}" width="{max(size - 1, 0.5):.1f}" height="17" rx="2" '
                     f'fill="{color}"/>' + (f'<text x="{x + 3:.1f}" y="{y + 12}">{html.escape(label)}</text>' if label else "")
                     + "</g>")
    return (head(width + 16, bottom + 8, title) + '<g font-family="sans-serif" font-size="11" fill="#111111">\n' +
            "\n".join(drawn) + "\n</g>\n</svg>\n")
