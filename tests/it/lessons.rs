//! The course's numbers against an oracle that computed them in float64 (`tests/oracles/lessons.json`).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use burn::tensor::Device;
use serde_json::{Map, Value};
use zhuyi::lesson::board::Part;
use zhuyi::lesson::{self, LESSONS, Language, Lesson, Work};
use zhuyi::model::Timing;
use zhuyi::translator::Translator;

use super::support::data;

const LANGUAGES: [Language; 2] = [Language::English, Language::Chinese];

/// Every lesson, worked out once; `dataflow` for both decoders.
fn worked() -> &'static [Lesson] {
    static WORKED: LazyLock<Vec<Lesson>> = LazyLock::new(work_all);
    &WORKED
}

fn work_all() -> Vec<Lesson> {
    let translator = Translator::shipped(&Device::flex()).unwrap();
    let work = |work: &Work| match work {
        Work::Alone(work) => vec![work().unwrap()],
        Work::Model(_, work) => vec![work(&translator).unwrap()],
        Work::Timing(work) => Timing::ALL.map(|timing| work(timing).unwrap()).to_vec(),
    };
    LESSONS.iter().flat_map(|entry| work(&entry.work)).collect()
}

/// Our value of an oracle's must be the same: numbers to a millionth of themselves, the rest exactly. Explanations are each one's own.
fn same(path: &str, oracle: &Value, ours: &Value) {
    match (oracle, ours) {
        (Value::Number(right), Value::Number(x)) => {
            let (right, x) = (right.as_f64().unwrap(), x.as_f64().unwrap());
            // The oracle's numbers have ten decimals; small ones must be right too.
            assert!((right - x).abs() <= 1e-6 * right.abs() + 1e-10, "{path}: {x}, right {right}");
        }
        (Value::Array(right), Value::Array(found)) => {
            assert_eq!(right.len(), found.len(), "{path}");
            right
                .iter()
                .zip(found)
                .enumerate()
                .for_each(|(i, (right, x))| same(&format!("{path}[{i}]"), right, x));
        }
        (Value::Object(right), Value::Object(found)) => {
            for (key, right) in right.iter().filter(|(key, _)| *key != "why") {
                let x = found.get(key).unwrap_or_else(|| panic!("{path}.{key} is missing"));
                same(&format!("{path}.{key}"), right, x);
            }
        }
        (right, x) => assert_eq!(right, x, "{path}"),
    }
}

fn oracle() -> Map<String, Value> {
    let text = include_str!("../oracles/lessons.json");
    if let Some(shared) = data().map(|data| data.join("../oracles/lessons.json")).filter(|path| path.is_file()) {
        assert_eq!(text, std::fs::read_to_string(shared).unwrap(), "our copy of the oracle is not the oracle");
    }
    let Value::Object(oracle) = serde_json::from_str(text).unwrap() else { panic!("no object") };
    oracle
}

#[test]
fn every_number_of_the_oracle_is_ours() {
    let lessons = worked();
    let numbers: BTreeMap<&String, &Value> = lessons.iter().flat_map(|lesson| &lesson.numbers).collect();
    // `about` says what the file is; the windows of `local` are held by the tests of attention.
    let names: Vec<String> =
        oracle().keys().filter(|name| *name != "about" && *name != "local").cloned().collect();
    assert_eq!(names.len(), 10);
    for name in &names {
        same(name, &oracle()[name], numbers.get(name).unwrap_or_else(|| panic!("no lesson has {name}")));
    }
}

#[test]
fn sampled_variances_are_within_the_oracles_tolerance() {
    let lessons = worked();
    let variance = &lessons.iter().find(|lesson| lesson.name == "variance").unwrap().numbers["variance"];
    assert_eq!(variance["samples"], 20_000);
    for (what, expected) in [("unscaled", "expected_unscaled"), ("scaled", "expected_scaled")] {
        let (found, right) = (variance[what].as_array().unwrap(), oracle()["variance"][expected].clone());
        for (found, right) in found.iter().zip(right.as_array().unwrap()) {
            let (found, right) = (found.as_f64().unwrap(), right.as_f64().unwrap());
            assert!((found / right - 1.0).abs() <= 0.06 && found != right, "{what}: {found}, expected {right}");
        }
    }
}

