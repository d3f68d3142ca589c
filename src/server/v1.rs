//! Our own API: translations with where the model looked, n-best lists, every option of search; given pairs aligned and scored.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::app::{App, Json, apart};
use super::body;
use super::catalog::Model;
use super::limits::Limits;
use super::refusal::{Answer, Refusal};
use super::work::{Found, How, Item};
use crate::alignment::Lexicon;
use crate::config::Config;
use crate::search::{Long, Method, SearchConfig};
use crate::text::words::Level;
use crate::translator::{Ends, Options, StepOf, Told, View};

/// How alignments are told.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Telling {
    level: LevelName,
    ends: bool,
    /// One head, from 1.
    head: Option<usize>,
    step: StepOf,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LevelName {
    #[default]
    Auto,
    Word,
    Subword,
}

/// `POST /v1/translate`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Translate {
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    target: Option<String>,
    /// Sentences, each by itself or with its wishes.
    texts: Vec<Text>,
    #[serde(default = "one")]
    n_best: usize,
    /// Keys of a config's `[search]` in place of the run's.
    #[serde(default)]
    search: Option<Map<String, Value>>,
    #[serde(default)]
    view: Telling,
}

fn one() -> usize {
    1
}

/// A sentence to translate.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Text {
    Plain(String),
    Wished(Wished),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wished {
    text: String,
    #[serde(default)]
    prefix: String,
    #[serde(default)]
    must: Vec<String>,
}

/// `POST /v1/align` and `/v1/score`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pairs {
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    target: Option<String>,
    pairs: Vec<GivenPair>,
    #[serde(default)]
    view: Telling,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenPair {
    source: String,
    target: String,
}

pub(super) async fn translate(State(app): State<Arc<App>>, headers: HeaderMap, body: Body) -> Answer<Json> {
    app.check_key(&headers, None)?;
    let body = app.read(&headers, body).await?;
    let asked: Translate = body::json(&body)?;
    let place = app.catalog.find(asked.model.as_deref(), asked.source.as_deref(), asked.target.as_deref())?;
    let model = app.catalog.get(place);
    let items: Vec<Item> = asked.texts.into_iter().map(item).collect();
    let mut options = options(model, &app.settings.limits, asked.search.as_ref())?;
    let most = app.settings.limits.beam;
    if asked.n_best == 0 || asked.n_best > most {
        return Err(Refusal::bad(format!("n_best must be 1 to {most}")));
    }
    options.n_best = asked.n_best;
    if options.search.method == Method::Beam && asked.n_best > options.search.beam {
        return Err(Refusal::bad(format!(
            "n_best = {} needs a beam at least as wide; it is {}: set search.beam",
            asked.n_best, options.search.beam
        )));
    }
    check_wishes(&items, &options.search, &app.settings.limits)?;
    app.check_size(items.len(), items.iter().map(characters).sum(), asked.n_best)?;
    options.view = view(model, &asked.view, Level::Auto)?;
    if asked.view.step == StepOf::Next {
        return Err(Refusal::bad("view.step = next is for given pairs: ask /v1/align"));
    }
    let found = app.ask(place, How::Translate(options), items).await?;
    let (model, all) = (model.id.clone(), asked.n_best > 1);
    apart(move || {
        let told = found.iter().enumerate().map(|(id, found)| match found {
            Found::Translation(translation) => Ok(translation.told(id, all)),
            _ => Err(Refusal::broken()),
        });
        let translations = told.collect::<Answer<Vec<_>>>()?;
        Json::of(&Translated { model, translations })
    })
    .await
}

/// The answer of `/v1/translate`.
#[derive(Serialize)]
struct Translated<'a> {
    model: String,
    translations: Vec<Told<'a>>,
}

pub(super) async fn align(State(app): State<Arc<App>>, headers: HeaderMap, body: Body) -> Answer<Json> {
    let (place, asked, items) = pairs(&app, &headers, body).await?;
    let model = app.catalog.get(place);
    if !model.looks {
        return Err(Refusal::bad(format!("{} has no attention, so it can't align", model.id)));
    }
    let how = How::Align(view(model, &asked.view, Level::Word)?, forced(model));
    let found = app.ask(place, how, items).await?;
    let model = model.id.clone();
    apart(move || {
        let told = found.iter().enumerate().map(|(id, found)| match found {
            Found::Aligned(rendered) => Ok(rendered.told(id, rendered.alignment.links().to_string())),
            _ => Err(Refusal::broken()),
        });
        let alignments = told.collect::<Answer<Vec<_>>>()?;
        Json::of(&Aligned { model, alignments })
    })
    .await
}

/// The answer of `/v1/align`.
#[derive(Serialize)]
struct Aligned<'a> {
    model: String,
    alignments: Vec<Told<'a>>,
}

pub(super) async fn score(State(app): State<Arc<App>>, headers: HeaderMap, body: Body) -> Answer<Json> {
    let (place, _, items) = pairs(&app, &headers, body).await?;
    let model = app.catalog.get(place);
    let found = app.ask(place, How::Score(forced(model)), items).await?;
    let told = |found: &Found| match found {
        Found::Score { log_prob, tokens } => json!({ "log_prob": log_prob, "tokens": tokens }),
        _ => Value::Null,
    };
    Ok(json!({ "model": model.id, "scores": found.iter().map(told).collect::<Vec<_>>() }).into())
}

/// `GET /v1/models`.
pub(super) async fn models(State(app): State<Arc<App>>) -> Answer<Json> {
    Json::of(&json!({ "models": app.catalog.all() }))
}

