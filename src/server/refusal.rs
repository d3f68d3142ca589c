//! Answers that say no.

use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::error::Error;

/// Why a request is not answered as it was meant: LibreTranslate's `{"error": …}` under a status that says whose fault it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub status: StatusCode,
    pub message: String,
    /// After how many seconds another try may do better.
    pub retry_after: Option<u64>,
}

/// What handlers give back.
pub(super) type Answer<T> = std::result::Result<T, Refusal>;

impl Refusal {
    /// With a status.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), retry_after: None }
    }

    /// What can't be meant.
    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// More than is taken.
    pub fn too_much(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    }

    /// What is our fault.
    pub fn broken() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "something went wrong that should not")
    }

    /// The server is stopping.
    pub fn stopping() -> Self {
        Self { retry_after: Some(5), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping") }
    }
}

impl From<Error> for Refusal {
    /// What a model says of a request: it can't be meant, or it can't be done.
    fn from(why: Error) -> Self {
        let status = match why {
            Error::Usage(_) | Error::Config(_) => StatusCode::BAD_REQUEST,
            Error::Model(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Error::Io { .. } | Error::Data { .. } | Error::Device(_) | Error::Ranks(_) => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        };
        Self::new(status, why.to_string())
    }
}

impl From<serde_json::Error> for Refusal {
    /// What we could not tell.
    fn from(why: serde_json::Error) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, format!("an answer has no form in JSON: {why}"))
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = json!({ "error": self.message }).to_string();
        let mut response = (self.status, [(CONTENT_TYPE, "application/json")], body).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
