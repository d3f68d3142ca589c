//! zhuyi
fn main() {}
