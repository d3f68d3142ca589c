//! How the models of a server learnt: read from their logs at every request, so that one that still trains can be watched.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::app::{App, Json, apart};
use super::catalog::Model;
use super::refusal::Answer;

/// `GET /v1/runs`.
pub(super) async fn runs(State(app): State<Arc<App>>, headers: HeaderMap) -> Answer<Json> {
    app.check_key(&headers, None)?;
    apart(move || Json::of(&json!({ "runs": app.catalog.all().iter().map(told).collect::<Vec<_>>() }))).await
}

fn told(model: &Model) -> Value {
    let events = model.run.events();
    let of = |kind: &str| events.iter().filter(|event| event["event"] == kind).cloned().collect::<Vec<_>>();
    let thinned = |events: Vec<Value>| {
        let every = events.len().div_ceil(MOST_POINTS).max(1);
        events.into_iter().step_by(every).collect::<Vec<_>>()
    };
    json!({
        "id": model.id,
        "progress": thinned(of("progress")),
        "validated": of("validated"),
        "looked": thinned(of("looked")),
        "finished": events.iter().any(|event| event["event"] == "finished"),
    })
}

/// More points than this are not seen in a curve.
const MOST_POINTS: usize = 500;
