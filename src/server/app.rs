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
use serde::Serialize;
use serde_json::Value;

use super::catalog::Catalog;
use super::metrics::Metrics;
use super::pages::Lessons;
use super::queue::{Job, Queue};
use super::refusal::{Answer, Refusal};
use super::work::{Found, How, Item};
use super::{Settings, body, inside, libre, openapi, pages, runs, v1};
use crate::hash::sha256_hex;

/// What all handlers share.
#[derive(Debug)]
pub(super) struct App {
    pub catalog: Catalog,
    pub queue: Queue,
    pub metrics: Metrics,
    pub lessons: Lessons,
    pub settings: Settings,
    /// Whether only this machine reaches the server.
    is_local: bool,
}

/// Every path with its method, but those of pages.
pub(super) const ROUTES: [(&str, &str); 14] = [
    ("/translate", "POST"),
    ("/detect", "POST"),
    ("/languages", "GET"),
    ("/frontend/settings", "GET"),
    ("/health", "GET"),
    ("/v1/translate", "POST"),
    ("/v1/align", "POST"),
    ("/v1/score", "POST"),
    ("/v1/steps", "POST"),
    ("/v1/tree", "POST"),
    ("/v1/runs", "GET"),
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
        .route("/v1/steps", post(inside::steps))
        .route("/v1/tree", post(inside::tree))
        .route("/v1/runs", get(runs::runs))
        .route("/v1/models", get(v1::models))
        .route("/openapi.json", get(openapi::described))
        .route("/metrics", get(metrics))
        .merge(pages::router())
        .method_not_allowed_fallback(wrong_method)
        .fallback(any(nothing_here))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), around))
        .with_state(app)
}

/// An answer in JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Json(String);

impl Json {
    /// Anything that has a form in JSON.
    pub fn of(told: &impl Serialize) -> Answer<Self> {
        Ok(Self(serde_json::to_string(told)?))
    }
}

impl From<Value> for Json {
    fn from(told: Value) -> Self {
        Self(told.to_string())
    }
}

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}

/// Makes an answer on a thread of its own: large ones take time, and files may make one wait.
pub(super) async fn apart<T: Send + 'static>(make: impl FnOnce() -> Answer<T> + Send + 'static) -> Answer<T> {
    tokio::task::spawn_blocking(make).await.unwrap_or_else(|why| {
        tracing::error!(%why, "an answer broke off");
        Err(Refusal::broken())
    })
}

impl App {
    pub fn new(catalog: Catalog, queue: Queue, settings: Settings, is_local: bool) -> Self {
        Self { catalog, queue, metrics: Metrics::default(), lessons: Lessons::default(), settings, is_local }
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
            .and_then(|value| value.to_str().ok()?.split_once(' '))
            .and_then(|(scheme, key)| scheme.eq_ignore_ascii_case("bearer").then_some(key.trim()))
            .or_else(|| in_body?.as_str());
        let Some(brought) = bearer else {
            let message = "an API key is needed: Authorization: Bearer …, or for LibreTranslate's paths api_key";
            return Err(Refusal::new(StatusCode::UNAUTHORIZED, message));
        };
        // Digests, so that how long it takes to compare says nothing about the key.
        let brought = sha256_hex(brought.as_bytes());
        match keys.iter().any(|key| sha256_hex(key.as_bytes()) == brought) {
            true => Ok(()),
            false => Err(Refusal::new(StatusCode::FORBIDDEN, "this API key is not known here")),
        }
    }

    /// Whether a request calls this server by a name of its own. Where only this machine may ask, another name is one that some
    /// site has given our address to, so that its pages may read our answers (DNS rebinding).
    fn is_called_so(&self, headers: &HeaderMap) -> bool {
        let Some(host) = headers.get(header::HOST).and_then(|host| host.to_str().ok()) else { return true };
        !self.is_local || is_own(host) || self.settings.hosts.iter().any(|known| known == without_port(host))
    }

    /// Refuses so many sentences of so many characters; what is told of a sentence grows with the number of translations that
    /// are asked for each.
    pub fn check_size(&self, sentences: usize, characters: usize, each: usize) -> Answer<()> {
        let limits = &self.settings.limits;
        let times = if each > 1 { format!(" times {each} translations") } else { String::new() };
        for (number, what, most) in
            [(characters, "characters of text", limits.characters), (sentences, "sentences", limits.sentences)]
        {
            if number.saturating_mul(each) > most {
                return Err(Refusal::too_much(format!("{number} {what}{times}: a request may have {most}")));
            }
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
    let route = ROUTES.iter().find(|(known, _)| *known == path).map(|(known, _)| *known);
    let route = route.or(pages::route(path)).unwrap_or("other");
    let method = request.method().clone();
    let origin = allowed_origin(&app.settings.origins, request.headers());
    let mut response = match (&origin, method == Method::OPTIONS) {
        (Some(_), true) => StatusCode::NO_CONTENT.into_response(),
        _ if !app.is_called_so(request.headers()) => {
            let message = "this server is not called so; --allow-host lets it be";
            Refusal::new(StatusCode::MISDIRECTED_REQUEST, message).into_response()
        }
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

/// Whether a host is this machine's own, or an address.
fn is_own(host: &str) -> bool {
    let name = without_port(host);
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || name.ends_with(".localhost") || address.parse::<std::net::IpAddr>().is_ok()
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

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

    #[test]
    fn names_of_this_machine_are_its_own() {
        for own in ["localhost", "localhost:5000", "127.0.0.1:5000", "[::1]:5000", "[::1]", "zhuyi.localhost:80"] {
            assert!(is_own(own), "{own}");
        }
        for other in ["evil.example", "evil.example:5000", "localhost.evil.example", "127.0.0.1.evil.example", ""]
        {
            assert!(!is_own(other), "{other}");
        }
    }
}
