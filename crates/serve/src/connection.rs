//! Connections: accepted up to a limit, bounded in the time of their heads, and ended in good order.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use crate::app::{App, Peer};
use crate::record::Record;

/// How long the head of a request may take; a connection without a request is closed after it, too.
const HEAD: Duration = Duration::from_mins(1);
/// How long nothing is accepted after the system refused to.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves connections until the server is to stop, and lets those end that are under way.
pub(crate) async fn serve(
    app: Arc<App>,
    router: Router,
    listener: TcpListener,
    mut stop: watch::Receiver<bool>,
) {
    let graceful = GracefulShutdown::new();
    // Who comes when all are taken waits in the system's queue.
    let slots = Arc::new(Semaphore::new(app.limits.connections));
    loop {
        let slot = tokio::select! {
            slot = Arc::clone(&slots).acquire_owned() => slot,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let Ok(slot) = slot else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let Ok((stream, address)) = accepted else {
            // Out of file descriptors, mostly.
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // Answers are small and should not wait for more.
        let _ = stream.set_nodelay(true);
        let inner = TowerToHyperService::new(router.clone());
        let service = service_fn(move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(Peer(address.ip()));
            inner.call(request)
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        let metrics = Arc::clone(&app.metrics);
        tokio::spawn(async move {
            metrics.connections.inc();
            // Whoever goes away does so.
            let _ = connection.await;
            metrics.connections.dec();
            drop(slot);
        });
    }
    drop(listener);
    let time = app.limits.shutdown;
    if tokio::time::timeout(time, graceful.shutdown()).await.is_err() {
        let connections = usize::try_from(app.metrics.connections.get()).unwrap_or(0);
        (app.log)(&Record::Abandoned { connections });
    }
}
