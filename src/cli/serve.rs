//! `zhuyi serve`.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::output::{note, print, warn};
use super::signals::Signals;
use super::{DeviceArgs, RUNS, RunArgs};
use zhuyi::corpus::read;
use zhuyi::kernels::Precision;
use zhuyi::ranks::Ranks;
use zhuyi::run::RunDir;
use zhuyi::server::{Limits, Server, Settings};
use zhuyi::translator::Translator;
use zhuyi::{Error, Result};

/// Serve translations over HTTP: LibreTranslate's API, and one with alignments.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  zhuyi serve --run runs/en-zh --run runs/zh-en
  curl -s localhost:5000/translate -d q='the cat eats fish' -d source=en -d target=zh
  curl -s localhost:5000/v1/translate -d '{\"texts\": [\"the cat eats fish\"], \"n_best\": 3}'")]
pub struct ServeArgs {
    /// A run to serve, called by the name of its folder; may be repeated [default: the newest run in runs/]
    #[arg(long, value_name = "DIR")]
    run: Vec<PathBuf>,
    #[command(flatten)]
    device: DeviceArgs,
    /// Multiply with weights in 8 bits, on the processor and with plain attention: faster, and a little off
    #[arg(long)]
    int8: bool,
    /// The address to listen at; 0.0.0.0 lets other machines in
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,
    /// The port; 0 for any that is free
    #[arg(long, value_name = "N", default_value_t = 5000)]
    port: u16,
    /// A file of keys, one a line, of which requests must bring one
    #[arg(long, value_name = "FILE")]
    api_keys: Option<PathBuf>,
    /// A site whose pages may ask, as https://example.org, or * for all; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
    /// A name by which this server may be called, beside localhost and addresses, where only this machine reaches it; may be
    /// repeated
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Log the texts of requests, with -v
    #[arg(long)]
    log_texts: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

/// [`Limits`] from the command line.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
struct LimitArgs {
    /// Bytes of a request's body
    #[arg(long, value_name = "N", default_value_t = Limits::default().body)]
    max_body: usize,
    /// Characters of all texts of a request
    #[arg(long, value_name = "N", default_value_t = Limits::default().characters)]
    max_characters: usize,
    /// Sentences of a request
    #[arg(long, value_name = "N", default_value_t = Limits::default().sentences)]
    max_sentences: usize,
    /// The widest beam, and the most translations of a sentence
    #[arg(long, value_name = "N", default_value_t = Limits::default().beam as u64, value_parser = clap::value_parser!(u64).range(1..=1000))]
    max_beam: u64,
    /// Tokens of a sentence
    #[arg(long, value_name = "N", default_value_t = Limits::default().tokens as u64, value_parser = clap::value_parser!(u64).range(2..))]
    max_tokens: u64,
    /// Sentences that may wait, of all requests together
    #[arg(long, value_name = "N", default_value_t = Limits::default().waiting)]
    max_waiting: usize,
    /// Connections at a time
    #[arg(long, value_name = "N", default_value_t = Limits::default().connections as u64, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    max_connections: u64,
    /// Seconds that a request may take
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().timeout.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
}

pub fn run(args: &ServeArgs) -> anyhow::Result<()> {
    let signals = Signals::watch()?;
    let settings = args.settings()?;
    let runs = match args.run.as_slice() {
        [] => vec![RunDir::find(None, Path::new(RUNS))?],
        runs => runs.iter().map(|run| RunDir::find(Some(run), Path::new(RUNS))).collect::<Result<_>>()?,
    };
    let models = runs.iter().map(|run| args.open(run)).collect::<Result<Vec<_>>>()?;
    let server = Server::bind(SocketAddr::new(args.host, args.port), models, settings)?;
    if !args.host.is_loopback() && args.api_keys.is_none() {
        warn("whoever reaches this machine may ask: --api-keys lets in only those who bring one");
    }
    print(&format!("http://{}", server.address()?))?;
    server.run(signals.flag())?;
    note("stopped");
    Err(signals.interrupted())
}

impl ServeArgs {
    /// A run's model with its name, that of its folder.
    fn open(&self, run: &RunDir) -> Result<(String, Translator)> {
        let name = run.path().file_name().map_or_else(|| "run".into(), |name| name.to_string_lossy().into_owned());
        let device = DeviceArgs { device: self.device.device.clone() };
        let asked = RunArgs { run: Some(run.path().to_path_buf()), without_head: Vec::new(), device };
        Ok((name, asked.open(&Ranks::default())?))
    }

    fn settings(&self) -> Result<Settings> {
        let api_keys = match &self.api_keys {
            Some(path) => keys(path)?,
            None => Vec::new(),
        };
        let limits = Limits {
            body: self.limits.max_body,
            characters: self.limits.max_characters,
            sentences: self.limits.max_sentences,
            beam: self.limits.max_beam as usize,
            tokens: self.limits.max_tokens as usize,
            waiting: self.limits.max_waiting,
            connections: self.limits.max_connections as usize,
            timeout: Duration::from_secs(self.limits.timeout),
        };
        let precision = if self.int8 { Precision::Int8 } else { Precision::F32 };
        let (origins, hosts) = (self.allow_origin.clone(), self.allow_host.clone());
        Ok(Settings { limits, api_keys, origins, hosts, log_texts: self.log_texts, precision })
    }
}

/// The keys of a file; blank lines are none.
fn keys(path: &Path) -> Result<Vec<String>> {
    let lines = read::lines_of(path)?;
    let keys: Vec<String> =
        lines.iter().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect();
    match keys.is_empty() {
        true => Err(Error::data(path, "no key: write one a line")),
        false => Ok(keys),
    }
}
