//! The server as its clients meet it.

use std::io::{BufReader, Read, Write};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::{Value, json};

use super::http::{Served, answer};
use super::person::{Folder, lines, stdout, zhuyi};

/// Runs of both directions.
static RUNS: LazyLock<Folder> = LazyLock::new(|| {
    let folder = Folder::new();
    for (run, settings) in [("runs/en-zh", &[][..]), ("runs/zh-en", &["--set", "data.reverse=true"])] {
        let steps = ["--set", "train.max_steps=300", "--set", "train.learning_rate=5e-3"];
        zhuyi(&folder).args(["train", "--run", run]).args(steps).args(settings).assert().success();
    }
    folder
});

const BOTH: [&str; 4] = ["--run", "runs/en-zh", "--run", "runs/zh-en"];

fn serve(arguments: &[&str]) -> Served {
    Served::start(&RUNS, &[&BOTH[..], arguments].concat())
}

fn translate(run: &str, texts: &[&str]) -> Vec<String> {
    let told = stdout(zhuyi(&RUNS).args(["translate", "--run", run]).args(texts));
    lines(&told).into_iter().map(str::to_owned).collect()
}

/// The same, numbers to 1e-5: what is computed beside a sentence may move a last digit.
fn assert_same(told: &Value, right: &Value) {
    match (told, right) {
        (Value::Number(told), Value::Number(right)) => {
            assert!((told.as_f64().unwrap() - right.as_f64().unwrap()).abs() < 1e-5, "{told}, not {right}");
        }
        (Value::Array(told), Value::Array(right)) if told.len() == right.len() => {
            told.iter().zip(right).for_each(|(told, right)| assert_same(told, right));
        }
        (Value::Object(told), Value::Object(right)) => {
            assert!(told.keys().eq(right.keys()), "{:?}, not {:?}", told.keys(), right.keys());
            told.values().zip(right.values()).for_each(|(told, right)| assert_same(told, right));
        }
        _ => assert_eq!(told, right),
    }
}

/// LibreTranslate's API: what its clients send and expect.
#[test]
fn libretranslates_clients_are_understood() {
    let served = serve(&[]);
    let [cat, tom] = ["the cat eats fish", "tom sleeps"];
    let right = translate("runs/en-zh", &[cat, tom]);
    let ask = |body: Value| served.post("/translate", &body).json();
    let one = ask(json!({ "q": cat, "source": "en", "target": "zh" }));
    assert_eq!(one, json!({ "translatedText": right[0] }));
    let several = ask(json!({ "q": [cat, tom], "source": "en", "target": "zh", "format": "text" }));
    assert_eq!(several["translatedText"], json!(right));
    // As forms, which is how libretranslatepy asks.
    let form = "q=the+cat+eats+fish&source=en&target=zh";
    let kind = [("Content-Type", "application/x-www-form-urlencoded")];
    assert_eq!(served.request("POST", "/translate", &kind, form).json(), one);
    // Known faults D2 and X8: lines keep their places, blank ones blank, whatever they are blank with.
    let text = format!("{cat}\n\n \n\u{3000}\n\u{A0}\u{200B}\n\t{tom}\n");
    let told = ask(json!({ "q": text, "source": "en", "target": "zh" }));
    let expected = format!("{}\n\n \n\u{3000}\n\u{A0}\u{200B}\n\t{}\n", right[0], right[1]);
    assert_eq!(told["translatedText"], expected);
    for blank in ["", " ", "\u{3000}", "\u{200B}"] {
        assert_eq!(ask(json!({ "q": blank, "source": "en", "target": "zh" }))["translatedText"], blank);
    }
    let html =
        json!({ "q": format!("<p>{cat}</p>\n<b>{tom}</b>"), "source": "en", "target": "zh", "format": "html" });
    assert_eq!(ask(html)["translatedText"], format!("<p>{}</p>\n<b>{}</b>", right[0], right[1]));
    let more = ask(json!({ "q": cat, "source": "en", "target": "zh", "alternatives": 3 }));
    let alternatives = more["alternatives"].as_array().unwrap();
    assert!(!alternatives.is_empty() && alternatives.len() <= 3 && !alternatives.contains(&json!(right[0])));
    let auto = ask(json!({ "q": cat, "source": "auto", "target": "zh" }));
    assert_eq!((&auto["translatedText"], &auto["detectedLanguage"]["language"]), (&json!(right[0]), &json!("en")));
    let detected = served.post("/detect", &json!({ "q": "猫 吃 鱼" })).json();
    assert_eq!(detected, json!([{ "language": "zh", "confidence": 100.0 }]));
    let languages = served.get("/languages").json();
    assert_eq!(languages[0], json!({ "code": "en", "name": "English", "targets": ["zh"] }));
    assert_eq!(languages[1]["code"], "zh");
    assert_eq!(served.get("/health").json(), json!({ "status": "ok" }));
    assert_eq!(served.get("/frontend/settings").json()["language"]["source"]["code"], "en");
    for (body, why) in [
        (json!({ "source": "en", "target": "zh" }), "missing q"),
        (json!({ "q": "a", "target": "zh" }), "missing source"),
        (json!({ "q": "a", "source": "fr", "target": "zh" }), "fr is not supported"),
        (json!({ "q": "a", "source": "en", "target": "en" }), "not available as a target"),
        (json!({ "q": 7, "source": "en", "target": "zh" }), "q must be"),
        (json!({ "q": "a", "source": "en", "target": "zh", "format": "pdf" }), "format must be"),
        (json!({ "q": "a", "source": "en", "target": "zh", "alternatives": -1 }), "alternatives must be"),
    ] {
        let refused = served.post("/translate", &body);
        assert!(refused.status == 400 && refused.error().contains(why), "{refused:?}");
    }
}

