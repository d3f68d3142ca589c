#!/usr/bin/env python3
"""Writes tests/oracles/sacrebleu.json: what sacreBLEU 2.6.0 says of the texts in $ZHUYI_DATA/metrics-real. Numbers and
names of options only, no text.

    python3 -m venv V && V/bin/pip install sacrebleu==2.6.0 numpy==2.4.6
    ZHUYI_DATA=../shared/data V/bin/python scripts/sacrebleu_oracle.py

Systems beside the hypotheses are made by rule, lines counted from 0: `dropped` are the hypotheses without the last word
of every third line (0, 3, …), `swapped` without the second word of every fifth line and with the first two words of every
seventh line exchanged, `close` without the last word of every 25th line but with the reference itself in lines 1, 401, …,
which nearly makes up for it; words stand between single spaces. As a second reference stream the references of the next
line are taken, and as a third the hypotheses of the one before (both in a circle).

Tests of significance are told twice. sacreBLEU adds up and scores bootstrap samples in single precision; `bs` is what it
says, `bs double` what it says with the same draws if its one line that asks for float32 asks for float64.
"""

import json
import os
from importlib.metadata import version
from pathlib import Path

import numpy
import sacrebleu
from sacrebleu import significance
from sacrebleu.metrics import BLEU, CHRF, TER

ROOT = Path(__file__).resolve().parent.parent
SETS = ["zh", "en", "newstest-deen"]
TER_OPTIONS = {
    "default": {},
    "normalized": {"normalized": True},
    "no_punctuation": {"no_punct": True},
    "case_sensitive": {"case_sensitive": True},
    "normalized asian": {"normalized": True, "asian_support": True},
    "no_punctuation asian": {"no_punct": True, "asian_support": True},
    "all": {"normalized": True, "no_punct": True, "asian_support": True, "case_sensitive": True},
}
CHRF_OPTIONS = {
    "chrF2++": {"word_order": 2},
    "chrF2+ lowercase": {"word_order": 1, "lowercase": True},
    "chrF2++ whitespace": {"word_order": 2, "whitespace": True},
    "chrF2++ epsilon": {"word_order": 2, "eps_smoothing": True},
    "chrF2": {},
}


class Double:
    """numpy for sacreBLEU's tests, with double precision where they ask for single."""

    def __getattr__(self, name):
        return getattr(numpy, name)

    @staticmethod
    def array(values, dtype=None):
        return numpy.array(values, dtype="float64" if dtype == "float32" else dtype)


def lines(path):
    """A line ends at LF, and nowhere else."""
    return path.read_bytes().decode("utf-8").removesuffix("\n").split("\n")


def dropped(hypotheses):
    """Every third line without its last word."""
    return [" ".join(line.split(" ")[:-1]) if i % 3 == 0 else line for i, line in enumerate(hypotheses)]


def swapped(hypotheses):
    """Every fifth line without its second word; then every seventh with its first two exchanged."""
    made = []
    for i, line in enumerate(hypotheses):
        words = line.split(" ")
        if i % 5 == 0:
            words = words[:1] + words[2:]
        if i % 7 == 0:
            words = words[1::-1] + words[2:]
        made.append(" ".join(words))
    return made


def close(hypotheses, references):
    """Every 25th line without its last word, and every 400th line as good as can be."""
    made = [" ".join(line.split(" ")[:-1]) if i % 25 == 0 else line for i, line in enumerate(hypotheses)]
    made[1::400] = references[1::400]
    return made


def told(metric, hypotheses, references):
    """A metric's score, with its signature."""
    score = metric.corpus_score(hypotheses, references)
    answer = {"score": score.score, "signature": str(metric.get_signature())}
    if isinstance(metric, TER):
        answer |= {"edits": score.num_edits, "ref_len": score.ref_length}
    return answer


def compared(test, systems, references):
    """A paired test of the second system against the first."""
    metrics = {"BLEU": BLEU(), "chrF2": CHRF(), "TER": TER()}
    signatures, results = significance.PairedTest(systems, metrics, references, test_type=test)()
    answer = {"signatures": {name: str(signature) for name, signature in signatures.items()}}
    for name in metrics:
        answer[name] = {}
        for who, result in zip(["baseline", "system"], results[name]):
            numbers = {key: float(number) for key, number in vars(result).items() if number is not None}
            answer[name][who] = numbers
    return answer


def of_set(folder, name):
    """Everything about one set."""
    hypotheses, references = lines(folder / f"{name}-hyp.txt"), lines(folder / f"{name}-ref.txt")
    second, third = references[1:] + references[:1], hypotheses[-1:] + hypotheses[:-1]
    answer = {"ter": {}, "chrf": {}, "several": {}}
    for option, arguments in TER_OPTIONS.items():
        answer["ter"][option] = told(TER(**arguments), hypotheses, [references])
    for option, arguments in CHRF_OPTIONS.items():
        answer["chrf"][option] = told(CHRF(**arguments), hypotheses, [references])
    for metric, made in [("ter", TER), ("chrf", lambda: CHRF(word_order=2))]:
        answer["several"][metric] = told(made(), hypotheses, [references, second, third])
        systems = [("dropped", dropped(hypotheses)), ("swapped", swapped(hypotheses))]
        answer["several"] |= {f"{metric} {system}": told(made(), made_lines, [references, second])
                              for system, made_lines in systems}
    ter, chrf = TER(), CHRF(word_order=2)
    places = range(0, len(hypotheses), max(1, len(hypotheses) // 250))
    pairs = [(hypotheses[i], [references[i]]) for i in places]
    answer["sentences"] = {
        "step": places.step,
        "ter": [ter.sentence_score(*pair).score for pair in pairs],
        "chrF2++": [chrf.sentence_score(*pair).score for pair in pairs],
    }
    return answer


def significant(folder, name):
    """Every test of one set."""
    hypotheses, references = lines(folder / f"{name}-hyp.txt"), lines(folder / f"{name}-ref.txt")
    answer = {}
    for rule, system in {"dropped": dropped(hypotheses), "close": close(hypotheses, references)}.items():
        systems = [("baseline", hypotheses), (rule, system)]
        answer[rule] = {test: compared(test, systems, [references]) for test in ["bs", "ar"]}
        significance.np = Double()
        answer[rule]["bs double"] = compared("bs", systems, [references])
        significance.np = numpy
    return answer


def main():
    folder = Path(os.environ["ZHUYI_DATA"]) / "metrics-real"
    assert sacrebleu.__version__ == "2.6.0", sacrebleu.__version__
    answer = {
        "about": "sacreBLEU 2.6.0's answers, written by scripts/sacrebleu_oracle.py, which says what is what.",
        "numpy": version("numpy"),
        "sets": {name: of_set(folder, name) for name in SETS},
        "significance": {name: significant(folder, name) for name in ["en", "newstest-deen"]},
    }
    text = json.dumps(answer, indent=1) + "\n"
    (ROOT / "tests" / "oracles" / "sacrebleu.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
