//! Translating as people ask for it: several translations, wishes, chance, several models, unknown words, long lines; links of
//! both directions; judging with everything that there is.

use std::sync::LazyLock;

use serde_json::Value;

use super::person::{Folder, lines, stderr, stdout, zhuyi};

/// A folder with small runs: two of English–Chinese that share their tokenizers, one with several heads, one of Chinese–English,
/// one that knows few words, and one that writes pieces of words.
static RUNS: LazyLock<Folder> = LazyLock::new(|| {
    let folder = Folder::new();
    let train = |run: &str, settings: &[&str]| {
        let mut arguments =
            vec!["train", "--run", run, "--set", "train.max_steps=500", "--set", "train.learning_rate=5e-3"];
        settings.iter().for_each(|setting| arguments.extend(["--set", setting]));
        zhuyi(&folder).args(arguments).assert().success();
    };
    train("runs/one", &[]);
    train("runs/two", &["train.seed=2"]);
    train("runs/heads", &["attention.heads=4"]);
    train("runs/back", &["data.reverse=true"]);
    train("runs/few", &["text.source.size=40", "text.target.size=40", "attention.score=dot"]);
    train("runs/pieces", &["text.target.kind=bpe", "text.target.size=150"]);
    folder
});

fn translate(arguments: &[&str]) -> String {
    stdout(zhuyi(&RUNS).arg("translate").args(arguments))
}

fn objects(text: &str) -> Vec<Value> {
    lines(text).into_iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const ONE: [&str; 2] = ["--run", "runs/one"];
const SENTENCES: [&str; 2] = ["the cat eats fish", "she reads a good book every day"];

/// Known fault X6: more translations than the beam holds are refused; lists are sorted, hold nothing twice, say which line and
/// with what score, and begin with the plain translation.
#[test]
fn several_translations_of_each_sentence() {
    let many =
        zhuyi(&RUNS).args(["translate", "--beam", "3", "--n-best", "5", "a cat"]).args(ONE).assert().code(2);
    let told = String::from_utf8(many.get_output().stderr.clone()).unwrap();
    assert!(told.contains("--n-best 5 needs a beam at least as wide; it is 3: add --beam 5"), "{told}");
    let ask = |extra: &[&str]| translate(&[&SENTENCES[..], &ONE, &["--beam", "6"], extra].concat());
    let plain = ask(&[]);
    for found in [
        objects(&ask(&["--n-best", "6", "--format", "json"])),
        objects(&ask(&["--n-best", "2", "--format", "json"])),
    ] {
        for (id, (object, plain)) in found.iter().zip(lines(&plain)).enumerate() {
            assert_eq!(object["id"], id);
            let hypotheses = object["hypotheses"].as_array().unwrap();
            assert_eq!(hypotheses[0]["translation"], plain);
            let scores: Vec<f64> = hypotheses.iter().map(|it| it["score"].as_f64().unwrap()).collect();
            assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]), "{scores:?}");
            let mut texts: Vec<&str> = hypotheses.iter().map(|it| it["translation"].as_str().unwrap()).collect();
            assert!(texts.len() > 1 && hypotheses.iter().all(|it| it["weights"].is_array()));
            texts.sort_unstable();
            texts.dedup();
            assert_eq!(texts.len(), hypotheses.len());
        }
    }
    // Forced scoring of the same text finds the same probability.
    let told = objects(&ask(&["--length-penalty", "none", "--format", "json"]));
    let pairs: String = SENTENCES
        .iter()
        .zip(&told)
        .map(|(source, it)| format!("{source}\t{}\n", it["translation"].as_str().unwrap()))
        .collect();
    RUNS.write("scored.tsv", &pairs);
    let scored = stdout(zhuyi(&RUNS).args(["align", "--tsv", "scored.tsv", "--format", "scores"]).args(ONE));
    for (line, it) in lines(&scored).iter().zip(&told) {
        let (log_prob, tokens) = line.split_once('\t').unwrap();
        assert!((log_prob.parse::<f64>().unwrap() - it["score"].as_f64().unwrap()).abs() < 1e-5, "{line}");
        assert_eq!(tokens.parse::<usize>().unwrap(), it["target"].as_array().unwrap().len() + 1);
    }
    let text = ask(&["--n-best", "3"]);
    assert_eq!(lines(&text)[0].split(" ||| ").count(), 3);
    assert!(lines(&text)[3].starts_with("1 ||| "));
}