/// Our own API says what the command line says.
#[test]
fn our_api_says_what_the_command_line_says() {
    let served = serve(&[]);
    let texts = ["the cat eats fish", "she reads a good book every day"];
    let asked = ["translate", "--run", "runs/en-zh", "--n-best", "3", "--format", "json"];
    let told = stdout(zhuyi(&RUNS).args(asked).args(texts));
    let told: Vec<Value> = lines(&told).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answer = served.post("/v1/translate", &json!({ "texts": texts, "n_best": 3, "source": "en" })).json();
    assert_same(&answer, &json!({ "model": "en-zh", "translations": told }));
    let wished = json!({ "text": texts[0], "prefix": "狗", "must": ["漂亮"] });
    let options = json!({ "beam": 8, "length_penalty": "mean:1" });
    let answer =
        served.post("/v1/translate", &json!({ "texts": [wished], "search": options, "model": "en-zh" })).json();
    let flags = ["--prefix", "狗", "--must", "漂亮", "--beam", "8", "--length-penalty", "mean:1"];
    let told = stdout(zhuyi(&RUNS).args(["translate", "--run", "runs/en-zh", texts[0]]).args(flags));
    assert_eq!(answer["translations"][0]["translation"], told.trim());
    // Chance, by the place in the request.
    let draw = json!({ "texts": texts, "n_best": 2, "search": { "method": "sample", "sampling": { "temperature": 1.5 } } });
    let flags = ["--sample", "--temperature", "1.5", "--n-best", "2", "--format", "json"];
    let told = stdout(zhuyi(&RUNS).args(["translate", "--run", "runs/en-zh"]).args(texts).args(flags));
    let told: Vec<Value> = lines(&told).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_same(&served.post("/v1/translate", &draw).json()["translations"], &json!(told));

    RUNS.write("pairs.tsv", "the cat eats fish\t猫 吃 鱼\ntom sleeps\t汤姆 睡觉\n");
    let pairs = json!({ "pairs": [
        { "source": "the cat eats fish", "target": "猫 吃 鱼" }, { "source": "tom sleeps", "target": "汤姆 睡觉" },
    ] });
    let align = |format: &str| {
        stdout(zhuyi(&RUNS).args(["align", "--run", "runs/en-zh", "--tsv", "pairs.tsv", "--format", format]))
    };
    let told = align("json");
    let told: Vec<Value> = lines(&told).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_same(&served.post("/v1/align", &pairs).json()["alignments"], &json!(told));
    let scores = served.post("/v1/score", &pairs).json();
    let scored = |line: &&str| {
        let (log_prob, tokens) = line.split_once('\t').unwrap();
        json!({ "log_prob": log_prob.parse::<f64>().unwrap(), "tokens": tokens.parse::<usize>().unwrap() })
    };
    assert_same(&scores["scores"], &lines(&align("scores")).iter().map(scored).collect());
    let models = served.get("/v1/models").json();
    assert_eq!((&models["models"][1]["id"], &models["models"][1]["target"]), (&json!("zh-en"), &json!("en")));
    assert_eq!(served.get("/openapi.json").json()["openapi"], "3.1.0");
    let metrics = served.get("/metrics").body;
    assert!(metrics.contains("zhuyi_answers_total{route=\"/v1/align\",status=\"200\"} 1\n"), "{metrics}");
}

