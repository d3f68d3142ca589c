#!/usr/bin/env python3
"""Alignment error rate of statistical aligners, eflomal and fast_align, on the English-French Hansards.

They are trained on the Tatoeba pairs together with the 447 Hansards pairs, and scored on the latter. It needs one
or both of these PyPI packages, and nothing else beyond the standard library (eflomal builds with gcc):

    pip install eflomal==2.0.0 systran-align==3.5.0

systran-align is fast_align as a library. It keeps its directions to itself and gives out one symmetrised alignment
only, so that is all there is of it here.

The Hansards are tokenised already and are only lower-cased. Tatoeba is raw, and --text says what becomes of it:

expanded  as the Hansards are (the fair one): lower-cased, punctuation and hyphens standing alone. The Hansards do
          not split French elisions, they write them out: l' is "le", qu' "que", and s' "se" even where it is "si";
          so are du "de le", des "de les", au "à le", aux "à les" (not in au-dessus); aujourd'hui "aujourd' hui",
          and œ is "oe". Their English has no contractions: don't is "do not", can't "cannot", I'm "i am", 's "is"
          after it, that, what and so on, and "'s" by itself after other words.
split     lower-cased, punctuation and hyphens standing alone; French is split after the apostrophe, English before
          it (do n't, i 'm), and nothing is written out
raw       split at white space, neither tokenised nor lower-cased, nor the Hansards (eflomal lower-cases by itself)

The folder OUTPUT gets train.tsv, dev.tsv and hansards.tsv (English TAB French, tokens apart by one space), and for
each aligner ALIGNER.SYMMETRISATION.txt, the Hansards' links, source-target, counted from 0: of expanded text in
OUTPUT itself, of the others in OUTPUT/split and OUTPUT/raw. eflomal takes its seed from the system: with --runs
the rates are means, with the range, and the links the first run's.

    python3 scripts/statistical_aligner.py OUTPUT [--data DIR] [--text expanded split raw] [--runs 3]
"""

import argparse
import gzip
import importlib.metadata
import importlib.util
import os
import re
import tempfile
import time
from pathlib import Path
from statistics import mean

PACKAGES = {"eflomal": "eflomal", "fast_align": "systran-align"}
TEXTS = ("expanded", "split", "raw")

ELISION = r"\b(?:[cdjlmnst]|(?:jus|lors|puis|quoi|pres|quel)?qu)'(?=\w)"
# Abbreviations, numbers, dots and dashes that hold together; what is the language's own; words; any other sign.
TOKEN = r"\b(?:%s)\.(?=\s)|\d+(?:[.,]\d+)*\w*|\.\.\.|--|%s|\w+|\S"
ENGLISH_TOKEN = re.compile(
    TOKEN % ("mr|mrs|ms|dr|st|hon|a\\.m|p\\.m", r"o'clock|\w+(?=n't\b)|n't\b|'(?:s|m|d|re|ve|ll)\b")
)
FRENCH_TOKEN = re.compile(TOKEN % ("m|mm|dr|st", r"aujourd'(?=hui)|" + ELISION))
IS_AFTER = "it|he|she|that|this|what|who|where|when|how|why|there|here|every(?:thing|one|body)|(?:no|some)thing"
ENGLISH_WRITTEN_OUT = [
    (r"\bwon't\b", "will not"),
    (r"\bshan't\b", "shall not"),
    (r"\bain't\b", "is not"),
    (r"\bcan't\b", "cannot"),
    (r"n't\b", " not"),
    (r"'m\b", " am"),
    (r"'re\b", " are"),
    (r"'ve\b", " have"),
    (r"'ll\b", " will"),
    (r"'d(?= better\b)", " had"),
    (r"'d\b", " would"),
    (rf"\b({IS_AFTER})'s\b", r"\1 is"),
]
FRENCH_WRITTEN_OUT = [
    (ELISION, lambda elided: elided[0][:-1] + "e "),
    (r"(?<![\w-])du(?![\w-])", "de le"),
    (r"(?<![\w-])des(?![\w-])", "de les"),
    (r"(?<![\w-])au(?![\w-])", "à le"),
    (r"(?<![\w-])aux(?![\w-])", "à les"),
]