#[test]
fn translations_begin_and_hold_what_they_are_asked_to() {
    let begun = translate(&[&ONE[..], &["--prefix", "狗 吃", "the cat eats fish"]].concat());
    assert!(begun.starts_with("狗 吃 "), "{begun}");
    let held = translate(&[&ONE[..], &["--must", "漂亮", "--must", "图书馆 里", "the cat eats fish"]].concat());
    assert!(held.contains("漂亮") && held.contains("图书馆 里"), "{held}");
    RUNS.write("in.txt", "the cat eats fish\n\ntom sleeps\n");
    RUNS.write("must.txt", "漂亮\t狗\n\n\n");
    RUNS.write("prefix.txt", "\n\n玛丽\n");
    let files = ["--input", "in.txt", "--must-file", "must.txt", "--prefix-file", "prefix.txt"];
    let told = translate(&[&ONE[..], &files].concat());
    let told = lines(&told);
    assert!(
        told[0].contains("漂亮") && told[0].contains('狗') && told[1].is_empty() && told[2].starts_with("玛丽"),
        "{told:?}"
    );
    // What can't be is told, with the way out.
    RUNS.write("short.txt", "漂亮\n");
    for (arguments, code, why) in [
        (vec!["--must", "漂亮", "--groups", "5", "a cat"], 2, "--must and --groups both deal the beam out"),
        (vec!["--must", "漂亮", "--sample", "a cat"], 2, "--must needs a search"),
        (vec!["--must", "斑马", "a cat"], 1, "sentence 1: a translation can't be made to hold `斑马`"),
        (vec!["--input", "in.txt", "--must-file", "short.txt"], 1, "short.txt: 1 lines for 3 sentences"),
        (vec!["--must-file", "must.txt", "a cat"], 1, "must.txt: 3 lines for 1 sentences"),
        (
            vec!["--must", &"漂亮 ".repeat(2000), "a cat"],
            1,
            "have 2000 tokens, and with a beam of 5 there may be 1999",
        ),
        (vec!["--diversity", "1", "a cat"], 2, "--diversity is between groups, and there is one: add --groups"),
        (vec!["--sample", "--beam", "3", "a cat"], 2, "'--sample' cannot be used with '--beam <N>'"),
        (vec!["--n-best", "2", "--format", "pharaoh", "a cat"], 2, "--n-best needs text or json"),
        (vec!["--length-penalty", "none:7", "a cat"], 2, "write none, mean"),
        (vec!["--max-source", "1", "a cat"], 2, "search.max_source must be at least 2"),
        (vec!["--groups", "2", "a cat"], 2, "search.groups must divide search.beam = 5"),
        (vec!["--sample", "--top-p", "0", "a cat"], 2, "search.sampling.top_p must be more than 0"),
        (vec!["--temperature", "2", "a cat"], 2, "--sample"),
        (vec!["--min-ratio", "5", "a cat"], 2, "search.min_ratio"),
        (vec!["--lexicon", "short.txt", "a cat"], 2, "--lexicon is for unknown words: add --replace-unknown"),
    ] {
        let told = stderr(zhuyi(&RUNS).arg("translate").args(ONE).args(arguments), code);
        assert!(told.contains(why), "{told}");
    }
}

/// Where pieces tell whether a space stands before them, a phrase is a word of its own among words with spaces, at the beginning
/// as in the middle; one that stands there already is not written again.
#[test]
fn phrases_keep_their_spaces() {
    let ask = |extra: &[&str]| {
        translate(&[&["--run", "runs/pieces", "she reads a good book every day"], extra].concat())
    };
    for beam in ["1", "5"] {
        let held = ask(&["--must", "漂亮", "--must", "图书馆", "--beam", beam]);
        let words: Vec<&str> = held.trim().split(' ').collect();
        assert!(words.contains(&"漂亮") && words.contains(&"图书馆"), "{held}");
    }
    let begun = ask(&["--prefix", "漂亮", "--must", "漂亮"]);
    assert!(begun.starts_with("漂亮") && begun.matches("漂亮").count() == 1, "{begun}");
    // What is asked for twice, or is part of something else, changes nothing.
    let phrases = ["--must", "图书馆 里", "--n-best", "5"];
    assert_eq!(ask(&[&phrases[..], &["--must", "图书馆", "--must", "图书馆 里"]].concat()), ask(&phrases));
}

