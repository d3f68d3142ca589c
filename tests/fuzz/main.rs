//! Every parser that meets a stranger's bytes meets many: what is kept in `corpus/` first, then ever new changes of it, for
//! `ZHUYI_FUZZ_SECONDS` (3 where nothing is said). What breaks a parser is written into `corpus/` and stays there.
//! `scripts/fuzz.sh` does it for long.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod files;
mod given;
#[cfg(feature = "server")]
#[path = "../support/http.rs"]
#[allow(dead_code)]
mod http;
#[cfg(feature = "server")]
mod json;
mod mutate;
#[path = "../support/person.rs"]
#[allow(dead_code)]
mod person;
mod runs;

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

use given::Given;

/// Gives a parser, which panics where it finds something wrong, all that is kept and much that is new.
fn fuzz(name: &str, kept: Vec<Given>, words: &[&str], parse: impl Fn(&Given)) {
    for given in &kept {
        let held = catch_unwind(AssertUnwindSafe(|| parse(given)));
        assert!(held.is_ok(), "{} of the kept corpus", given.name);
    }
    let seconds = std::env::var("ZHUYI_FUZZ_SECONDS").map_or(3, |seconds| seconds.parse().unwrap());
    let (began, cases) = (Instant::now(), Cell::new(0_u64));
    let slowest = RefCell::new((Duration::ZERO, Vec::new()));
    let strategy = mutate::changed(kept, words);
    while began.elapsed() < Duration::from_secs(seconds) {
        let config = Config { cases: 64, failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() };
        let told = TestRunner::new(config).run(&strategy, |given| {
            let began = Instant::now();
            let held = catch_unwind(AssertUnwindSafe(|| parse(&given)));
            let took = began.elapsed();
            cases.set(cases.get() + 1);
            if took > slowest.borrow().0 {
                *slowest.borrow_mut() = (took, given.bytes.clone());
            }
            held.map_err(|_| TestCaseError::fail("it panicked"))
        });
        if let Err(why) = told {
            match why {
                TestError::Fail(why, given) => panic!("{why}; kept as {}", keep(name, &given).display()),
                TestError::Abort(why) => panic!("{why}"),
            }
        }
    }
    let (took, given) = slowest.into_inner();
    println!(
        "{name}: {} cases in {:.0} s without a crash; the slowest took {took:.0?}: {}",
        cases.get(),
        began.elapsed().as_secs_f64(),
        String::from_utf8_lossy(&given[..given.len().min(80)]).escape_debug()
    );
}

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(name)
}

/// Writes what broke a parser into the corpus.
fn keep(name: &str, given: &Given) -> PathBuf {
    let digest = zhuyi::hash::sha256_hex(&given.bytes);
    let path = corpus(name).join(format!("{}.broke-{}", given.kind, &digest[..8]));
    std::fs::write(&path, &given.bytes).unwrap();
    path
}