/// Steps are those of a greedy translation; another word, and another place to look, lead elsewhere.
#[test]
fn steps_are_laid_open_and_can_be_changed() {
    let served = serve(&[]);
    let ask = |extra: Value| {
        let mut body = json!({ "text": "the cat eats fish", "source": "en" });
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        served.post("/v1/steps", &body)
    };
    let plain = ask(json!({})).json();
    let greedy = json!({ "texts": ["the cat eats fish"], "search": { "beam": 1 }, "view": { "level": "subword", "ends": true } });
    let greedy = served.post("/v1/translate", &greedy).json()["translations"][0].clone();
    assert_eq!((&plain["translation"], &plain["source"]), (&greedy["translation"], &greedy["source"]));
    let steps = plain["steps"].as_array().unwrap();
    for (step, row) in steps.iter().zip(greedy["weights"].as_array().unwrap()) {
        assert_same(&step["weights"], row);
        let of = |key: &str| step[key].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect::<Vec<_>>();
        assert!((of("parts").iter().sum::<f64>() - 1.0).abs() < 1e-5);
        // Softmax by hand of the scores that are told.
        let scores: Vec<f64> =
            step["scores"][0].as_array().unwrap().iter().map(|x| x.as_f64().unwrap().exp()).collect();
        let sum: f64 = scores.iter().sum();
        assert_same(&json!(scores.iter().map(|score| score / sum).collect::<Vec<_>>()), &step["weights"]);
        assert_eq!(step["next"].as_array().unwrap().len(), 5);
        assert_eq!(step["next"][0], step["token"]);
    }
    // Another word.
    let second = &steps[0]["next"][1];
    let other = ask(json!({ "written": [second["id"]] })).json();
    assert_eq!(other["steps"][0]["token"], *second);
    assert_ne!(other["translation"], plain["translation"]);
    // Its own weights change nothing; another word's do.
    let weights = &steps[0]["weights"];
    let own = ask(json!({ "instead": { "0": weights } })).json();
    assert_eq!((&own["translation"], &own["steps"][0]["told"]), (&plain["translation"], &json!(true)));
    let fish = ask(json!({ "instead": { "0": [0, 0, 0, 1, 0] } })).json();
    assert_same(&fish["steps"][0]["weights"], &json!([0, 0, 0, 1, 0]));
    assert_ne!(fish["steps"][0]["next"][0], steps[0]["next"][0]);
    for (extra, why) in [
        (json!({ "instead": { "0": [1, 0] } }), "5 weights are needed"),
        (json!({ "instead": { "0": [0, 0, 0, 0, 0] } }), "5 weights are needed"),
        (json!({ "written": [1_000_000] }), "1000000"),
    ] {
        let refused = ask(extra);
        assert!((400..500).contains(&refused.status) && refused.error().contains(why), "{refused:?}");
    }
}