/// How often a value says `agrees: false`.
fn disagreements(value: &Value) -> usize {
    let Value::Object(object) = value else { return 0 };
    object
        .iter()
        .map(|(key, value)| match (key.as_str(), value) {
            ("agrees", Value::Object(agrees)) => {
                agrees.values().filter(|agrees| **agrees == Value::Bool(false)).count()
            }
            (_, value) => disagreements(value),
        })
        .sum()
}

/// Wherever the course printed another number, both stand on the board, with the reason, in both languages.
#[test]
fn every_disagreement_is_explained() {
    let mut explained = 0;
    for lesson in worked() {
        let expected: usize = lesson.numbers.values().map(disagreements).sum();
        let differing: Vec<_> = lesson
            .parts
            .iter()
            .filter_map(|part| if let Part::Compared(compared) = part { Some(compared) } else { None })
            .filter(|compared| !compared.agrees)
            .collect();
        assert_eq!(differing.len(), expected, "{}", lesson.name);
        for language in LANGUAGES {
            let told = lesson::told(lesson, language);
            let page = lesson::html(lesson, language).unwrap();
            for compared in &differing {
                assert!(compared.why.to(language).chars().count() > 10);
                for number in [compared.printed.to(language), &compared.computed] {
                    assert!(told.contains(number) && page.contains(number), "{}: {number}", lesson.name);
                }
            }
        }
        explained += expected;
    }
    let right: usize = oracle().values().map(disagreements).sum();
    assert_eq!((explained, right), (6, 6));
}

/// Every row of weights under any of the lessons' names sums to 1 (where the end of the sentence is shown).
#[test]
fn rows_of_weights_sum_to_1() {
    fn sums(value: &Value, found: &mut Vec<f64>) {
        match value {
            Value::Object(object) => object.iter().for_each(|(key, value)| match key.as_str() {
                "row_sums" => flat(value, found),
                _ => sums(value, found),
            }),
            Value::Array(items) => items.iter().for_each(|item| sums(item, found)),
            _ => {}
        }
    }
    fn flat(value: &Value, found: &mut Vec<f64>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| flat(item, found)),
            number => found.push(number.as_f64().unwrap()),
        }
    }
    for lesson in worked() {
        let mut found = Vec::new();
        lesson.numbers.values().for_each(|value| sums(value, &mut found));
        let must = ["bottleneck", "qkv", "heads", "dataflow", "roles"].contains(&lesson.name);
        assert!(!must || !found.is_empty(), "{}", lesson.name);
        assert!(found.iter().all(|sum| (sum - 1.0).abs() < 1e-6), "{}: {found:?}", lesson.name);
    }
}

#[test]
fn heads_has_eight_maps_of_the_sentence() {
    let lessons = worked();
    let heads = &lessons.iter().find(|lesson| lesson.name == "heads").unwrap().numbers["heads"];
    let (maps, source, target) = (&heads["weights"], &heads["source"], &heads["target"]);
    assert_eq!(maps.as_array().unwrap().len(), 8);
    assert_eq!(source.as_array().unwrap().len(), 12, "eleven words and the end");
    for map in maps.as_array().unwrap() {
        assert_eq!(map.as_array().unwrap().len(), target.as_array().unwrap().len());
        assert!(map.as_array().unwrap().iter().all(|row| row.as_array().unwrap().len() == 12));
    }
    let cost = &heads["cost"];
    assert_eq!((&cost["d_model"], &cost["heads"], &cost["d_k"]), (&512.into(), &8.into(), &64.into()));
    assert_eq!(cost["multiply_adds"]["several_heads"], 2 * 256 * 256 * 512);
}

