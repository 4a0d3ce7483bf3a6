//! The server as a whole: its threads, its start, its end, and new models in between.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use axum::http::HeaderValue;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, mpsc, watch};

use crate::api;
use crate::app::App;
use crate::catalogue::{Catalogue, Load};
use crate::connection;
use crate::engine::Engine;
use crate::error::ServeError;
use crate::keys::{Gate, Keys};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::queue::Queue;
use crate::record::{Log, Record};
use crate::store::Store;

/// How a server works.
pub struct Options {
    /// Where it listens, as `host:port`; port 0 takes a free one.
    pub listen: String,
    /// What it bears.
    pub limits: Limits,
    /// The keys, if it needs any.
    pub keys: Option<Keys>,
    /// Which other sites may use it, as `Access-Control-Allow-Origin` has it; none for no other.
    pub cors: Option<String>,
    /// Who is told of its work.
    pub log: Log,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:5000".to_owned(),
            limits: Limits::default(),
            keys: None,
            cors: Some("*".to_owned()),
            log: Box::new(|_| {}),
        }
    }
}

/// A server that listens.
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    app: Arc<App>,
    load: Arc<Load>,
    handle: Handle,
    stopping: watch::Receiver<bool>,
    reloading: mpsc::Receiver<()>,
    batch: usize,
}

/// Stops a server, or lets it load its models again. It can be used by any thread.
#[derive(Clone)]
pub struct Handle {
    stop: Arc<watch::Sender<bool>>,
    reload: mpsc::Sender<()>,
}

impl Handle {
    /// No new connections are accepted; requests that are under way are answered. Returns whether it was the first time.
    pub fn stop(&self) -> bool {
        !self.stop.send_replace(true)
    }

    /// The models are loaded again. Requests go on with the old ones until that is done, and if it fails.
    pub fn reload(&self) {
        // One that waits is enough.
        let _ = self.reload.try_send(());
    }
}

impl Server {
    /// Loads models and begins to listen. Connections wait until [`Server::run`].
    ///
    /// # Errors
    /// If models cannot be loaded, none are there, or the address is taken.
    pub fn bind(options: Options, load: Load) -> Result<Self, ServeError> {
        let Options { listen, limits, keys, cors, log } = options;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("server")
            .enable_all()
            .build()
            .map_err(ServeError::Threads)?;
        // Before models, which take longer: an address that is taken is known at once.
        let refused = |source| ServeError::Listen { address: listen.clone(), source };
        let listener = runtime.block_on(TcpListener::bind(&listen)).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let catalogue = Arc::new(Catalogue::load(&load)?);
        let batch = limits.batch.max(1);
        let app = Arc::new(App {
            catalogue: RwLock::new(catalogue),
            queue: Arc::new(Queue::new(limits.queue)),
            gate: Gate::new(keys, limits.rate),
            metrics: Arc::new(Metrics::new()),
            store: Store::new(limits.files, limits.file_time),
            log: Arc::new(log),
            requests: Arc::new(Semaphore::new(limits.requests.clamp(1, Semaphore::MAX_PERMITS))),
            cors: cors.and_then(|origin| HeaderValue::from_str(&origin).ok()),
            ready: AtomicBool::new(true),
            limits,
        });
        let (stop, stopping) = watch::channel(false);
        let (reload, reloading) = mpsc::channel(1);
        let handle = Handle { stop: Arc::new(stop), reload };
        let load = Arc::new(load);
        Ok(Self { runtime, listener, address, app, load, handle, stopping, reloading, batch })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The names of the models.
    pub fn models(&self) -> Vec<String> {
        self.app.catalogue().models.iter().map(|model| model.name.clone()).collect()
    }

    /// Stops it, or lets it load its models again.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Serves until it is stopped. `ready` is called once requests are answered.
    ///
    /// # Errors
    /// If a thread cannot start.
    pub fn run(self, ready: impl FnOnce()) -> Result<(), ServeError> {
        let Self { runtime, listener, app, load, handle, mut stopping, reloading, batch, .. } =
            self;
        let engine = Engine {
            queue: Arc::clone(&app.queue),
            metrics: Arc::clone(&app.metrics),
            log: Arc::clone(&app.log),
            batch,
        };
        let engine = engine.start()?;
        app.metrics.loads.inc();
        let router = api::router(&app);
        let stop = stopping.clone();
        let serving = runtime.spawn(connection::serve(Arc::clone(&app), router, listener, stop));
        let reloads = runtime.spawn(reload(Arc::clone(&app), load, reloading));
        notify_ready();
        ready();
        runtime.block_on(async {
            // The handle lives as long as this does, so that the channel is open.
            let _ = stopping.wait_for(|stop| *stop).await;
            app.ready.store(false, Ordering::Relaxed);
            notify_stopping();
            (app.log)(&Record::Stopping);
            let _ = serving.await;
        });
        drop(handle);
        reloads.abort();
        app.queue.close();
        // What is left belongs to nobody: connections have ended, or were given up.
        runtime.shutdown_background();
        let _ = engine.join();
        Ok(())
    }
}

/// Loads models again whenever somebody asks for it, beside the work with the old ones.
async fn reload(app: Arc<App>, load: Arc<Load>, mut asked: mpsc::Receiver<()>) {
    while asked.recv().await.is_some() {
        notify_reloading();
        let load = Arc::clone(&load);
        let loaded = tokio::task::spawn_blocking(move || Catalogue::load(&load)).await;
        match loaded {
            Ok(Ok(new)) => {
                let new = Arc::new(new);
                *app.catalogue.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&new);
                app.metrics.loads.inc();
                let models = new.models.iter().map(|model| model.name.as_str()).collect();
                (app.log)(&Record::Loaded { models });
            }
            Ok(Err(error)) => {
                let reason = chain(&error);
                (app.log)(&Record::LoadFailed { reason: &reason });
            }
            Err(_) => (app.log)(&Record::LoadFailed { reason: "loading panicked" }),
        }
        notify_ready();
    }
}

/// An error with all that it comes from.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let said = error.to_string();
        if !text.ends_with(&said) {
            text = format!("{text}: {said}");
        }
        source = error.source();
    }
    text
}

#[cfg(unix)]
fn notify_ready() {
    // Where systemd did not start us, nothing happens.
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Ready]);
}

#[cfg(unix)]
fn notify_reloading() {
    if let Ok(now) = sd_notify::NotifyState::monotonic_usec_now() {
        let _ = sd_notify::notify(&[sd_notify::NotifyState::Reloading, now]);
    }
}

#[cfg(unix)]
fn notify_stopping() {
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Stopping]);
}

#[cfg(not(unix))]
fn notify_ready() {}
#[cfg(not(unix))]
fn notify_reloading() {}
#[cfg(not(unix))]
fn notify_stopping() {}
