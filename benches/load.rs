//! How a server bears a crowd: one client at a time, then many, then many of which some send rubbish.
//!
//! ```sh
//! cargo bench --profile dev --bench load -- --run runs/multi30k --source test.de [--connections 32] [--seconds 60] [--int8]
//! ```
//!
//! Every answer of the crowd is compared with the one that a single client got. Client and server share the machine.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::{BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

#[path = "../tests/support/http.rs"]
#[allow(dead_code)]
mod http;
#[path = "../tests/support/person.rs"]
#[allow(dead_code)]
mod person;

use http::{Answer, Served, answer};

/// What is asked for on the command line.
struct Asked {
    run: PathBuf,
    source: PathBuf,
    connections: usize,
    seconds: u64,
    int8: bool,
}

fn asked() -> Asked {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let number = |name: &str, default: usize| value(name).map_or(default, |text| text.parse().expect("a number"));
    let path = |name: &str| PathBuf::from(value(name).unwrap_or_else(|| panic!("{name} is needed")));
    Asked {
        run: path("--run").canonicalize().expect("a run"),
        source: path("--source"),
        connections: number("--connections", 32),
        seconds: number("--seconds", 60) as u64,
        int8: arguments.iter().any(|argument| argument == "--int8"),
    }
}

/// A client with a connection that it keeps.
struct Client<'a> {
    served: &'a Served,
    stream: Option<BufReader<TcpStream>>,
}

impl Client<'_> {
    fn post(&mut self, body: &str) -> Option<Answer> {
        self.send(
            format!(
                "POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )
            .as_bytes(),
        )
    }

    fn send(&mut self, bytes: &[u8]) -> Option<Answer> {
        let served = self.served;
        let stream = self.stream.get_or_insert_with(|| BufReader::new(served.connect()));
        let told = stream.get_mut().write_all(bytes).ok().and_then(|()| answer(stream));
        if told.is_none() {
            self.stream = None;
        }
        told
    }
}

/// What a crowd met.
#[derive(Default)]
struct Met {
    good: AtomicUsize,
    wrong: AtomicUsize,
    failed: AtomicUsize,
    broken: AtomicUsize,
    milliseconds: Mutex<Vec<f64>>,
}

fn main() {
    // `cargo test --benches` and the like run benchmarks without arguments.
    if !std::env::args().any(|argument| argument == "--run") {
        return;
    }
    let asked = asked();
    let folder = person::Folder::new();
    let mut flags = vec!["--run", asked.run.to_str().unwrap(), "--timeout", "10"];
    flags.extend(asked.int8.then_some("--int8"));
    let served = Served::start(&folder, &flags);
    let text = std::fs::read_to_string(&asked.source).expect("sentences");
    let bodies: Vec<String> = text.lines().map(|line| json!({ "texts": [line] }).to_string()).collect();
    let mut client = Client { served: &served, stream: None };
    let began = Instant::now();
    let right: Vec<Value> = bodies.iter().map(|body| client.post(body).expect("an answer").json()).collect();
    let serial = bodies.len() as f64 / began.elapsed().as_secs_f64();
    println!(
        "one at a time: {} sentences, {serial:.1} a second, memory {} MiB",
        bodies.len(),
        served.memory() >> 20
    );
    for share in [0, 10] {
        crowd(&asked, &served, &bodies, &right, share, serial);
    }
}

/// So many connections at once; of a hundred requests so many are broken.
fn crowd(asked: &Asked, served: &Served, bodies: &[String], right: &[Value], broken: usize, serial: f64) {
    let (met, before, rounds) = (Met::default(), served.memory(), rounds(served));
    let (began, end) = (Instant::now(), Duration::from_secs(asked.seconds));
    let halfway = std::thread::scope(|scope| {
        for number in 0..asked.connections {
            let met = &met;
            scope.spawn(move || {
                let mut client = Client { served, stream: None };
                let mut i = number * 31;
                while began.elapsed() < end {
                    i += 1;
                    if i % 100 < broken {
                        break_something(&mut client, i / 100);
                        met.broken.fetch_add(1, Ordering::Relaxed);
                    } else {
                        ask(&mut client, (&bodies[i % bodies.len()], &right[i % bodies.len()]), met);
                    }
                }
            });
        }
        std::thread::sleep(end / 2);
        served.memory()
    });
    let seconds = began.elapsed().as_secs_f64();
    let mut times = met.milliseconds.into_inner().unwrap();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let good = met.good.into_inner();
    let now = self::rounds(served);
    println!(
        "{} connections, {broken} % broken: {good} answers as alone, {} others, {} without an answer, {} broken requests; {:.1} \
         a second, {:.2} times one at a time; p50 {:.0} ms, p99 {:.0} ms; {:.1} sentences a round; memory {}, {}, {} MiB",
        asked.connections,
        met.wrong.into_inner(),
        met.failed.into_inner(),
        met.broken.into_inner(),
        good as f64 / seconds,
        good as f64 / seconds / serial,
        at(0.5),
        at(0.99),
        (now[1] - rounds[1]) / (now[0] - rounds[0]),
        before >> 20,
        halfway >> 20,
        served.memory() >> 20,
    );
}

/// Rounds that were computed together, and sentences.
fn rounds(served: &Served) -> [f64; 2] {
    let told = served.get("/metrics").body;
    ["zhuyi_rounds_total ", "zhuyi_sentences_total "].map(|name| {
        let line = told.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|number| number.parse().ok()).unwrap_or(f64::NAN)
    })
}

fn ask(client: &mut Client<'_>, (body, right): (&str, &Value), met: &Met) {
    let began = Instant::now();
    match client.post(body) {
        Some(told) if told.status == 200 && is_same(&told.json(), right) => {
            met.good.fetch_add(1, Ordering::Relaxed);
            met.milliseconds.lock().unwrap().push(began.elapsed().as_secs_f64() * 1e3);
        }
        Some(told) => {
            eprintln!("{told:?}");
            met.wrong.fetch_add(1, Ordering::Relaxed);
        }
        None => _ = met.failed.fetch_add(1, Ordering::Relaxed),
    }
}

/// Whether the texts are the same, and the scores to 1e-5: the batch may move a last digit.
fn is_same(told: &Value, right: &Value) -> bool {
    let of = |answer: &Value| {
        let it = &answer["translations"][0];
        (it["translation"].clone(), it["score"].as_f64().unwrap_or(f64::NAN))
    };
    let ((text, score), (right, right_score)) = (of(told), of(right));
    text == right && (score - right_score).abs() < 1e-5
}

/// A request that can't be answered as it is: each kind in turn.
fn break_something(client: &mut Client<'_>, kind: usize) {
    let whole = |body: &str| {
        format!("POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}", body.len())
    };
    let told = match kind % 5 {
        0 => client.send(whole("{\"texts\": [").as_bytes()),
        1 => client.send(whole("{\"texts\": 7, \"beam\": \"x\"}").as_bytes()),
        2 => client.send(b"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000000\r\n\r\n{"),
        3 => {
            // Half a body, and gone.
            let mut stream = client.served.connect();
            let _ = stream.write_all(
                b"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90\r\n\r\n{\"texts\"",
            );
            let _ = stream.shutdown(Shutdown::Both);
            None
        }
        _ => {
            // A whole request, and gone before its answer.
            let mut stream = client.served.connect();
            let _ = stream.write_all(whole("{\"texts\": [\"a\"], \"search\": {\"beam\": 32}}").as_bytes());
            None
        }
    };
    if let Some(told) = told {
        assert!((400..500).contains(&told.status), "{told:?}");
        client.stream = None;
    }
}