#[test]
fn chance_repeats_by_its_seed_whatever_the_batch() {
    let draw = |seed: &str, batch: &str| {
        let sampling =
            ["--sample", "--temperature", "1.5", "--n-best", "4", "--sample-seed", seed, "--batch", batch];
        translate(&[&ONE[..], &sampling, &SENTENCES].concat())
    };
    assert_eq!(draw("1", "64"), draw("1", "1"));
    assert_ne!(draw("1", "64"), draw("2", "64"));
    assert_eq!(lines(&draw("1", "64")).len(), 8);
    // The likeliest token each time is greedy search.
    let likeliest = translate(&[&ONE[..], &["--sample", "--top-k", "1"], &SENTENCES].concat());
    assert_eq!(likeliest, translate(&[&ONE[..], &["--beam", "1"], &SENTENCES].concat()));
    let diverse = ["--beam", "6", "--groups", "6", "--diversity", "5", "--n-best", "6", SENTENCES[0]];
    let found = translate(&[&ONE[..], &diverse].concat());
    let firsts: std::collections::BTreeSet<_> = lines(&found)
        .iter()
        .map(|line| line.split(" ||| ").nth(1).unwrap().split(' ').next().unwrap().to_owned())
        .collect();
    assert!(firsts.len() >= 5, "six groups begin differently: {found}");
}

#[test]
fn several_runs_translate_together() {
    let ask = |extra: &[&str]| translate(&[&ONE[..], extra, &SENTENCES].concat());
    let alone = ask(&["--format", "json"]);
    for mix in ["log-linear", "linear"] {
        let twice = ask(&["--format", "json", "--ensemble", "runs/one", "--mix", mix]);
        for (twice, once) in objects(&twice).iter().zip(objects(&alone)) {
            assert_eq!(twice["translation"], once["translation"], "{mix}");
            let score = |of: &Value| of["score"].as_f64().unwrap();
            assert!((score(twice) - score(&once)).abs() < 1e-5, "{mix}");
        }
        let both = objects(&ask(&["--format", "json", "--ensemble", "runs/two", "--mix", mix]));
        assert!(both[0]["weights"].is_array() && both[0]["score"] != objects(&alone)[0]["score"]);
    }
    let other = stderr(zhuyi(&RUNS).arg("translate").args(ONE).args(["--ensemble", "runs/few", "a"]), 1);
    assert!(other.contains("runs/few: its tokenizers are not those of runs/one"), "{other}");
}

#[test]
fn unknown_words_are_copied_or_looked_up() {
    let few = ["--run", "runs/few", "--replace-unknown"];
    // Read as the model reads: in lower case.
    RUNS.write("lexicon.tsv", "Zebra\t斑马\n");
    RUNS.write(
        "many.txt",
        &format!("{}\n", ["the zebra eats fish", "tom reads the zebra", "she sees a zebra"].join("\n")),
    );
    let ask = |extra: &[&str]| {
        let arguments = [&few[..], &["--input", "many.txt", "--format", "json"], extra].concat();
        objects(&stdout(zhuyi(&RUNS).arg("translate").args(arguments)))
    };
    let (plain, copied, known) = (
        objects(&stdout(zhuyi(&RUNS).args([
            "translate",
            "--run",
            "runs/few",
            "--input",
            "many.txt",
            "--format",
            "json",
        ]))),
        ask(&[]),
        ask(&["--lexicon", "lexicon.tsv"]),
    );
    assert!(plain.iter().all(|it| it["copied"].is_null()));
    let mut looked_up = 0;
    for (copied, known) in copied.iter().zip(&known) {
        let (source, target) = (copied["source"].as_array().unwrap(), copied["target"].as_array().unwrap());
        assert!(!copied["translation"].as_str().unwrap().contains('\u{FFFD}'));
        for place in copied["copied"].as_array().into_iter().flatten() {
            let place = place.as_u64().unwrap() as usize;
            // The word with the largest weight of its row, the end not among them.
            let weights: Vec<f64> =
                copied["weights"][place].as_array().unwrap().iter().map(|it| it.as_f64().unwrap()).collect();
            let best = (0..weights.len()).fold(0, |best, s| if weights[s] > weights[best] { s } else { best });
            assert_eq!(target[place], source[best]);
            let instead = known["target"][place].as_str().unwrap();
            if source[best] == "zebra" {
                assert_eq!(instead, "斑马");
                looked_up += 1;
            }
        }
    }
    assert!(looked_up > 0, "no unknown word was written: {copied:?}");
}