async fn pairs(app: &App, headers: &HeaderMap, body: Body) -> Answer<(usize, Pairs, Vec<Item>)> {
    app.check_key(headers, None)?;
    let body = app.read(headers, body).await?;
    let mut asked: Pairs = body::json(&body)?;
    let place = app.catalog.find(asked.model.as_deref(), asked.source.as_deref(), asked.target.as_deref())?;
    let pair = |pair: GivenPair| Item::Pair(pair.source, pair.target);
    let items: Vec<Item> = std::mem::take(&mut asked.pairs).into_iter().map(pair).collect();
    app.check_size(items.len(), items.iter().map(characters).sum(), 1)?;
    let most = LONGEST_TARGET * app.settings.limits.tokens;
    for (number, item) in items.iter().enumerate() {
        if let Item::Pair(_, target) = item
            && target.chars().count() > most
        {
            return Err(Refusal::too_much(format!("pair {}: its target may have {most} characters", number + 1)));
        }
    }
    if asked.view.ends && asked.view.step == StepOf::Next {
        return Err(Refusal::bad("view.step = next has no row for the end: leave view.ends out"));
    }
    Ok((place, asked, items))
}

/// Characters of a target for each token that a source may have.
const LONGEST_TARGET: usize = 16;

/// Refuses prefixes and phrases that would take the server: each token of a prefix is a step, each of a phrase a further beam. A
/// token is at least a character.
fn check_wishes(items: &[Item], search: &SearchConfig, limits: &Limits) -> Answer<()> {
    let most = WISHED_BEAMS * limits.beam / search.beam.max(1);
    for (number, item) in items.iter().enumerate() {
        let Item::Sentence { prefix, must, .. } = item else { continue };
        if prefix.chars().count() > limits.tokens {
            let message = format!("sentence {}: its prefix may have {} characters", number + 1, limits.tokens);
            return Err(Refusal::too_much(message));
        }
        if must.iter().map(|phrase| phrase.chars().count()).sum::<usize>() > most {
            let message = format!(
                "sentence {}: with a beam of {} the phrases that it must hold may have {most} characters",
                number + 1,
                search.beam
            );
            return Err(Refusal::too_much(message));
        }
    }
    Ok(())
}

/// How many of the widest beams the phrases of a sentence may take.
const WISHED_BEAMS: usize = 16;

fn item(text: Text) -> Item {
    match text {
        Text::Plain(text) => Item::Sentence { text, prefix: String::new(), must: Vec::new() },
        Text::Wished(Wished { text, prefix, must }) => Item::Sentence { text, prefix, must },
    }
}

fn characters(item: &Item) -> usize {
    match item {
        Item::Sentence { text, prefix, must } => {
            let wishes: usize = must.iter().map(|phrase| phrase.chars().count()).sum();
            text.chars().count() + prefix.chars().count() + wishes
        }
        Item::Pair(source, target) => source.chars().count() + target.chars().count(),
    }
}

/// What a model does with sentences, a request's wishes for its search within limits.
pub(super) fn options(model: &Model, limits: &Limits, asked: Option<&Map<String, Value>>) -> Answer<Options> {
    let search = match asked {
        Some(asked) => searched(model, limits, asked)?,
        // Within limits already.
        None => model.search.clone(),
    };
    Ok(Options { search, n_best: 1, view: View::default(), lexicon: Lexicon::default() })
}

/// A model's search with what a request asks for in its place.
pub(super) fn searched(model: &Model, limits: &Limits, asked: &Map<String, Value>) -> Answer<SearchConfig> {
    let mut all = serde_json::to_value(&model.search)?;
    for (key, value) in asked {
        if ["batch", "precision"].contains(&key.as_str()) {
            return Err(Refusal::bad(format!("search.{key} is the server's to choose")));
        }
        match (all.get_mut(key), value) {
            (Some(Value::Object(known)), Value::Object(value)) => known.extend(value.clone()),
            _ => all[key] = value.clone(),
        }
    }
    let mut search: SearchConfig =
        serde_json::from_value(all).map_err(|why| Refusal::bad(format!("search: {why}")))?;
    search.max_source = search.max_source.min(limits.tokens);
    let config = Config { search: search.clone(), ..model.config.clone() };
    config.check_search(model.looks)?;
    if search.beam > limits.beam {
        return Err(Refusal::bad(format!("search.beam may be {} here", limits.beam)));
    }
    let (longest, most) = (search.limit(search.max_source), MOST_LENGTH * limits.tokens);
    if longest > most {
        return Err(Refusal::bad(format!(
            "search.max_ratio and search.max_extra allow translations of {longest} tokens: here they may have {most}"
        )));
    }
    Ok(search)
}

/// How much longer than the longest source a translation may be.
const MOST_LENGTH: usize = 4;

/// How given pairs are read: what is too long is refused.
pub(super) fn forced(model: &Model) -> SearchConfig {
    SearchConfig { long: Long::Refuse, ..model.search.clone() }
}

fn view(model: &Model, asked: &Telling, default: Level) -> Answer<View> {
    if let Some(head) = asked.head.filter(|head| !(1..=model.heads).contains(head)) {
        return Err(Refusal::bad(format!("view.head = {head}: this model has the heads 1 to {}", model.heads)));
    }
    let level = match asked.level {
        LevelName::Auto => default,
        LevelName::Word => Level::Word,
        LevelName::Subword => Level::Subword,
    };
    let ends = if asked.ends { Ends::Shown } else { Ends::Hidden };
    Ok(View { level, ends, head: asked.head.map(|head| head - 1), step: asked.step })
}
