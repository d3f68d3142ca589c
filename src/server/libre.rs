//! LibreTranslate's API (as of its version 1.6), for clients that speak it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use serde_json::{Map, Value, json};

use super::app::{App, Json};
use super::html::{escaped, html_parts};
use super::refusal::{Answer, Refusal};
use super::texts::{Part, joined, parts, sentences};
use super::work::{Found, How, Item};
use super::{body, v1};
use crate::corpus::script;
use crate::search::Long;

/// `POST /translate`: a text or several, whole, with their lines.
pub(super) async fn translate(State(app): State<Arc<App>>, headers: HeaderMap, body: Body) -> Answer<Json> {
    let body = app.read(&headers, body).await?;
    let fields = body::fields(&headers, &body)?;
    app.check_key(&headers, fields.get("api_key"))?;
    let asked = Asked::of(&app, &fields)?;
    let items: Vec<Item> = asked.texts.iter().flat_map(|parts| sentences(parts)).map(item).collect();
    let characters: usize =
        asked.texts.iter().flat_map(|parts| sentences(parts)).map(|text| text.chars().count()).sum();
    // Blank texts are no sentences, but have their place in the answer.
    let texts = items.len().max(asked.texts.len());
    app.check_size(texts, characters, 1 + asked.alternatives)?;
    let model = app.catalog.get(asked.model);
    let mut options = v1::options(model, &app.settings.limits, None)?;
    options.n_best = 1 + asked.alternatives;
    options.search.beam = options.search.beam.max(options.n_best);
    // A translation of half a text would be taken for that of all of it.
    options.search.long = Long::Refuse;
    let found = app.ask(asked.model, How::Translate(options), items).await?;
    Ok(asked.answer(&app, &found).into())
}

fn item(text: &str) -> Item {
    Item::Sentence { text: text.to_owned(), prefix: String::new(), must: Vec::new() }
}

/// What a request means.
struct Asked {
    model: usize,
    /// Each text in parts.
    texts: Vec<Vec<Part>>,
    is_list: bool,
    is_html: bool,
    /// Whether it left the source's language open.
    is_auto: bool,
    alternatives: usize,
}

impl Asked {
    fn of(app: &App, fields: &Map<String, Value>) -> Answer<Self> {
        let text = |name: &str| match fields.get(name) {
            Some(Value::String(text)) => Ok(text.as_str()),
            Some(_) => Err(Refusal::bad(format!("Invalid request: {name} must be a text"))),
            None => Err(Refusal::bad(format!("Invalid request: missing {name} parameter"))),
        };
        let (source, target) = (text("source")?, text("target")?);
        let is_auto = source == "auto";
        let is_html = match fields.get("format").map(Value::as_str) {
            None | Some(Some("text" | "")) => false,
            Some(None) if fields["format"].is_null() => false,
            Some(Some("html")) => true,
            _ => return Err(Refusal::bad("format must be text or html")),
        };
        let cut = |text: &str| if is_html { html_parts(text) } else { parts(text) };
        let (texts, is_list) = match fields.get("q") {
            None => return Err(Refusal::bad("Invalid request: missing q parameter")),
            Some(Value::String(text)) => (vec![cut(text)], false),
            Some(Value::Array(texts)) => {
                let texts = texts.iter().map(|text| text.as_str().map(cut)).collect::<Option<Vec<_>>>();
                (texts.ok_or_else(|| Refusal::bad("q must be a text or a list of texts"))?, true)
            }
            Some(_) => return Err(Refusal::bad("q must be a text or a list of texts")),
        };
        let model = match is_auto {
            false => find(app, source, target)?,
            true => {
                let all: Vec<&str> = texts.iter().flat_map(|parts| sentences(parts)).collect();
                find_for(app, &all.join(" "), target)?
            }
        };
        let alternatives = alternatives(fields.get("alternatives"), app.settings.limits.beam)?;
        Ok(Self { model, texts, is_list, is_html, is_auto, alternatives })
    }

    /// LibreTranslate's answer. Alternatives are of whole texts: their n-th has every sentence's n-th, or its best where there are
    /// fewer.
    fn answer(&self, app: &App, found: &[Found]) -> Value {
        let mut at = 0;
        let mut texts: Vec<Vec<String>> = Vec::new();
        for parts in &self.texts {
            let count = sentences(parts).count();
            let of_text = &found[at..at + count];
            at += count;
            texts.push((0..=self.alternatives).map(|n| self.text(parts, of_text, n)).collect());
        }
        let alternatives: Vec<Vec<String>> = texts.iter().map(|all| others(all)).collect();
        let best: Vec<&String> = texts.iter().map(|all| &all[0]).collect();
        let mut answer = match self.is_list {
            true => json!({ "translatedText": best }),
            false => json!({ "translatedText": best[0] }),
        };
        if self.alternatives > 0 {
            answer["alternatives"] = if self.is_list { json!(alternatives) } else { json!(alternatives[0]) };
        }
        if self.is_auto {
            // The only one whose script it is.
            let detected = json!({ "language": app.catalog.get(self.model).source, "confidence": 100 });
            answer["detectedLanguage"] =
                if self.is_list { vec![detected; self.texts.len()].into() } else { detected };
        }
        answer
    }

    fn text(&self, parts: &[Part], found: &[Found], n: usize) -> String {
        let told = |found: &Found| match found {
            Found::Translation(translation) => {
                let hypothesis = translation.hypotheses.get(n).unwrap_or_else(|| translation.best());
                if self.is_html { escaped(&hypothesis.translation) } else { hypothesis.translation.clone() }
            }
            _ => String::new(),
        };
        let told: Vec<String> = found.iter().map(told).collect();
        joined(parts, told.iter().map(String::as_str))
    }
}

