//! A browser to look at pages with.

use std::process::{Command, Stdio};

/// Debian's Chromium, or whatever `CHROMIUM` names. Without one a test says so and passes; under
/// `ZHUYI_REQUIRE_BROWSER` (CI) it fails.
pub fn chromium() -> Option<String> {
    let name = std::env::var("CHROMIUM").unwrap_or_else(|_| "chromium".into());
    let there = Command::new(&name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if there.is_ok_and(|status| status.success()) {
        return Some(name);
    }
    assert!(std::env::var_os("ZHUYI_REQUIRE_BROWSER").is_none(), "no {name} here");
    eprintln!("skipped: no {name} (set CHROMIUM)");
    None
}
