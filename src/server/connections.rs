//! Sockets: accepted one by one, at most so many at a time, closed when their request has been answered and the server stops.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::sync::Semaphore;

use super::app::{App, router};
use super::patience::Patient;
use crate::error::{Error, Result};

/// How often it is looked whether to stop.
const LOOK: Duration = Duration::from_millis(50);

/// Serves until `stop` is no longer 0; then the queue is closed, and what was taken is answered.
pub(super) fn serve(listener: TcpListener, app: Arc<App>, stop: Arc<AtomicUsize>) -> Result<()> {
    // However this ends: nothing will come any more, and whoever computes may end.
    let _closes = Closes(Arc::clone(&app));
    let failed = |why: std::io::Error| Error::Usage(format!("can't serve: {why}"));
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .and_then(|runtime| runtime.block_on(accept_all(listener, Arc::clone(&app), stop)))
        .map_err(failed)
}

/// Closes the queue when it is dropped.
struct Closes(Arc<App>);

impl Drop for Closes {
    fn drop(&mut self) {
        self.0.queue.close();
    }
}

async fn accept_all(listener: TcpListener, app: Arc<App>, stop: Arc<AtomicUsize>) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let limits = app.settings.limits;
    let places = Arc::new(Semaphore::new(limits.connections));
    let service = TowerToHyperService::new(router(Arc::clone(&app)));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.timeout).max_buf_size(MOST_HEADERS);
    let graceful = GracefulShutdown::new();
    let stopped = async {
        while stop.load(Ordering::Relaxed) == 0 {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::pin!(stopped);
    loop {
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place,
            () = &mut stopped => break,
        };
        let socket = tokio::select! {
            socket = listener.accept() => socket,
            () = &mut stopped => break,
        };
        let (Ok(place), Ok((socket, _))) = (place, socket) else {
            // No file handles left, most likely: others will be given back.
            tokio::time::sleep(LOOK).await;
            continue;
        };
        // Answers are small and wanted at once.
        let _ = socket.set_nodelay(true);
        let connection = graceful
            .watch(http.serve_connection(TokioIo::new(Patient::new(socket, limits.timeout)), service.clone()));
        let app = Arc::clone(&app);
        tokio::spawn(async move {
            let _open = Open::one(&app);
            if let Err(why) = connection.await {
                tracing::debug!(%why, "a connection broke off");
            }
            drop(place);
        });
    }
    drop(listener);
    // Nobody is kept waiting for ever by a connection that says nothing.
    let _ = tokio::time::timeout(limits.timeout, graceful.shutdown()).await;
    Ok(())
}

/// A connection is counted as long as this lives, however it ends.
struct Open<'a>(&'a AtomicUsize);

impl<'a> Open<'a> {
    fn one(app: &'a App) -> Self {
        let open = app.metrics.connections();
        open.fetch_add(1, Ordering::Relaxed);
        Self(open)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Bytes of a request's head.
const MOST_HEADERS: usize = 64 << 10;
