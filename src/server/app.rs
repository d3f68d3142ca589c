//! What all handlers share, and which path is whose.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use serde_json::Value;

use super::catalog::Catalog;
use super::metrics::Metrics;
use super::queue::{Job, Queue};
use super::refusal::{Answer, Refusal};
use super::work::{Found, How, Item};
use super::{Settings, body, libre, openapi, v1};
use crate::hash::sha256_hex;

/// What all handlers share.
#[derive(Debug)]
pub(super) struct App {
    pub catalog: Catalog,
    pub queue: Queue,
    pub metrics: Metrics,
    pub settings: Settings,
}

/// Every path with its method.
pub(super) const ROUTES: [(&str, &str); 12] = [
    ("/translate", "POST"),
    ("/detect", "POST"),
    ("/languages", "GET"),
    ("/frontend/settings", "GET"),
    ("/health", "GET"),
    ("/v1/translate", "POST"),
    ("/v1/align", "POST"),
    ("/v1/score", "POST"),
    ("/v1/steps", "POST"),
    ("/v1/models", "GET"),
    ("/openapi.json", "GET"),
    ("/metrics", "GET"),
];

/// The service of an app.
pub(super) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/translate", post(libre::translate))
        .route("/detect", post(libre::detect))
        .route("/languages", get(libre::languages))
        .route("/frontend/settings", get(libre::frontend_settings))
        .route("/health", get(libre::health))
        .route("/v1/translate", post(v1::translate))
        .route("/v1/align", post(v1::align))
        .route("/v1/score", post(v1::score))
        .route("/v1/steps", post(v1::steps))
        .route("/v1/models", get(v1::models))
        .route("/openapi.json", get(openapi::described))
        .route("/metrics", get(metrics))
        .method_not_allowed_fallback(wrong_method)
        .fallback(any(nothing_here))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), around))
        .with_state(app)
}

/// An answer in JSON.
pub(super) struct Json(pub Value);

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.0.to_string()).into_response()
    }
}

impl App {
    pub fn new(catalog: Catalog, queue: Queue, settings: Settings) -> Self {
        Self { catalog, queue, metrics: Metrics::default(), settings }
    }

    /// Reads a body, for so long and so much as is allowed.
    pub async fn read(&self, headers: &HeaderMap, body: Body) -> Answer<Bytes> {
        let limits = &self.settings.limits;
        let read = tokio::time::timeout(limits.timeout, body::read(headers, body, limits)).await;
        read.unwrap_or_else(|_| {
            let message = format!("the body did not come within {} s", limits.timeout.as_secs());
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, message))
        })
    }

    /// Refuses who brings no key, where one is needed: as a bearer token, or as LibreTranslate's clients do.
    pub fn check_key(&self, headers: &HeaderMap, in_body: Option<&Value>) -> Answer<()> {
        let keys = &self.settings.api_keys;
        if keys.is_empty() {
            return Ok(());
        }
        let bearer = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "))
            .or_else(|| in_body?.as_str());
        let Some(brought) = bearer else {
            let message = "an API key is needed: Authorization: Bearer …, or api_key";
            return Err(Refusal::new(StatusCode::UNAUTHORIZED, message));
        };
        // Digests, so that how long it takes to compare says nothing about the key.
        let brought = sha256_hex(brought.as_bytes());
        match keys.iter().any(|key| sha256_hex(key.as_bytes()) == brought) {
            true => Ok(()),
            false => Err(Refusal::new(StatusCode::FORBIDDEN, "this API key is not known here")),
        }
    }

    /// Refuses so many sentences of so many characters.
    pub fn check_size(&self, sentences: usize, characters: usize) -> Answer<()> {
        let limits = &self.settings.limits;
        if characters > limits.characters {
            return Err(Refusal::too_much(format!(
                "{characters} characters of text: a request may have {}",
                limits.characters
            )));
        }
        if sentences > limits.sentences {
            return Err(Refusal::too_much(format!(
                "{sentences} sentences: a request may have {}",
                limits.sentences
            )));
        }
        Ok(())
    }

    /// What a model finds. Whoever goes away before it has an answer frees its place.
    pub async fn ask(&self, model: usize, how: How, items: Vec<Item>) -> Answer<Vec<Found>> {
        if items.is_empty() {
            return Ok(Vec::new());
        }
        if self.settings.log_texts {
            tracing::info!(?items, "asked");
        }
        let (job, answer) = Job::new(model, Arc::new(how), items);
        self.queue.push(job)?;
        let limit = self.settings.limits.timeout;
        match tokio::time::timeout(limit, answer).await {
            Ok(Ok(found)) => found,
            // Its job was dropped without a word.
            Ok(Err(_)) => Err(Refusal::stopping()),
            Err(_) => Err(Refusal {
                retry_after: Some(1),
                ..Refusal::new(StatusCode::SERVICE_UNAVAILABLE, format!("not done within {} s", limit.as_secs()))
            }),
        }
    }
}