/// Whole texts beside the best one, each once.
fn others(all: &[String]) -> Vec<String> {
    let mut others: Vec<String> = Vec::new();
    for text in &all[1..] {
        if *text != all[0] && !others.contains(text) {
            others.push(text.clone());
        }
    }
    others
}

/// The model of a direction, as LibreTranslate's clients name it.
fn find(app: &App, source: &str, target: &str) -> Answer<usize> {
    if !app.catalog.languages().contains_key(source) {
        return Err(Refusal::bad(format!("{source} is not supported")));
    }
    let found = app.catalog.find(None, Some(source), Some(target));
    found.map_err(|_| Refusal::bad(format!("{target} is not available as a target language from {source}")))
}

/// The model into a language whose source language has the script of a text.
fn find_for(app: &App, text: &str, target: &str) -> Answer<usize> {
    let languages = app.catalog.languages();
    if !languages.values().any(|targets| targets.contains(&target)) {
        return Err(Refusal::bad(format!("{target} is not supported")));
    }
    let sources: Vec<&str> =
        languages.iter().filter(|(_, targets)| targets.contains(&target)).map(|(source, _)| *source).collect();
    match fitting(&sources, text).as_slice() {
        [source] => app.catalog.find(None, Some(source), Some(target)),
        [] => {
            Err(Refusal::bad(format!("the text is in none of the languages that are translated to {target} here")))
        }
        several => Err(Refusal::bad(format!(
            "languages are told apart by their script only: say which source, {}",
            several.join(" or ")
        ))),
    }
}

/// Of languages those that a text may be in, by its script.
fn fitting<'a>(languages: &[&'a str], text: &str) -> Vec<&'a str> {
    languages.iter().copied().filter(|language| !script::is_wrong(text, language)).collect()
}

/// `POST /detect`: the languages of this server that a text may be in, by its script, all equally sure.
pub(super) async fn detect(State(app): State<Arc<App>>, headers: HeaderMap, body: Body) -> Answer<Json> {
    let body = app.read(&headers, body).await?;
    let fields = body::fields(&headers, &body)?;
    app.check_key(&headers, fields.get("api_key"))?;
    let Some(Value::String(text)) = fields.get("q") else {
        return Err(Refusal::bad("Invalid request: missing q parameter"));
    };
    let languages = app.catalog.languages();
    let found = fitting(&languages.keys().copied().collect::<Vec<_>>(), text);
    let confidence = 100.0 / found.len().max(1) as f64;
    let told = found.iter().map(|language| json!({ "language": language, "confidence": confidence }));
    Ok(told.collect::<Value>().into())
}

/// How many alternatives are asked for: a number, or a form's text of one.
fn alternatives(asked: Option<&Value>, beam: usize) -> Answer<usize> {
    let number = match asked {
        None | Some(Value::Null) => Some(0),
        Some(Value::Number(number)) => number.as_u64(),
        Some(Value::String(text)) => text.parse().ok(),
        Some(_) => None,
    };
    let most = beam as u64 - 1;
    match number {
        Some(number) if number <= most => Ok(number as usize),
        _ => Err(Refusal::bad(format!("alternatives must be a number from 0 to {most}"))),
    }
}

/// `GET /languages`.
pub(super) async fn languages(State(app): State<Arc<App>>) -> Json {
    let language =
        |(code, targets): (&str, Vec<&str>)| json!({ "code": code, "name": name(code), "targets": targets });
    app.catalog.languages().into_iter().map(language).collect::<Value>().into()
}

/// `GET /health`: the server answers, whatever its models do.
pub(super) async fn health() -> Json {
    json!({ "status": "ok" }).into()
}

/// `GET /frontend/settings`.
pub(super) async fn frontend_settings(State(app): State<Arc<App>>) -> Json {
    let (limits, first) = (&app.settings.limits, app.catalog.get(0));
    let language = |code: &str| json!({ "code": code, "name": name(code) });
    json!({
        "apiKeys": !app.settings.api_keys.is_empty(),
        "charLimit": limits.characters,
        "filesTranslation": false,
        "frontendTimeout": 500,
        "keyRequired": !app.settings.api_keys.is_empty(),
        "language": { "source": language(&first.source), "target": language(&first.target) },
        "suggestions": false,
        "supportedFilesFormat": [],
    })
    .into()
}

/// A language's name in English; the code where we know none.
fn name(code: &str) -> &str {
    const NAMES: [(&str, &str); 24] = [
        ("ar", "Arabic"),
        ("cmn", "Chinese"),
        ("cs", "Czech"),
        ("de", "German"),
        ("en", "English"),
        ("eng", "English"),
        ("es", "Spanish"),
        ("fi", "Finnish"),
        ("fr", "French"),
        ("fra", "French"),
        ("hi", "Hindi"),
        ("it", "Italian"),
        ("ja", "Japanese"),
        ("ko", "Korean"),
        ("nl", "Dutch"),
        ("pl", "Polish"),
        ("pt", "Portuguese"),
        ("ro", "Romanian"),
        ("ru", "Russian"),
        ("sv", "Swedish"),
        ("tr", "Turkish"),
        ("uk", "Ukrainian"),
        ("vi", "Vietnamese"),
        ("zh", "Chinese"),
    ];
    NAMES.iter().find(|(known, _)| *known == code).map_or(code, |(_, name)| name)
}
