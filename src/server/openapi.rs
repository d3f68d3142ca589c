//! What this server answers, described for programs (OpenAPI 3.1).

use std::sync::Arc;

use axum::extract::State;
use serde_json::{Map, Value, json};

use super::app::{App, Json};
use super::limits::Limits;

/// `GET /openapi.json`.
pub(super) async fn described(State(app): State<Arc<App>>) -> Json {
    description(&app.settings.limits).into()
}

fn description(limits: &Limits) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "zhuyi",
            "version": env!("CARGO_PKG_VERSION"),
            "description": format!(
                "Translation that shows where it looks. A request may have {} bytes, {} characters of text and {} sentences, a beam of \
                 {}, and takes {} seconds at most; what is more is refused with 400 or 413, what comes while too much waits with 429 and \
                 Retry-After.",
                limits.body, limits.characters, limits.sentences, limits.beam, limits.timeout.as_secs()
            ),
        },
        "paths": paths(),
        "components": { "schemas": schemas(limits), "securitySchemes": {
            "key": { "type": "http", "scheme": "bearer", "description": "Only where the server was given keys." },
        } },
    })
}

fn paths() -> Map<String, Value> {
    let of = |method: &str, told: &str, request: Option<&str>, answer: &str| {
        let mut operation = json!({
            "summary": told,
            "responses": {
                "200": { "description": "the answer", "content": { "application/json": { "schema": reference(answer) } } },
                "default": { "description": "why not", "content": { "application/json": { "schema": reference("Error") } } },
            },
        });
        if let Some(request) = request {
            let mut content = json!({ "application/json": { "schema": reference(request) } });
            if request.starts_with("Libre") {
                content["application/x-www-form-urlencoded"] = content["application/json"].clone();
            }
            operation["requestBody"] = json!({ "required": true, "content": content });
            operation["security"] = json!([{}, { "key": [] }]);
        }
        json!({ method: operation })
    };
    let mut metrics = of("get", "Counters for Prometheus", None, "Health");
    metrics["get"]["responses"]["200"]["content"] = json!({ "text/plain": { "schema": { "type": "string" } } });
    let all = [
        (
            "/translate",
            of("post", "Translate texts as LibreTranslate does", Some("LibreTranslate"), "LibreTranslated"),
        ),
        (
            "/detect",
            of(
                "post",
                "Which languages of this server a text may be in, by its script",
                Some("LibreDetect"),
                "Detected",
            ),
        ),
        ("/languages", of("get", "The languages, as LibreTranslate tells them", None, "Languages")),
        ("/frontend/settings", of("get", "LibreTranslate's settings", None, "Settings")),
        ("/health", of("get", "Whether the server answers", None, "Health")),
        (
            "/v1/translate",
            of("post", "Translate sentences, with alignments and n-best lists", Some("Translate"), "Translations"),
        ),
        ("/v1/align", of("post", "Align given pairs", Some("Pairs"), "Alignments")),
        ("/v1/score", of("post", "Score given pairs", Some("Pairs"), "Scores")),
        (
            "/v1/steps",
            of(
                "post",
                "A greedy translation step by step, with every number; words and weights may be given",
                Some("OneByOne"),
                "Steps",
            ),
        ),
        ("/v1/tree", of("post", "A beam search with everything that it took up", Some("OneInBeams"), "Tree")),
        ("/v1/runs", of("get", "How the models learnt, and where they looked meanwhile", None, "Runs")),
        ("/v1/models", of("get", "The models", None, "Models")),
        ("/openapi.json", of("get", "This description", None, "Description")),
        ("/metrics", metrics),
    ];
    all.into_iter().map(|(path, told)| (path.to_owned(), told)).collect()
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn schemas(limits: &Limits) -> Value {
    let (text, number, integer, truth) = (
        json!({ "type": "string" }),
        json!({ "type": "number" }),
        json!({ "type": "integer" }),
        json!({ "type": "boolean" }),
    );
    let list = |items: Value| json!({ "type": "array", "items": items });
    let either = |one: Value, other: Value| json!({ "anyOf": [one, other] });
    let object = |required: &[&str], properties: Value| json!({ "type": "object", "required": required, "properties": properties });
    let closed = |required: &[&str], properties: Value| {
        let mut told = object(required, properties);
        told["additionalProperties"] = false.into();
        told
    };
    let texts = either(text.clone(), list(text.clone()));
    let view = closed(
        &[],
        json!({
            "level": { "enum": ["auto", "word", "subword"] }, "ends": truth,
            "head": { "type": "integer", "minimum": 1 }, "step": { "enum": ["this", "next"] },
        }),
    );
    let wished = closed(&["text"], json!({ "text": text, "prefix": text, "must": list(text.clone()) }));
    let alignment = json!({
        "source": list(text.clone()), "target": list(text.clone()), "weights": list(list(number.clone())),
        "heads": list(list(list(number.clone()))), "translation": text, "score": number, "cut": truth, "id": integer,
    });
    let mut translation = alignment.clone();
    translation["hypotheses"] = list(object(&["translation", "score"], alignment.clone()));
    translation["too_long"] = integer.clone();
    let mut aligned = alignment;
    aligned["links"] = text.clone();
    json!({
        "Error": object(&["error"], json!({ "error": text })),
        "Health": object(&["status"], json!({ "status": text })),
        "Description": { "type": "object" },
        "LibreTranslate": object(&["q", "source", "target"], json!({
            "q": texts, "source": text, "target": text, "format": { "enum": ["text", "html"] },
            "alternatives": { "type": "integer", "minimum": 0, "maximum": limits.beam - 1 }, "api_key": text,
        })),
        "LibreTranslated": object(&["translatedText"], json!({
            "translatedText": texts, "alternatives": list(either(text.clone(), list(text.clone()))),
            "detectedLanguage": { "type": ["object", "array"] },
        })),
        "LibreDetect": object(&["q"], json!({ "q": text, "api_key": text })),
        "Detected": list(object(&["language", "confidence"], json!({ "language": text, "confidence": number }))),
        "Languages": list(object(&["code", "name", "targets"], json!({ "code": text, "name": text, "targets": list(text.clone()) }))),
        "Settings": { "type": "object" },
        "Translate": closed(&["texts"], json!({
            "texts": { "type": "array", "maxItems": limits.sentences, "items": either(text.clone(), wished) },
            "model": text, "source": text, "target": text,
            "n_best": { "type": "integer", "minimum": 1, "maximum": limits.beam },
            "search": { "type": "object", "description": "keys of a config's [search]" }, "view": view,
        })),
        "Translations": object(&["model", "translations"], json!({ "model": text, "translations": list(object(&["translation"], translation)) })),
        "Pairs": closed(&["pairs"], json!({
            "pairs": { "type": "array", "maxItems": limits.sentences,
                "items": closed(&["source", "target"], json!({ "source": text, "target": text })) },
            "model": text, "source": text, "target": text, "view": view,
        })),
        "Alignments": object(&["model", "alignments"], json!({ "model": text, "alignments": list(object(&["links"], aligned)) })),
        "Scores": object(&["model", "scores"], json!({
            "model": text, "scores": list(object(&["log_prob", "tokens"], json!({ "log_prob": number, "tokens": integer }))),
        })),
        "OneByOne": closed(&["text"], json!({
            "text": text, "model": text, "source": text, "target": text, "written": list(integer.clone()),
            "instead": { "type": "object", "additionalProperties": list(number.clone()) },
            "without": list(integer.clone()),
        })),
        "OneInBeams": closed(&["text"], json!({
            "text": text, "model": text, "source": text, "target": text,
            "search": { "type": "object", "description": "keys of a config's [search]" },
        })),
        "Tree": object(&["source", "nodes", "found"], json!({
            "model": text, "source": list(text.clone()),
            "nodes": list(object(&["parent", "token", "piece", "log_prob", "fate"], json!({
                "parent": { "type": ["integer", "null"] }, "token": integer, "piece": text, "log_prob": number,
                "fate": { "enum": ["goes-on", "outrun", "ends", "given-up"] },
            }))),
            "found": list(object(&["translation", "log_prob", "score", "node"], json!({
                "translation": text, "log_prob": number, "score": number, "node": { "type": ["integer", "null"] },
            }))),
        })),
        "Runs": object(&["runs"], json!({ "runs": list(json!({ "type": "object" })) })),
        "Steps": object(&["source", "steps", "translation"], json!({
            "model": text, "source": list(text.clone()), "translation": text, "steps": list(json!({ "type": "object" })),
        })),
        "Models": object(&["models"], json!({ "models": list(object(&["id", "source", "target"], json!({
            "id": text, "source": text, "target": text, "attention": text, "heads": integer, "looks": truth, "parameters": integer,
            "search": { "type": "object" },
        }))) })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::app::ROUTES;

    #[test]
    fn every_path_is_described_and_every_reference_leads_somewhere() {
        let told = description(&Limits::default());
        for (path, method) in ROUTES {
            assert!(told["paths"][path][method.to_lowercase()].is_object(), "{path}");
        }
        assert_eq!(told["paths"].as_object().unwrap().len(), ROUTES.len());
        let text = told.to_string();
        for reference in text.split("#/components/schemas/").skip(1) {
            let name = reference.split('"').next().unwrap();
            assert!(told["components"]["schemas"][name].is_object(), "{name}");
        }
    }
}