/// A tree holds what the search finds, and heads can be switched off.
#[test]
fn a_beam_search_is_laid_open() {
    let served = serve(&[]);
    let texts = ["the cat eats fish"];
    let tree =
        served.post("/v1/tree", &json!({ "text": texts[0], "search": { "beam": 3 }, "source": "en" })).json();
    let search = json!({ "texts": texts, "n_best": 3, "search": { "beam": 3 }, "source": "en" });
    let found = served.post("/v1/translate", &search).json()["translations"][0]["hypotheses"].clone();
    for (grown, hypothesis) in tree["found"].as_array().unwrap().iter().zip(found.as_array().unwrap()) {
        assert_eq!(grown["translation"], hypothesis["translation"]);
        assert_same(&grown["score"], &hypothesis["score"]);
        let node = &tree["nodes"][grown["node"].as_u64().unwrap() as usize];
        assert_eq!((&node["log_prob"], &node["piece"]), (&grown["log_prob"], &json!("</s>")));
    }
    assert_eq!(tree["found"].as_array().unwrap().len(), found.as_array().unwrap().len());
    assert_eq!(served.post("/v1/tree", &json!({ "text": " " })).json()["nodes"], json!([]));
    for (path, body, why) in [
        ("/v1/tree", json!({ "text": "a", "search": { "beam": 17 } }), "16 in a tree"),
        ("/v1/tree", json!({ "text": "a", "search": { "method": "sample" } }), "search.method"),
        ("/v1/tree", json!({ "text": "cat ".repeat(200) }), "max_source = 128"),
        ("/v1/steps", json!({ "text": "cat ".repeat(200) }), "max_source = 128"),
        ("/v1/steps", json!({ "text": "a", "without": [1] }), "no heads to switch off"),
        ("/v1/steps", json!({ "text": "a", "written": vec![5; 2000] }), "2000 tokens written"),
    ] {
        let refused = served.post(path, &body);
        assert!((400..500).contains(&refused.status) && refused.error().contains(why), "{refused:?}");
    }
}

/// No text is in a log unless it is asked for.
#[test]
fn logs_hold_no_texts() {
    for (flags, is_there) in [(&["-v"][..], false), (&["-v", "--log-texts"], true)] {
        let log = RUNS.path(if is_there { "texts.log" } else { "plain.log" });
        let mut served = Served::start_logging(
            &RUNS,
            &[&BOTH[..], flags].concat(),
            std::fs::File::create(&log).unwrap().into(),
        );
        let told = served.post("/translate", &json!({ "q": "tom sleeps", "source": "en", "target": "zh" })).json();
        served.post("/v1/steps", &json!({ "text": "tom sleeps" }));
        served.end("-TERM");
        let log = std::fs::read_to_string(log).unwrap();
        assert!(log.contains("/translate") && log.contains("/v1/steps"), "{log}");
        assert_eq!(log.contains("tom sleeps"), is_there, "{log}");
        assert!(!log.contains(told["translatedText"].as_str().unwrap()), "{log}");
    }
}

