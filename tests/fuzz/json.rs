//! Bodies of requests. Whatever comes, there is an answer, it is JSON, and it is not the server's fault.

use std::cell::RefCell;
use std::io::{BufReader, Write};
use std::net::TcpStream;

use super::given::{Given, kept};
use super::http::{Served, answer};
use super::person::{Folder, zhuyi};
use super::{corpus, fuzz};

/// The paths that take bodies, by what they are called in the corpus; forms go where JSON goes.
const PATHS: [(&str, &str, &str); 7] = [
    ("libre", "/translate", "application/json"),
    ("form", "/translate", "application/x-www-form-urlencoded"),
    ("detect", "/detect", "application/json"),
    ("translate", "/v1/translate", "application/json"),
    ("pairs", "/v1/align", "application/json"),
    ("steps", "/v1/steps", "application/json"),
    ("tree", "/v1/tree", "application/json"),
];

#[test]
fn json_bodies() {
    let folder = Folder::new();
    let small = [
        "--set",
        "embedding.size=8",
        "--set",
        "encoder.hidden=8",
        "--set",
        "decoder.hidden=8",
        "--set",
        "train.max_steps=20",
    ];
    zhuyi(&folder).args(["train", "--run", "run"]).args(small).assert().success();
    let served = Served::start(
        &folder,
        &["--run", "run", "--max-tokens", "24", "--max-characters", "2000", "--max-beam", "6"],
    );
    let connection = RefCell::new(BufReader::new(served.connect()));
    let words = [
        "\"beam\":",
        "\"search\":{",
        "\"n_best\":",
        "\"must\":[",
        "\"prefix\":",
        "\"method\":\"sample\"",
        "\"long\":\"cut\"",
        "\"instead\":{\"0\":[",
        "\"written\":[",
        "\"without\":[1]",
        "\"view\":{\"head\":1}",
        "<p>",
        "&amp;",
        "%00",
        "q=",
        "&",
        "\"length_penalty\":\"mean:1e308\"",
        "\"max_ratio\":1e9",
        "\"no_repeat_ngram\":1",
        "\"temperature\":0",
    ];
    fuzz("json", kept(&corpus("json")), &words, |given: &Given| {
        let (_, path, kind) = PATHS.iter().find(|(name, _, _)| *name == given.kind).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
            given.bytes.len()
        );
        let mut connection = connection.borrow_mut();
        let told = ask(&mut connection, &[head.as_bytes(), &given.bytes].concat());
        let told = told.unwrap_or_else(|| {
            *connection = BufReader::new(served.connect());
            panic!("no answer");
        });
        assert!(told.status < 500, "{told:?}");
        let json = told.json();
        assert!(told.status < 400 || json["error"].is_string(), "{told:?}");
    });
}

fn ask(connection: &mut BufReader<TcpStream>, bytes: &[u8]) -> Option<super::http::Answer> {
    connection.get_mut().write_all(bytes).ok()?;
    answer(connection)
}