/// Lines that are too long: one line out for each line in, and it is told.
#[test]
fn long_lines_keep_their_place() {
    let input = "the cat eats fish\nthe cat eats fish and the dog eats fish\ntom sleeps\n";
    let ask = |long: &str| {
        let mut command = zhuyi(&RUNS);
        let command = command.arg("translate").args(ONE).args(["--max-source", "5", "--long", long]);
        let output = command.write_stdin(input).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, cut, told) = ask("cut");
    assert_eq!((code, lines(&cut).len()), (Some(0), 3));
    assert!(
        told.contains("sentence 2: 10 tokens are too many (5 at most), only its beginning is translated"),
        "{told}"
    );
    assert_eq!(lines(&cut)[1], lines(&cut)[0], "its first four words are the first line");
    let (_, skipped, told) = ask("skip");
    assert_eq!((lines(&skipped)[1], lines(&skipped)[2]), ("", lines(&cut)[2]));
    assert!(told.contains("left out"));
    let (code, _, told) = ask("refuse");
    assert!(code == Some(1) && told.contains("sentence 2: 10 tokens, more than search.max_source = 5"), "{told}");
    assert!(told.contains("(--max-source 10)") && told.contains("(--long cut)"), "{told}");
}

#[test]
fn both_directions_align() {
    let align = |extra: &[&str]| stdout(zhuyi(&RUNS).args(["align", "--tsv", "pairs.tsv"]).args(ONE).args(extra));
    RUNS.write(
        "pairs.tsv",
        "the cat eats fish\t猫 吃 鱼\t0-0 1p0 2-1 3-2\n\t\t\nwelcome to shenzhen\t欢迎 来 深圳\t0-0 1-1 2-2\n",
    );
    let (forward, both) = (align(&[]), |how: &str| align(&["--reverse-run", "runs/back", "--symmetrize", how]));
    let count = |text: &str| text.matches('-').count();
    let (intersection, union) = (both("intersection"), both("union"));
    assert_eq!(lines(&union).len(), 3);
    assert!(count(&intersection) <= count(&forward) && count(&forward) <= count(&union));
    for how in ["grow-diag", "grow-diag-final", "grow-diag-final-and"] {
        let links = both(how);
        assert!(count(&intersection) <= count(&links) && count(&links) <= count(&union), "{how}");
    }
    // The same from files of links, without a model.
    RUNS.write("forward.txt", &forward);
    RUNS.write("back.tsv", "猫 吃 鱼\tthe cat eats fish\n\t\n欢迎 来 深圳\twelcome to shenzhen\n");
    let back = stdout(zhuyi(&RUNS).args(["align", "--run", "runs/back", "--tsv", "back.tsv"]));
    RUNS.write("back.txt", &back);
    let files = ["align", "--links", "forward.txt", "--reverse-links", "back.txt", "--symmetrize", "union"];
    assert_eq!(stdout(zhuyi(&RUNS).args(files)), union);
    // Where words follow each other alike both directions are the same, and nothing is wrong.
    RUNS.write("straight.txt", "0-0 1-1\n");
    RUNS.write("crossed.txt", "0-1 1-2\n");
    let told = |file: &str| {
        let files = ["align", "--links", file, "--reverse-links", file, "--symmetrize", "union"];
        String::from_utf8(zhuyi(&RUNS).args(files).output().unwrap().stderr).unwrap()
    };
    assert!(told("straight.txt").is_empty() && told("crossed.txt").contains("of the other direction?"));
    // Every link of the weights that are large enough; numbers for NumPy; a lexicon.
    assert!(count(&align(&["--threshold", "0.000001"])) > count(&forward));
    align(&["--format", "npz", "--output", "pairs.npz", "--learn-lexicon", "learnt.tsv"]);
    assert!(std::fs::read(RUNS.path("pairs.npz")).unwrap().starts_with(b"PK\x03\x04"));
    assert!(RUNS.read("learnt.tsv").contains("fish\t"), "{}", RUNS.read("learnt.tsv"));
    for (arguments, why) in [
        (vec!["--symmetrize", "union"], "add --reverse-run"),
        (vec!["--format", "npz"], "--output"),
        (vec!["--head", "2"], "this run has the heads 1 to 1"),
        (vec!["--level", "subword"], "--format json or npz"),
    ] {
        let told = stderr(zhuyi(&RUNS).args(["align", "--tsv", "pairs.tsv"]).args(ONE).args(arguments), 2);
        assert!(told.contains(why), "{told}");
    }
}