/// Whoever asks and asks and reads nothing loses the connection.
#[test]
fn answers_that_nobody_reads_keep_no_place() {
    let served = serve(&["--timeout", "1", "--max-connections", "2"]);
    let mut greedy = served.connect();
    greedy.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let asked = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(100);
    // Until neither side has room for more.
    while greedy.write_all(&asked).is_ok() {}
    let open = || {
        let told = served.get("/metrics").body;
        let line = told.lines().find_map(|line| line.strip_prefix("zhuyi_connections "));
        line.unwrap().parse::<usize>().unwrap()
    };
    let patience = std::time::Instant::now();
    while open() > 1 {
        assert!(patience.elapsed() < Duration::from_secs(30), "the connection is still there");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// DNS rebinding: a site that gives our address to its own name does not reach us.
#[test]
fn a_server_answers_to_its_own_names() {
    let served = serve(&["--allow-host", "zhuyi.example"]);
    let ask = |host: &str| {
        let head = format!("GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        served.raw(head.as_bytes()).unwrap().status
    };
    for (host, status) in [
        (served.address.as_str(), 200),
        ("localhost:80", 200),
        ("zhuyi.example", 200),
        ("zhuyi.example:8080", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
    ] {
        assert_eq!(ask(host), status, "{host}");
    }
    assert_eq!(served.raw(b"GET /health HTTP/1.0\r\n\r\n").unwrap().status, 200);
}

/// Known fault P6: what is too much is refused at once, with the limit; so is what can't be meant.
#[test]
fn what_is_too_much_is_refused() {
    let served = serve(&["--max-characters", "20000", "--max-sentences", "500"]);
    let before = served.memory();
    let text = "the cat eats fish ".repeat(60_000);
    let many = "tom sleeps\n".repeat(1_000);
    let v1 = |extra: Value| {
        let mut body = json!({ "texts": ["tom sleeps"] });
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        ("/v1/translate", body)
    };
    let libre = |q: &str| ("/translate", json!({ "q": q, "source": "en", "target": "zh" }));
    for ((path, body), status, why) in [
        (libre(&text), 413, "a body may have 1048576 bytes"),
        (libre(&text[..100_000]), 413, "a request may have 20000"),
        (libre(&many), 413, "1000 sentences: a request may have 500"),
        (v1(json!({ "search": { "beam": 100_000 } })), 400, "search.beam must be 1 to 1000"),
        (v1(json!({ "search": { "beam": 1000 } })), 400, "search.beam may be 32 here"),
        (v1(json!({ "n_best": 1_000_000_000 })), 400, "n_best must be 1 to 32"),
        (v1(json!({ "search": { "max_extra": 1_000_000_000 } })), 400, "here they may have 2048"),
        (v1(json!({ "search": { "beem": 3 } })), 400, "unknown field `beem`"),
        (v1(json!({ "search": { "beam": "three" } })), 400, "invalid type"),
        (v1(json!({ "search": { "batch": 3 } })), 400, "search.batch is the server's to choose"),
        (v1(json!({ "model": "fr-de" })), 400, "en-zh (en to zh)"),
        (v1(json!({ "textes": [] })), 400, "unknown field `textes`"),
        (v1(json!({ "texts": [7] })), 400, "not what is expected"),
        (v1(json!({ "view": { "head": 9 } })), 400, "the heads 1 to 1"),
        (v1(json!({ "texts": [{ "text": "tom", "must": ["斑马"] }] })), 422, "can't be made to hold `斑马`"),
        (v1(json!({ "texts": [{ "text": "tom", "must": vec!["猫"; 200] }] })), 413, "may have 102 characters"),
        (v1(json!({ "texts": [{ "text": "tom", "prefix": "猫 ".repeat(400) }] })), 413, "prefix may have 512"),
        (
            v1(json!({ "texts": vec!["tom"; 100], "n_best": 32, "search": { "beam": 32 } })),
            413,
            "100 sentences times 32 translations",
        ),
        (v1(json!({ "view": { "step": "next" } })), 400, "/v1/align"),
        (
            ("/v1/score", json!({ "pairs": [{ "source": "tom", "target": &text[..9000] }] })),
            413,
            "8192 characters",
        ),
        (("/translate", json!({ "q": vec![""; 600], "source": "en", "target": "zh" })), 413, "600 sentences"),
        (libre(&text[..15_000]), 422, "more than search.max_source = 512"),
    ] {
        let refused = served.post(path, &body);
        assert_eq!(refused.status, status, "{why}: {}", refused.body);
        assert!(refused.error().contains(why), "{why}: {}", refused.body);
    }
    for (method, path, status) in [("GET", "/translate", 405), ("POST", "/health", 405), ("GET", "/no", 404)] {
        assert_eq!(served.request(method, path, &[], "").status, status);
    }
    for bytes in [
        &b"GET / HTTP/9\r\n\r\n"[..],
        b"\x16\x03\x01\x02\x00",
        b"POST /translate HTTP/1.1\r\nContent-Length: x\r\n\r\n",
    ] {
        assert!(served.raw(bytes).is_none_or(|answer| answer.status == 400), "{bytes:?}");
    }
    // Long, and read in one go.
    let marks = json!({ "q": "&".repeat(900_000), "source": "en", "target": "zh", "format": "html" });
    assert_eq!(served.post("/translate", &marks).status, 413);
    // A body without a told length that does not end.
    let mut endless = served.connect();
    endless
        .write_all(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        .unwrap();
    let chunk = [b"10000\r\n".as_slice(), &[b'a'; 0x10000], b"\r\n"].concat();
    while endless.write_all(&chunk).is_ok() {}
    assert!(served.memory() < before + (64 << 20), "{} of {before}", served.memory());
    assert_eq!(served.get("/health").status, 200);
}

/// Known fault P7: sixteen clients, two directions, two settings; every answer is the one that a single client gets, and the
/// server answers meanwhile.
#[test]
fn many_clients_get_what_one_gets() {
    let served = serve(&[]);
    let english = ["the cat eats fish", "tom sleeps", "she reads a good book every day", "welcome to shenzhen"];
    let requests: Vec<Value> = (0..80)
        .map(|i| match i % 4 {
            0 => json!({ "source": "zh", "texts": (["猫 吃 鱼", "汤姆 睡觉"][..1 + i / 4 % 2]) }),
            1 => json!({ "source": "en", "texts": (english[i % 3..]), "n_best": 2 }),
            2 => json!({ "source": "en", "texts": [english[i / 4 % 4]], "search": { "beam": 2 } }),
            _ => json!({ "source": "en", "texts": (english[..i % 5]) }),
        })
        .collect();
    let serial: Vec<Value> = requests.iter().map(|body| served.post("/v1/translate", body).json()).collect();
    std::thread::scope(|scope| {
        for client in 0..16 {
            let (served, requests, serial) = (&served, &requests, &serial);
            scope.spawn(move || {
                for i in 0..20 {
                    let i = (client * 37 + i * 11) % requests.len();
                    let told = served.post("/v1/translate", &requests[i]);
                    assert_eq!(told.status, 200, "{}", requests[i]);
                    assert_same(&told.json(), &serial[i]);
                }
            });
        }
        for _ in 0..20 {
            assert_eq!(served.get("/health").status, 200);
        }
    });
}

/// A client that hangs up frees its place, and one whose bytes do not come is sent away.
#[test]
fn clients_that_hang_up_or_dawdle_harm_nobody() {
    let served = serve(&["--max-waiting", "600", "--timeout", "5", "--max-characters", "4000000"]);
    let many: Vec<String> =
        (0..500).map(|i| format!("the cat eats fish {}", "and the dog sleeps ".repeat(i % 20))).collect();
    let body = json!({ "texts": many, "search": { "beam": 32 } }).to_string();
    let head = format!("POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", body.len());
    let mut clients: Vec<_> = (0..4).map(|_| served.connect()).collect();
    let mut told = Vec::new();
    for client in &mut clients {
        client.write_all(format!("{head}{body}").as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(100));
    }
    // The first waits or is computed, the others find no place.
    for client in &mut clients[1..] {
        told.push(answer(&mut BufReader::new(client)).unwrap());
    }
    assert!(told.iter().all(|it| it.status == 429 && it.header("retry-after") == Some("1")), "{told:?}");
    drop(clients);
    let mut tries = 0;
    while served.post("/v1/translate", &json!({ "texts": (many[..200]) })).status != 200 {
        tries += 1;
        assert!(tries < 20, "its place is not freed");
        std::thread::sleep(Duration::from_millis(100));
    }
    let mut slow = served.connect();
    slow.write_all(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{").unwrap();
    assert_eq!(answer(&mut BufReader::new(slow)).unwrap().status, 408);
    let mut silent = served.connect();
    silent.write_all(b"GET /health HT").unwrap();
    let mut rest = Vec::new();
    // Closed, with a word or without, long before this client would give up.
    assert!(silent.read_to_end(&mut rest).is_ok(), "the connection is closed");
    assert_eq!(served.get("/health").status, 200);
}

#[test]
fn keys_and_other_sites_are_let_in_where_they_are_named() {
    RUNS.write("keys.txt", "secret\n\nother\n");
    let served = serve(&["--api-keys", "keys.txt", "--allow-origin", "https://a.example"]);
    let body = json!({ "q": "tom sleeps", "source": "en", "target": "zh" });
    assert_eq!(served.post("/translate", &body).status, 401);
    let mut with_key = body.clone();
    with_key["api_key"] = "wrong".into();
    assert_eq!(served.post("/translate", &with_key).status, 403);
    with_key["api_key"] = "secret".into();
    assert_eq!(served.post("/translate", &with_key).status, 200);
    let texts = json!({ "texts": ["tom sleeps"] }).to_string();
    let bearer = |key: &str| served.request("POST", "/v1/translate", &[("Authorization", key)], &texts).status;
    assert_eq!([bearer("Bearer other"), bearer("Bearer no"), bearer("other")], [200, 403, 401]);
    let from = |origin: &str| {
        let answer = served.request("GET", "/health", &[("Origin", origin)], "");
        assert!(answer.header("content-security-policy").unwrap().contains("default-src 'none'"));
        answer.header("access-control-allow-origin").map(str::to_owned)
    };
    assert_eq!(
        (from("https://a.example").as_deref(), from("https://b.example")),
        (Some("https://a.example"), None)
    );
    // A page of another site is not even answered.
    let foreign = [("Origin", "https://b.example"), ("Authorization", "Bearer other")];
    assert_eq!(served.request("POST", "/v1/translate", &foreign, &texts).status, 403);
    assert_eq!(served.request("OPTIONS", "/translate", &[("Origin", "https://a.example")], "").status, 204);
}

/// Known fault D4: marks that control a model are text where a person types them. And P8: so is what looks like a program.
#[test]
fn what_people_type_is_text() {
    let served = serve(&[]);
    for text in [
        "please type </s> then <pad> and <s>",
        "a\" onmouseover=\"alert(1)",
        "<script>alert(1)</script>",
        "R&D <3",
        "a\u{1}b",
    ] {
        let told = served.post("/v1/translate", &json!({ "texts": [text] }));
        let right = stdout(zhuyi(&RUNS).args(["translate", "--run", "runs/en-zh", "--format", "json", text]));
        assert_same(&told.json()["translations"][0], &serde_json::from_str(&right).unwrap());
        assert_eq!(told.header("content-type"), Some("application/json"));
    }
}

/// What was taken is answered before the server ends.
#[test]
fn a_server_that_is_stopped_answers_what_it_has_taken() {
    for (signal, code) in [("-TERM", 143), ("-INT", 130)] {
        let mut served = serve(&[]);
        let texts: Vec<String> =
            (0..300).map(|i| format!("the cat eats fish {}", "and the dog ".repeat(i % 9))).collect();
        let body = json!({ "texts": texts }).to_string();
        let mut client = served.connect();
        let head =
            format!("POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", body.len());
        client.write_all(format!("{head}{body}").as_bytes()).unwrap();
        while !served.get("/metrics").body.contains("zhuyi_waiting_sentences 300") {
            std::thread::sleep(Duration::from_millis(5));
        }
        served.signal(signal);
        let told = answer(&mut BufReader::new(client)).unwrap();
        assert_eq!((told.status, told.json()["translations"].as_array().unwrap().len()), (200, 300));
        assert_eq!(served.end("-0"), Some(code));
    }
}

/// LibreTranslate's client for Python, as it is on PyPI; `.ci/run` has put it into the folder that is named.
#[test]
fn libretranslatepy_translates_through_it() {
    let Some(client) = std::env::var_os("ZHUYI_LIBRETRANSLATEPY") else {
        assert!(std::env::var_os("ZHUYI_REQUIRE_DATA").is_none(), "ZHUYI_LIBRETRANSLATEPY names no folder");
        return;
    };
    let served = serve(&[]);
    let script = "import json, sys
from libretranslatepy import LibreTranslateAPI
api = LibreTranslateAPI(sys.argv[1])
cat, fish = api.translate('the cat eats fish', 'en', 'zh'), api.translate('猫 吃 鱼', 'zh', 'en')
print(json.dumps([cat, fish, api.languages(), api.detect('猫 吃 鱼')]))";
    let address = format!("http://{}", served.address);
    let output =
        Command::new("python3").env("PYTHONPATH", client).args(["-c", script, &address]).output().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(told[0], translate("runs/en-zh", &["the cat eats fish"])[0]);
    assert_eq!(told[1], translate("runs/zh-en", &["猫 吃 鱼"])[0]);
    assert_eq!(told[2][1]["code"], "zh");
    assert_eq!(told[3][0]["language"], "zh");
}