#[test]
fn dataflow_has_the_shapes_of_both_decoders() {
    for lesson in worked().iter().filter(|lesson| lesson.name == "dataflow") {
        let flow = &lesson.numbers["dataflow"];
        let shape = |name: &str| {
            let tensors = flow["tensors"].as_array().unwrap();
            tensors.iter().find(|tensor| tensor["name"] == name).unwrap_or_else(|| panic!("{name}"))["shape"]
                .clone()
        };
        assert_eq!(shape("h"), serde_json::json!([1, 4, 8]));
        assert_eq!((shape("e_1"), shape("α_1")), (serde_json::json!([1, 1, 4]), serde_json::json!([1, 1, 4])));
        assert_eq!(shape("p"), serde_json::json!([1, 7]));
        let names: Vec<&str> =
            flow["tensors"].as_array().unwrap().iter().map(|tensor| tensor["name"].as_str().unwrap()).collect();
        let first = "x,E x,h,C,s_0,k,y_0,";
        let rest = match flow["attention"].as_str().unwrap() {
            "luong" => "s_1,e_1,α_1,c_1,[s_1; c_1],h̃_1,logits,p",
            _ => "W_a s_0,tanh,e_1,α_1,c_1,[y_0; c_1],s_1,[s_1; c_1; y_0],r_1,logits,p",
        };
        assert_eq!(names.join(","), format!("{first}{rest}"));
        let joined = if flow["attention"] == "luong" { ("[s_1; c_1]", 16) } else { ("[s_1; c_1; y_0]", 24) };
        assert_eq!(shape(joined.0), serde_json::json!([1, 1, joined.1]));
    }
}

#[test]
fn evolution_is_what_the_script_measured() {
    let lessons = worked();
    let evolution = &lessons.iter().find(|lesson| lesson.name == "evolution").unwrap().numbers["evolution"];
    let measured: Vec<Value> = serde_json::from_str(include_str!("../../data/lesson/toy.json")).unwrap();
    let trained = evolution["trained"].as_array().unwrap();
    assert_eq!(trained.len(), 5);
    for row in trained {
        let right = measured.iter().find(|line| line["attention"] == row["attention"]).unwrap();
        for number in ["exact_match", "aer", "entropy", "parameters", "tokens_per_second"] {
            assert_eq!(row[number], right[number], "{number}");
        }
    }
    // What scaling cures: without it rows sharpen with d_k, with it they do not.
    let largest = &evolution["largest_weight"];
    let of = |what: &str| -> Vec<f64> {
        largest[what].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    };
    let (raw, scaled) = (of("unscaled"), of("scaled"));
    assert!(raw[4] > 0.9 && raw.windows(2).all(|pair| pair[0] < pair[1]), "{raw:?}");
    assert!(scaled.iter().all(|largest| (0.2..0.5).contains(largest)), "{scaled:?}");
}

/// The numbers in a text, sorted.
fn told_numbers(text: &str) -> Vec<String> {
    let mut numbers: Vec<String> = text
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .map(|number| number.trim_matches('.').to_owned())
        .filter(|number| !number.is_empty())
        .collect();
    numbers.sort_unstable();
    numbers
}

/// Text and pages in both languages, with the same numbers; pictures and pages are well-formed and stand alone.
#[test]
fn every_lesson_can_be_told_shown_and_drawn() {
    for lesson in worked() {
        let [english, chinese] = LANGUAGES.map(|language| lesson::told(lesson, language));
        assert_ne!(english, chinese, "{}", lesson.name);
        assert_eq!(told_numbers(&english), told_numbers(&chinese), "{}", lesson.name);
        let drawn = lesson::find(lesson.name).unwrap().drawn;
        for language in LANGUAGES {
            let page = lesson::html(lesson, language).unwrap();
            let body = page.trim_start_matches("<!DOCTYPE html>");
            roxmltree::Document::parse(body).unwrap_or_else(|why| panic!("{}: {why}", lesson.name));
            for loads in ["src=", "href=", "url(", "@import", "<script"] {
                assert!(!page.contains(loads), "{}: a page stands alone, without {loads}", lesson.name);
            }
            let svg = lesson::svg(lesson, language).unwrap();
            assert_eq!(svg.is_some(), drawn, "{}", lesson.name);
            if let Some(svg) = svg {
                roxmltree::Document::parse(&svg).unwrap();
            }
        }
    }
}