#[test]
fn alignments_are_told_in_numbers_and_heads_compared() {
    let align = |extra: &[&str]| stdout(zhuyi(&RUNS).args(["align", "--tsv", "heads.tsv"]).args(extra));
    RUNS.write(
        "heads.tsv",
        "the cat eats fish\t猫 吃 鱼\t0-0 1p0 2-1 3-2\nwelcome to shenzhen\t欢迎 来 深圳\t0-0 1-1 2-2\n",
    );
    let told = objects(&align(&["--run", "runs/one", "--statistics", "--format", "json"]));
    let statistics = &told[0]["statistics"];
    for key in ["entropy", "peak", "monotonicity", "coverage", "diagonal_distance"] {
        assert!(statistics[key].is_number(), "{key}: {statistics}");
    }
    assert!(["diagonal", "local", "long-range"].contains(&statistics["pattern"].as_str().unwrap()));
    assert_eq!((&told[2]["statistics"]["sentences"], &told[2]["statistics"]["words"]), (&2.into(), &6.into()));
    // Gold links are between words, whatever is told beside them.
    let rate = |view: &[&str]| {
        let told = objects(&align(&[&["--run", "runs/one", "--format", "json"], view].concat()));
        (told.last().unwrap()["aer"].clone(), told.last().unwrap()["links"].clone())
    };
    assert_eq!(rate(&["--ends"]), rate(&[]));
    assert_eq!(rate(&["--level", "subword", "--ends"]), rate(&[]));
    let heads = objects(&align(&["--run", "runs/heads", "--best-head", "--format", "json"]));
    assert_eq!(heads.len(), 2 * 5, "four heads and their mean, by two steps each");
    let rates: Vec<f64> = heads.iter().map(|head| head["aer"].as_f64().unwrap()).collect();
    assert!(rates.windows(2).all(|pair| pair[0] <= pair[1]));
    // What it says of a head is what that head's links are worth.
    let best = &heads[0];
    let head = best["head"].as_u64().map(|head| head.to_string());
    let mut arguments = vec!["--run", "runs/heads", "--format", "json", "--step", best["step"].as_str().unwrap()];
    head.iter().for_each(|head| arguments.extend(["--head", head]));
    assert_eq!(objects(&align(&arguments)).last().unwrap()["aer"], best["aer"]);
}

