//! The page, which is part of the program, and the lessons as pages.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::{Value, json};

use super::app::{App, Json};
use super::refusal::{Answer, Refusal};
use super::work::{Found, How, Item, Teacher};
use crate::language::Language;
use crate::lesson::{self, Entry, LESSONS, Needs, Work};

/// A file of the page: its path, its kind, what is in it.
type File = (&'static str, &'static str, &'static str);

macro_rules! script {
    ($name:literal) => {
        (concat!("/page/", $name), "text/javascript; charset=utf-8", include_str!(concat!("page/", $name)))
    };
}

/// The files of the page.
const FILES: [File; 19] = [
    ("/", "text/html; charset=utf-8", include_str!("page/index.html")),
    ("/page/style.css", "text/css; charset=utf-8", include_str!("page/style.css")),
    script!("main.js"),
    script!("engine.js"),
    script!("words.js"),
    script!("elements.js"),
    script!("colours.js"),
    script!("pictures.js"),
    script!("heatmap.js"),
    script!("threads.js"),
    script!("bars.js"),
    script!("branches.js"),
    script!("curves.js"),
    script!("view-look.js"),
    script!("view-steps.js"),
    script!("view-tree.js"),
    script!("view-compare.js"),
    script!("view-lessons.js"),
    script!("view-runs.js"),
];

/// What the page may do: run its own scripts, ask its own server, draw.
const PAGE: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; frame-src 'self'; \
     frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
);

/// What a lesson may do: look as it does.
const LESSON: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'",
);

/// The routes of all pages.
pub(super) fn router() -> Router<Arc<App>> {
    let mut router = Router::new().route("/lessons", get(lessons)).route("/lessons/{name}", get(lesson));
    for (path, kind, text) in FILES {
        let kind = HeaderValue::from_static(kind);
        router = router.route(path, get(async move || page(kind, PAGE, text)));
    }
    router
}

/// What counters call the path of a page.
pub(super) fn route(path: &str) -> Option<&'static str> {
    if path.starts_with("/lessons") {
        return Some("/lessons");
    }
    FILES.iter().any(|(known, _, _)| *known == path).then_some("/page")
}

fn page(kind: HeaderValue, may: HeaderValue, text: impl IntoResponse) -> Response {
    ([(CONTENT_TYPE, kind), (CONTENT_SECURITY_POLICY, may)], text).into_response()
}

/// `GET /lessons`: their names, what they show, and what a model must have that they are worked out with, if they are.
async fn lessons() -> Json {
    let told = |entry: &Entry| {
        json!({
            "name": entry.name, "en": entry.about(Language::English), "zh": entry.about(Language::Chinese),
            "model": match entry.work {
                Work::Alone(_) | Work::Timing(_) => Value::Null,
                Work::Model(Needs::Any, _) => "any".into(),
                Work::Model(Needs::Heads, _) => "heads".into(),
            },
        })
    };
    json!({ "lessons": LESSONS.iter().map(told).collect::<Vec<Value>>() }).into()
}

/// `GET /lessons/{name}?language=zh&model=ID`: a lesson as a page. It is worked out once.
async fn lesson(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
) -> Answer<Response> {
    let asked: HashMap<_, _> = form_urlencoded::parse(query.as_deref().unwrap_or_default().as_bytes()).collect();
    let none = || {
        let names: Vec<&str> = LESSONS.iter().map(|entry| entry.name).collect();
        let message = format!("no such lesson: there is {}", names.join(", "));
        Refusal::new(axum::http::StatusCode::NOT_FOUND, message)
    };
    let entry = lesson::find(&name).ok_or_else(none)?;
    let language = match asked.get("language").map(AsRef::as_ref) {
        None | Some("en") => Language::English,
        Some("zh") => Language::Chinese,
        Some(_) => return Err(Refusal::bad("language must be en or zh")),
    };
    let (place, teacher) = match asked.get("model").filter(|_| matches!(entry.work, Work::Model(..))) {
        Some(id) => (app.catalog.find(Some(id), None, None)?, Teacher::Run),
        None => (0, Teacher::Shipped),
    };
    let key = (entry.name, language.code(), place, teacher);
    let text = match app.lessons.get(key) {
        Some(known) => known,
        None => {
            let item = Item::Sentence { text: String::new(), prefix: String::new(), must: Vec::new() };
            let found = app.ask(place, How::Lesson(entry.name, language, teacher), vec![item]).await?.pop();
            let Some(Found::Page(text)) = found else { return Err(Refusal::broken()) };
            app.lessons.keep(key, text)
        }
    };
    Ok(page(HeaderValue::from_static("text/html; charset=utf-8"), LESSON, text.to_string()))
}

/// A lesson by its name, language, and model.
type Key = (&'static str, &'static str, usize, Teacher);

/// Lessons that have been worked out.
#[derive(Debug, Default)]
pub(super) struct Lessons(Mutex<HashMap<Key, Arc<str>>>);

impl Lessons {
    fn get(&self, key: Key) -> Option<Arc<str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }

    fn keep(&self, key: Key, text: String) -> Arc<str> {
        let text: Arc<str> = text.into();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&text));
        text
    }
}
