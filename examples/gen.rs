fn main() {
    let c = zhuyi::corpus::toy::generate(1);
    for (n, p) in [("train", &c.train), ("dev", &c.dev), ("test", &c.test)] {
        std::fs::write(format!("data/toy/{n}.tsv"), zhuyi::corpus::toy::to_tsv(p)).unwrap();
    }
}