#[test]
fn translations_are_judged_with_everything() {
    RUNS.write("ref.txt", "the cat sat on the mat .\nthere is a dog .\nit rained all day long .\n");
    RUNS.write("ours.txt", "the cat sat on the mat .\nthere is the dog .\nit rained all day .\n");
    RUNS.write("theirs.txt", "a cat sits on mat .\nthere was dogs .\n\n");
    RUNS.write("src.txt", "die katze saß\nda ist ein hund\nes regnete\n");
    let judge = |extra: &[&str]| {
        let files = ["evaluate", "--hypothesis", "ours.txt", "--reference", "ref.txt", "--source", "src.txt"];
        stdout(zhuyi(&RUNS).args(files).args(extra))
    };
    let all = ["--against", "theirs.txt", "--worst", "2", "--rare-words", "--training", "ref.txt"];
    let answer: Value = serde_json::from_str(&judge(&[&all[..], &["--format", "json"]].concat())).unwrap();
    assert!(
        answer["bleu"]["score"].is_number()
            && answer["chrf++"]["score"].is_number()
            && answer["ter"]["score"].is_number()
    );
    assert_eq!(answer["ter"]["edits"], 2.0, "one word replaced, one missing");
    assert_eq!(answer["by_length"][0]["sentences"], 3);
    assert_eq!(answer["worst"].as_array().unwrap().len(), 2);
    assert_eq!(answer["worst"][0]["id"], 1);
    assert!(answer["rare_words"].is_array());
    let compared = answer["against"]["scores"].as_array().unwrap();
    assert_eq!(compared.len(), 4);
    for one in compared {
        let p = one["bootstrap"]["p"].as_f64().unwrap();
        assert!(p > 0.0 && p <= 1.0 && one["randomisation"]["p"].is_number(), "{one}");
    }
    for report in ["report.md", "report.html", "report.json"] {
        judge(&[&all[..], &["--report", report]].concat());
        let text = RUNS.read(report);
        assert!(text.contains("it rained all day ."), "{report}");
        assert!(text.contains("chrF2++") || text.contains("chrf++"), "{report}");
    }
    assert!(RUNS.read("report.html").contains("evaluate --hypothesis ours.txt"));
    let told = judge(&all);
    assert!(
        told.contains("TER     ") && told.contains("beside the other system") && told.contains("translation "),
        "{told}"
    );
    // A run's own, with where it looked.
    let page = ["evaluate", "--tsv", "heads2.tsv", "--worst", "1", "--report", "run.html", "--run", "runs/one"];
    RUNS.write("heads2.tsv", "the cat eats fish\t猫 吃 鱼\nwelcome to shenzhen\t欢迎 来 深圳\n");
    stdout(zhuyi(&RUNS).args(page));
    assert!(RUNS.read("run.html").contains("<svg"));
    let uneven = ["evaluate", "--hypothesis", "ours.txt", "--reference", "ref.txt", "--against", "short2.txt"];
    RUNS.write("short2.txt", "one\n");
    let told = stderr(zhuyi(&RUNS).args(uneven), 1);
    assert!(told.contains("ours.txt: 3 lines, but short2.txt has 1"), "{told}");
}

/// What can't come to a good end is told before anything is translated, and flags that would do nothing are refused.
#[test]
fn what_would_be_lost_or_ignored_is_told_first() {
    RUNS.write("few.tsv", "the cat eats fish\t猫 吃 鱼\t0-0\n");
    RUNS.write("one.txt", "a b\n");
    RUNS.write("two.txt", "a b\nc d\n");
    let align = ["align", "--tsv", "few.tsv", "--run", "runs/one"];
    let judge = ["evaluate", "--tsv", "few.tsv", "--run", "runs/one"];
    let given = ["evaluate", "--hypothesis", "one.txt", "--reference", "one.txt"];
    let links = ["align", "--links", "one.txt"];
    for (command, arguments, code, why) in [
        (&judge[..], vec!["--against", "two.txt"], 1, "few.tsv: 1 lines, but two.txt has 2"),
        (&judge[..], vec!["--rare-words", "--training", "none.txt"], 1, "none.txt"),
        (&judge[..], vec!["--report", "none/report.md"], 2, "no folder none: make it first"),
        (&align[..], vec!["--learn-lexicon", "none/lexicon.tsv"], 2, "no folder none: make it first"),
        (&align[..], vec!["--format", "scores", "--statistics"], 2, "leave --statistics out"),
        (&align[..], vec!["--grow", "both"], 2, "add --reverse-run"),
        (&align[..], vec!["--best-head", "--threshold", "0.5"], 2, "cannot be used with"),
        (&align[..], vec!["--best-head", "--format", "tsv"], 2, "--best-head tells rates only"),
        (&links[..], vec!["--gold", "one.txt", "--format", "tsv"], 2, "--links has links only"),
        (&links[..], vec!["--gold", "one.txt", "--statistics"], 2, "cannot be used with"),
        (&links[..], vec!["--gold", "one.txt", "--grow", "both"], 2, "add --reverse-links"),
        (&given[..], vec!["--beam", "3"], 2, "cannot be used with"),
        (&given[..], vec!["--ensemble", "runs/two"], 2, "cannot be used with"),
        (&["evaluate", "--source", "one.txt"][..], vec![], 2, "--reference"),
    ] {
        let told = stderr(zhuyi(&RUNS).args(command).args(&arguments), code);
        assert!(told.contains(why), "{arguments:?}: {told}");
    }
    // Several references behind one flag.
    stdout(zhuyi(&RUNS).args(given).args(["one.txt", "--reference", "one.txt"]));
    let told = zhuyi(&RUNS).args(given).args(["--against", "one.txt"]).output().unwrap();
    let told = String::from_utf8(told.stderr).unwrap();
    assert!(told.contains("the same, line by line: is it the same file?"), "{told}");
}

