//! Translation over HTTP: LibreTranslate's API, for clients that speak it, our own with alignments, n-best lists and
//! every option of search, and a page to watch attention work.
//!
//! ```text
//! connections ── app ──┬── libre     /translate /languages /health /frontend/settings
//!   (sockets)  (routes)├── v1        /v1/translate /v1/align /v1/score /v1/models
//!                      ├── inside    /v1/steps /v1/tree    runs   /v1/runs
//!                      ├── pages     / /page/… /lessons/…
//!                      └── openapi   /openapi.json    metrics   /metrics
//!                             │ jobs: some sentences, and how
//!                           queue ── work (one thread: what waits together is computed together)
//! ```
//!
//! Sockets live on threads of their own. Everything that computes runs on the thread that serves, round by round: each round
//! takes what waits for the same model with the same options, a few sentences of each request in turn, so that a long one keeps
//! no short one waiting.

mod app;
mod body;
mod catalog;
mod connections;
mod html;
mod inside;
mod libre;
mod limits;
mod metrics;
mod openapi;
mod pages;
mod patience;
mod queue;
mod refusal;
mod runs;
mod texts;
mod v1;
mod work;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use crate::error::{Error, Result};
use crate::kernels::Precision;
use crate::translator::Translator;
use app::App;
use catalog::Catalog;
use queue::Queue;

pub use limits::Limits;

/// How a server serves.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// What it takes.
    pub limits: Limits,
    /// Keys of which a request must bring one; nobody needs any where there are none.
    pub api_keys: Vec<String>,
    /// Other sites whose pages may ask (CORS): `https://example.org`, or `*` for all.
    pub origins: Vec<String>,
    /// Names by which requests may call a server that only this machine reaches, beside `localhost` and addresses.
    pub hosts: Vec<String>,
    /// Whether texts are logged.
    pub log_texts: bool,
    /// In how many bits weights are multiplied with, where a model can.
    pub precision: Precision,
}

/// A server that has its address and has not begun to serve.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    app: Arc<App>,
    translators: Vec<Translator>,
}

impl Server {
    /// Takes an address for some models, each with the name that requests call it by.
    ///
    /// # Errors
    /// An address that is taken or not ours; two models with one name.
    pub fn bind(address: SocketAddr, models: Vec<(String, Translator)>, settings: Settings) -> Result<Self> {
        if settings.limits.beam == 0 {
            return Err(Error::Usage("a beam must be at least 1 wide".into()));
        }
        let listener = TcpListener::bind(address)
            .map_err(|why| Error::Usage(format!("can't listen on {address}: {why}; take another --port")))?;
        let catalog = Catalog::of(&models, &settings)?;
        let queue = Queue::new(settings.limits.waiting);
        let app = Arc::new(App::new(catalog, queue, settings, address.ip().is_loopback()));
        Ok(Self { listener, app, translators: models.into_iter().map(|(_, translator)| translator).collect() })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// What the system says.
    pub fn address(&self) -> Result<SocketAddr> {
        self.listener.local_addr().map_err(|why| Error::Usage(format!("no address: {why}")))
    }

    /// Serves until `stop` is no longer 0, then answers what it has taken and ends.
    ///
    /// # Errors
    /// A system without threads or sockets left.
    pub fn run(self, stop: Arc<AtomicUsize>) -> Result<()> {
        let Self { listener, app, translators } = self;
        let sockets = {
            let app = Arc::clone(&app);
            std::thread::Builder::new()
                .name("sockets".into())
                .spawn(move || connections::serve(listener, app, stop))
                .map_err(|why| Error::Usage(format!("no thread for connections: {why}")))?
        };
        work::until_closed(&app, &translators);
        sockets.join().unwrap_or_else(|_| Err(Error::Usage("the thread for connections broke off".into())))
    }
}