async fn metrics(State(app): State<Arc<App>>) -> Response {
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], app.metrics.told(app.queue.sentences())).into_response()
}

async fn nothing_here(request: Request) -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, format!("nothing is at {}: see /openapi.json", request.uri().path()))
}

async fn wrong_method(request: Request) -> Refusal {
    let allowed =
        ROUTES.iter().find(|(path, _)| *path == request.uri().path()).map_or("no method", |(_, method)| method);
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, format!("this path takes {allowed}"))
}

/// What is done about every request: its time is taken, browsers are told what they may do, other sites' pages are let in or not.
async fn around(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let path = request.uri().path();
    let route = ROUTES.iter().find(|(known, _)| *known == path).map_or("other", |(known, _)| *known);
    let method = request.method().clone();
    let origin = allowed_origin(&app.settings.origins, request.headers());
    let mut response = match (&origin, method == Method::OPTIONS) {
        (Some(_), true) => StatusCode::NO_CONTENT.into_response(),
        (None, _) if method == Method::POST && is_foreign(request.headers()) => {
            Refusal::new(StatusCode::FORBIDDEN, "pages of other sites may not ask here").into_response()
        }
        _ => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in SAFE {
        headers.entry(name).or_insert(value);
    }
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST"));
        headers
            .insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("Content-Type, Authorization"));
    }
    let (status, took) = (response.status().as_u16(), began.elapsed());
    app.metrics.answered(route, status, took);
    tracing::info!(%method, route, status, ms = took.as_millis() as u64, "answered");
    response
}

/// What browsers are told of every answer.
const SAFE: [(HeaderName, HeaderValue); 4] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        ),
    ),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
];

/// Whether a page of another site asks. (Without a word about it only reading the answer would be denied to it.)
fn is_foreign(headers: &HeaderMap) -> bool {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    text(header::ORIGIN).is_some_and(|origin| {
        let site = origin.split_once("://").map(|(_, site)| site);
        site.is_none() || site != text(header::HOST)
    })
}

/// The site that asks, if its pages may.
fn allowed_origin(origins: &[String], headers: &HeaderMap) -> Option<HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    origins.iter().any(|allowed| allowed == "*" || allowed.as_bytes() == origin.as_bytes()).then(|| origin.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sites_that_were_named_are_let_in() {
        let headers: HeaderMap = [(header::ORIGIN, "https://a.example".parse().unwrap())].into_iter().collect();
        let is_allowed = |origins: &[&str]| {
            let origins: Vec<String> = origins.iter().map(|&origin| origin.to_owned()).collect();
            allowed_origin(&origins, &headers).is_some()
        };
        assert!(is_allowed(&["https://a.example"]) && is_allowed(&["*"]));
        assert!(!is_allowed(&[]) && !is_allowed(&["https://a.example.org", "http://a.example"]));
        assert!(allowed_origin(&["*".into()], &HeaderMap::new()).is_none());
        assert!(is_foreign(&headers) && !is_foreign(&HeaderMap::new()));
        let mut own = headers.clone();
        own.insert(header::HOST, HeaderValue::from_static("a.example"));
        assert!(!is_foreign(&own));
    }
}
