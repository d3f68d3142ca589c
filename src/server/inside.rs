//! What goes on inside a model: a greedy translation step by step, which may be changed, and the tree of a beam search.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::app::{App, Json, apart};
use super::catalog::Model;
use super::refusal::{Answer, Refusal};
use super::work::{Found, How, Item};
use super::{body, v1};
use crate::search::{Long, Method, SearchConfig};
use crate::translator::Wishes;

/// Tokens of a source that is looked into: every number of every step is told.
const TOKENS: usize = 128;

/// The widest tree.
const BEAM: usize = 16;

/// `POST /v1/steps`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OneByOne {
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    target: Option<String>,
    text: String,
    /// Ids that the translation begins with.
    #[serde(default)]
    written: Vec<usize>,
    /// Where some steps are to look.
    #[serde(default)]
    instead: BTreeMap<usize, Vec<f32>>,
    /// Heads that are switched off.
    #[serde(default)]
    without: Vec<usize>,
}

/// `POST /v1/tree`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OneInBeams {
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    target: Option<String>,
    text: String,
    #[serde(default)]
    search: Option<Map<String, Value>>,
}

/// What is found, with the model that found it.
#[derive(Serialize)]
struct Of<T> {
    model: String,
    #[serde(flatten)]
    found: T,
}

pub(super) async fn steps(State(app): State<Arc<App>>, headers: HeaderMap, body: Body) -> Answer<Json> {
    app.check_key(&headers, None)?;
    let body = app.read(&headers, body).await?;
    let asked: OneByOne = body::json(&body)?;
    let place = app.catalog.find(asked.model.as_deref(), asked.source.as_deref(), asked.target.as_deref())?;
    let model = app.catalog.get(place);
    let search = short(model.search.clone());
    let most = search.limit(search.max_source);
    if asked.written.len() > most {
        return Err(Refusal::too_much(format!("{} tokens written: there may be {most}", asked.written.len())));
    }
    let wishes = Wishes { written: asked.written, instead: asked.instead, without: asked.without };
    ask(app, place, How::Steps(wishes, search), asked.text).await
}

pub(super) async fn tree(State(app): State<Arc<App>>, headers: HeaderMap, body: Body) -> Answer<Json> {
    app.check_key(&headers, None)?;
    let body = app.read(&headers, body).await?;
    let asked: OneInBeams = body::json(&body)?;
    let place = app.catalog.find(asked.model.as_deref(), asked.source.as_deref(), asked.target.as_deref())?;
    let search = tree_search(&app, app.catalog.get(place), asked.search.as_ref())?;
    ask(app, place, How::Tree(search), asked.text).await
}

/// How a tree is grown: by the model's own beam search, or as is wished.
fn tree_search(app: &App, model: &Model, asked: Option<&Map<String, Value>>) -> Answer<SearchConfig> {
    let search = match asked {
        Some(asked) => v1::searched(model, &app.settings.limits, asked)?,
        None => SearchConfig { beam: model.search.beam.min(BEAM), ..model.search.clone() },
    };
    match search {
        SearchConfig { method: Method::Sample, .. } => {
            Err(Refusal::bad("a tree is one of beams: set search.method"))
        }
        SearchConfig { beam, .. } if beam > BEAM => {
            Err(Refusal::bad(format!("search.beam may be {BEAM} in a tree")))
        }
        search => Ok(short(search)),
    }
}

fn short(search: SearchConfig) -> SearchConfig {
    SearchConfig { long: Long::Refuse, max_source: search.max_source.min(TOKENS), ..search }
}

async fn ask(app: Arc<App>, place: usize, how: How, text: String) -> Answer<Json> {
    app.check_size(1, text.chars().count(), 1)?;
    let item = Item::Sentence { text, prefix: String::new(), must: Vec::new() };
    let found = app.ask(place, how, vec![item]).await?.pop();
    let model = app.catalog.get(place).id.clone();
    apart(move || match found {
        Some(Found::Steps(found)) => Json::of(&Of { model, found }),
        Some(Found::Tree(found)) => Json::of(&Of { model, found }),
        _ => Err(Refusal::broken()),
    })
    .await
}