def tokenise(line, text, token, written_out):
    if text == "raw":
        return line.split()
    line = line.lower().replace("’", "'").replace("‘", "'").replace("…", "...")
    if text == "expanded":
        line = line.replace("œ", "oe")
        for pattern, replacement in written_out:
            line = re.sub(pattern, replacement, line)
    return token.findall(line)


def tatoeba(path, text):
    """The pairs of a TSV file, as lists of tokens."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            english, french = line.rstrip("\n").split("\t")[:2]
            yield (
                tokenise(english, text, ENGLISH_TOKEN, ENGLISH_WRITTEN_OUT),
                tokenise(french, text, FRENCH_TOKEN, FRENCH_WRITTEN_OUT),
            )


def hansards(folder, text):
    """The Hansards' pairs: their tokens as they are, but for the case."""
    for pair in zip(*(read_lines(folder / name) for name in ("src.txt", "tgt.txt")), strict=True):
        yield tuple((side if text == "raw" else side.lower()).split(" ") for side in pair)


def read_lines(path):
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def write_pairs(path, pairs):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (f"{' '.join(english)}\t{' '.join(french)}\n" for english, french in pairs)
    path.write_text("".join(lines), encoding="utf-8")


def read_gold(path):
    """For each line the sure links, and the possible ones, which the sure ones are among."""
    for line in read_lines(path):
        links = [re.fullmatch(r"(\d+)([-p])(\d+)", link).groups() for link in line.split()]
        possible = {(int(i), int(j)) for i, _, j in links}
        yield {(int(i), int(j)) for i, kind, j in links if kind == "-"}, possible


def rates(alignments, gold):
    """AER, precision and recall, of the counts summed over the lines, and the number of links."""
    links = sure = hit_sure = hit_possible = 0
    for alignment, (sure_links, possible_links) in zip(alignments, gold, strict=True):
        links += len(alignment)
        sure += len(sure_links)
        hit_sure += len(alignment & sure_links)
        hit_possible += len(alignment & possible_links)
    return 1 - (hit_sure + hit_possible) / (links + sure), hit_possible / links, hit_sure / sure, links


def grow_diagonal(forward, reverse):
    """Koehn's: the intersection, then repeatedly the links of the union beside it with a word not yet aligned."""
    union, grown = forward | reverse, forward & reverse
    sources, targets = {i for i, _ in grown}, {j for _, j in grown}
    neighbours = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]
    while True:
        before = len(grown)
        for i in range(max((i for i, _ in union), default=-1) + 1):
            for j in range(max((j for _, j in union), default=-1) + 1):
                if (i, j) not in grown:
                    continue
                for down, right in neighbours:
                    k, l = i + down, j + right
                    if (k, l) in union and (k, l) not in grown and (k not in sources or l not in targets):
                        grown.add((k, l))
                        sources.add(k)
                        targets.add(l)
        if len(grown) == before:
            return grown


def grow_diagonal_final_and(forward, reverse):
    """Then the links of either direction, forward first, both of whose words are yet unaligned."""
    grown = grow_diagonal(forward, reverse)
    sources, targets = {i for i, _ in grown}, {j for _, j in grown}
    for direction in (forward, reverse):
        for i, j in sorted(direction):
            if i not in sources and j not in targets:
                grown.add((i, j))
                sources.add(i)
                targets.add(j)
    return grown


SYMMETRISATIONS = {
    "forward": lambda forward, reverse: forward,
    "reverse": lambda forward, reverse: reverse,
    "intersection": set.__and__,
    "union": set.__or__,
    "grow-diag": grow_diagonal,
    "grow-diag-final-and": grow_diagonal_final_and,
}


