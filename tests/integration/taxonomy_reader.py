"""Reads metrics/default.yaml, the taxonomy of metrics in a database, as HPCToolkit's viewer does.

read_taxonomy() takes the part of YAML that such files need: nested mappings and sequences, flow collections, anchors,
aliases, plain and double-quoted scalars. An alias gives the very object of its anchor, so that inputs in formulas are
recognized. value() computes a formula; check_for_viewer() has the limits of HPCToolkit's viewer (MetricYamlParser of
hpcviewer.e4): what goes beyond them makes it refuse the database."""
import json
import math
import re

TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\'[^\']*\'|[\[\]{},:]|\*[\w-]+|[^\s\[\]{},:"\'*][^\[\]{},:]*)')


class _Flow:
    """A value on one line."""

    def __init__(self, text, anchors):
        self.tokens, self.anchors = [], anchors
        at = 0
        while at < len(text):
            token = TOKEN.match(text, at)
            if not token:
                raise ValueError(f"not understood: {text[at:]}")
            self.tokens.append(token.group(1))
            at = token.end()

    def whole(self):
        found = self.value()
        if self.tokens:
            raise ValueError(f"{self.tokens} behind a value")
        return found

    def take(self, *expected):
        token = self.tokens.pop(0)
        if expected and token not in expected:
            raise ValueError(f"{token} instead of {expected}")
        return token

    def value(self):
        token = self.take().strip()
        if token == "{":
            return dict(self.items("}", self.pair))
        if token == "[":
            return list(self.items("]", self.value))
        if token[0] == "*":
            return self.anchors[token[1:]]
        return scalar(token)

    def pair(self):
        key = scalar(self.take().strip())
        self.take(":")
        return key, self.value()

    def items(self, end, item):
        while True:
            yield item()
            if self.take(",", end) == end:
                return


def scalar(text):
    if text[0] == '"':
        return json.loads(re.sub(r"\\x(..)", r"\\u00\1", text))
    if text[0] == "'":
        return text[1:-1]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text, text)


class _Block:
    """The lines of a file, each with its indentation; a "- " counts as indentation of what follows it."""

    def __init__(self, text):
        self.lines = [(len(line) - len(line.lstrip()), line.strip()) for line in text.splitlines()]
        self.anchors = {}

    def value(self):
        indent, text = self.lines[0]
        return self.sequence(indent) if text.startswith("- ") else self.mapping(indent)

    def sequence(self, indent):
        items = []
        while self.lines and self.lines[0][0] == indent and self.lines[0][1].startswith("- "):
            text = self.lines[0][1][2:]
            if text.startswith("&"):
                self.lines.pop(0)
                items.append(self.value())
                self.anchors[text[1:]] = items[-1]
            else:
                self.lines[0] = indent + 2, text
                items.append(self.value())
        return items

    def mapping(self, indent):
        found = {}
        while self.lines and self.lines[0][0] == indent and not self.lines[0][1].startswith("- "):
            _, text = self.lines.pop(0)
            key, _, rest = text.partition(":")
            if key in found:
                raise ValueError(f"{key} twice")
            found[key] = _Flow(rest, self.anchors).whole() if rest else self.value()
        if self.lines and self.lines[0][0] > indent:
            raise ValueError(f"wrong indentation: {self.lines[0][1]}")
        return found


def read_taxonomy(text):
    block = _Block(text)
    found = block.value()
    if block.lines:
        raise ValueError(f"more than one document: {block.lines[0][1]}")
    return found


OPERATORS = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
             "/": lambda a, b: a / b, "^": lambda a, b: a ** b, "sqrt": math.sqrt}


def value(formula, of_input):
    """`of_input` gives the value of an input: (metric, scope, combine, formula)."""
    if not isinstance(formula, dict):
        return formula
    if "metric" in formula:
        return of_input(formula)
    (operator, operands), = formula.items()
    return OPERATORS[operator](*(value(operand, of_input) for operand in operands))


def metrics_in(taxonomy):
    """All metrics, parents before their children."""
    def walk(metrics):
        for metric in metrics:
            yield metric
            yield from walk(metric.get("children", []))
    return list(walk(taxonomy["roots"]))


def formulas_of(variant):
    """[(inclusive or exclusive, key, formula)]."""
    return [(part, key, formula) for part, keys in variant["formula"].items()
            for key, formula in keys.items()]


def _check_formula(formula, inputs):
    if isinstance(formula, dict) and "metric" in formula:
        assert any(formula is known for known in inputs), f"{formula} is no input"
    elif isinstance(formula, dict):
        (operator, operands), = formula.items()
        assert isinstance(operands, list) and 1 <= len(operands) <= 2, formula
        assert len(operands) == (1 if operator.isalpha() else 2), formula
        for operand in operands:
            _check_formula(operand, inputs)
    else:
        assert isinstance(formula, (int, float)), formula


def check_for_viewer(taxonomy, metrics):
    """`metrics` are those of meta.db: each input must be exactly one of their statistics, by names without case."""
    assert isinstance(taxonomy["version"], int)
    known = [(metric.name.lower(), scope, combine, formula.lower())
             for metric in metrics for scope, combine, formula in metric.summaries]
    for entry in taxonomy["inputs"]:
        key = entry["metric"].lower(), entry["scope"], entry["combine"], entry["formula"].lower()
        assert known.count(key) == 1, f"{key}: {known.count(key)} statistics in meta.db"
    for metric in metrics_in(taxonomy):
        assert isinstance(metric["name"], str) and isinstance(metric["description"], str), metric
        assert metric["variants"], metric
        for variant in metric["variants"].values():
            assert isinstance(variant["render"], list), metric["name"]
            for part, key, formula in formulas_of(variant):
                assert part in ("inclusive", "exclusive") and key in ("standard", "custom")
                assert isinstance(formula, dict), formula
                _check_formula(formula, taxonomy["inputs"])