/// A pair that is too long is left out of links and scores alike, and told.
#[test]
fn long_pairs_are_left_out_of_scores() {
    zhuyi(&RUNS)
        .args(["train", "--run", "runs/short", "--set", "train.max_steps=20", "--set", "search.max_source=6"])
        .assert()
        .success();
    let (short, long) =
        ("the cat eats fish\t猫 吃 鱼\t0-0\n", "the cat eats fish and the dog eats fish\t猫 吃\t0-0\n");
    RUNS.write("without.tsv", short);
    RUNS.write("with.tsv", &[short, long].concat());
    for command in ["align", "evaluate"] {
        let rates = |file: &str| {
            let arguments = ["--tsv", file, "--run", "runs/short", "--format", "json"];
            let output = zhuyi(&RUNS).arg(command).args(arguments).output().unwrap();
            let told = objects(&String::from_utf8(output.stdout).unwrap()).pop().unwrap();
            let told = if command == "align" { told } else { told["alignment"].clone() };
            (told["aer"].clone(), told["links"].clone(), String::from_utf8(output.stderr).unwrap())
        };
        let (with, without) = (rates("with.tsv"), rates("without.tsv"));
        assert!(with.0.is_number() && (&with.0, &with.1) == (&without.0, &without.1), "{command}");
        assert!(with.2.contains("2: 10 tokens are too many (6 at most)"), "{}", with.2);
        assert!(with.2.contains("1 pair is no part of the"), "{}", with.2);
    }
}

/// Words that are counted from 1 in what is read are so in what is told; gold links may differ.
#[test]
fn links_count_from_the_base_that_is_asked_for() {
    let pair = "the cat eats fish\t猫 吃 鱼";
    RUNS.write("base0.tsv", &format!("{pair}\t0-0 2-1 3-2\n"));
    RUNS.write("base1.tsv", &format!("{pair}\t1-1 3-2 4-3\n"));
    let ask = |arguments: &[&str]| {
        let output = zhuyi(&RUNS).args(["align", "--run", "runs/one"]).args(arguments).output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (zero, rate) = ask(&["--tsv", "base0.tsv"]);
    let (one, same) = ask(&["--tsv", "base1.tsv", "--index-base", "1"]);
    let moved = |links: &str| {
        let word = |n: &str| (n.parse::<usize>().unwrap() + 1).to_string();
        let link = |link: &str| link.split('-').map(word).collect::<Vec<_>>().join("-");
        links.trim().split(' ').map(link).collect::<Vec<_>>().join(" ")
    };
    assert_eq!((one.trim(), same.contains("AER")), (moved(&zero).as_str(), true));
    assert_eq!(rate, same);
    assert_eq!(ask(&["--tsv", "base1.tsv", "--gold-base", "1"]), (zero, rate));
}

/// Known fault P2 of every command that tells much: a reader that goes away is no error.
#[test]
fn a_reader_may_leave_any_command() {
    use std::io::Read;
    use std::process::{Command, Stdio};
    RUNS.write("much.tsv", &"the cat eats fish\t猫 吃 鱼\n".repeat(3000));
    RUNS.write("much.txt", &"the cat eats fish .\n".repeat(3000));
    for arguments in [
        vec!["align", "--tsv", "much.tsv", "--run", "runs/one", "--format", "json"],
        vec!["evaluate", "--hypothesis", "much.txt", "--reference", "much.txt", "--worst", "3000"],
        vec!["translate", "--help"],
        vec!["evaluate", "--help"],
    ] {
        let mut child = Command::new(super::person::PROGRAM)
            .args(&arguments)
            .current_dir(RUNS.root())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 1];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        assert_is_quiet(child.wait_with_output().unwrap(), &arguments);
    }
    // Gone before anything was said.
    for arguments in [vec!["--help"], vec!["translate", "--help"], vec!["translate", "--run", "runs/one", "a cat"]]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output =
            Command::new(super::person::PROGRAM).args(&arguments).current_dir(RUNS.root()).stdout(writer).output();
        assert_is_quiet(output.unwrap(), &arguments);
    }
}

fn assert_is_quiet(output: std::process::Output, arguments: &[&str]) {
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!told.contains("panic") && !told.contains("Broken pipe"), "{arguments:?}: {told}");
    assert!([Some(0), Some(141)].contains(&output.status.code()), "{arguments:?}: {:?}", output.status);
}