def eflomal(pairs, count):
    """The last `count` pairs' links, by symmetrisation. Each target word (forward), each source word (reverse) has
    at most one link; either file has them source-target."""
    from eflomal import Aligner

    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder) / name) for name in ("forward", "reverse")]
        sides = ([" ".join(pair[side]) for pair in pairs] for side in (0, 1))
        Aligner().align(*sides, links_filename_fwd=files[0], links_filename_rev=files[1])
        directions = []
        for file in files:
            lines = read_lines(Path(file))
            assert len(lines) == len(pairs)
            lines = lines[-count:]
            directions.append([{tuple(map(int, link.split("-"))) for link in line.split()} for line in lines])
    return {
        name: [symmetrise(*both) for both in zip(*directions, strict=True)]
        for name, symmetrise in SYMMETRISATIONS.items()
    }


def fast_align(pairs, count):
    """The same, with the options that fast_align's own documentation advises (-d -o -v)."""
    import systran_align

    with tempfile.TemporaryDirectory() as folder:
        text, *tables = (str(Path(folder) / name) for name in ("text", "forward", "reverse"))
        lines = (f"{' '.join(english)} ||| {' '.join(french)}\n" for english, french in pairs)
        Path(text).write_text("".join(lines), encoding="utf-8")
        advised = {"favor_diagonal": True, "optimize_tension": True, "variational_bayes": True}
        systran_align.generate_alignment_probabilities(text, *tables, **advised)
        results = systran_align.Aligner(*tables).align_batch(*map(list, zip(*pairs[-count:], strict=True)))
    return {"symmetrised": [set(map(tuple, result["alignments"])) for result in results]}


ALIGNERS = {"eflomal": eflomal, "fast_align": fast_align}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--data", type=Path, default=os.environ.get("ZHUYI_DATA"), help="default: $ZHUYI_DATA")
    parser.add_argument("--text", nargs="+", choices=TEXTS, default=TEXTS)
    parser.add_argument("--aligner", nargs="+", choices=ALIGNERS, help="default: those installed")
    parser.add_argument("--runs", type=int, default=1)
    args = parser.parse_args()
    if args.data is None:
        parser.error("say where the data is, with --data or $ZHUYI_DATA")
    gold = list(read_gold(args.data / "align-hansards-en-fr" / "gold.0.txt"))
    corpora = {}
    for text in args.text:
        train = list(tatoeba(args.data / "tatoeba-fra-eng" / "train.tsv.gz", text))
        test = list(hansards(args.data / "align-hansards-en-fr", text))
        folder = args.output if text == "expanded" else args.output / text
        write_pairs(folder / "train.tsv", train)
        write_pairs(folder / "dev.tsv", tatoeba(args.data / "tatoeba-fra-eng" / "dev.tsv", text))
        write_pairs(folder / "hansards.tsv", test)
        corpora[text] = folder, train + test
    installed = [name for name in ALIGNERS if importlib.util.find_spec(PACKAGES[name].replace("-", "_"))]
    for text, (folder, pairs) in corpora.items():
        for aligner in args.aligner or installed:
            started = time.monotonic()
            runs = [ALIGNERS[aligner](pairs, len(gold)) for _ in range(args.runs)]
            seconds = (time.monotonic() - started) / args.runs
            version = importlib.metadata.version(PACKAGES[aligner])
            print(f"\n{text}, {PACKAGES[aligner]} {version}, {len(pairs)} pairs, {seconds:.0f} s each", flush=True)
            for name, alignments in runs[0].items():
                lines = (" ".join(f"{i}-{j}" for i, j in sorted(alignment)) + "\n" for alignment in alignments)
                (folder / f"{aligner}.{name}.txt").write_text("".join(lines), encoding="utf-8")
                errors, precisions, recalls, links = zip(*(rates(run[name], gold) for run in runs), strict=True)
                print(
                    f"{name:20} AER {mean(errors):.4f} ({min(errors):.4f} to {max(errors):.4f})"
                    f"  precision {mean(precisions):.4f}  recall {mean(recalls):.4f}  links {mean(links):.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
