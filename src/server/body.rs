//! Bodies of requests: within their limits, and what they hold.

use std::collections::HashMap;

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::limits::Limits;
use super::refusal::{Answer, Refusal};

/// Reads a body. What is said to be too long is refused before a byte of it is read.
pub(super) async fn read(headers: &HeaderMap, body: Body, limits: &Limits) -> Answer<Bytes> {
    let too_long = || Refusal::too_much(format!("a body may have {} bytes", limits.body));
    let told = headers.get("content-length").and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if told.is_some_and(|length| length > limits.body) {
        return Err(too_long());
    }
    match Limited::new(body, limits.body).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(why) if why.downcast_ref::<LengthLimitError>().is_some() => Err(too_long()),
        Err(why) => Err(Refusal::bad(format!("the body broke off: {why}"))),
    }
}

/// A body as an object of fields: JSON, or a form as browsers and some clients send it, where all values are texts.
pub(super) fn fields(headers: &HeaderMap, body: &[u8]) -> Answer<Map<String, Value>> {
    if is_form(headers) {
        return form(body);
    }
    match json(body)? {
        Value::Object(fields) => Ok(fields),
        _ => Err(Refusal::bad("the body must be a JSON object")),
    }
}

/// A body as JSON.
pub(super) fn json<T: DeserializeOwned>(body: &[u8]) -> Answer<T> {
    serde_json::from_slice(body).map_err(|why| Refusal::bad(format!("the body is not what is expected: {why}")))
}

fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';')
        .next()
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded"))
}

/// The fields of a form. One that comes several times is a list.
fn form(body: &[u8]) -> Answer<Map<String, Value>> {
    let mut values: HashMap<String, Vec<Value>> = HashMap::new();
    for (name, value) in form_urlencoded::parse(body) {
        // What is no UTF-8 has become the replacement character.
        values.entry(name.into_owned()).or_default().push(value.into_owned().into());
    }
    let one = |mut values: Vec<Value>| if values.len() == 1 { values.remove(0) } else { values.into() };
    Ok(values.into_iter().map(|(name, values)| (name, one(values))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(kind: &'static str) -> HeaderMap {
        [(CONTENT_TYPE, kind.parse().unwrap())].into_iter().collect()
    }

    #[test]
    fn forms_and_json_give_the_same_fields() {
        let form = headers("application/x-www-form-urlencoded; charset=UTF-8");
        let read = fields(&form, b"q=the+cat+%26+dog&source=en&q=%E7%8C%AB").unwrap();
        let json =
            fields(&headers("application/json"), r#"{"q": ["the cat & dog", "猫"], "source": "en"}"#.as_bytes());
        assert_eq!(read, json.unwrap());
        assert!(fields(&form, b"").unwrap().is_empty());
        for bad in ["[]", "{", "\"a\"", "", "\u{FEFF}{}"] {
            let refused = fields(&headers("text/plain"), bad.as_bytes()).unwrap_err();
            assert_eq!(refused.status.as_u16(), 400, "{bad}");
        }
    }
}
