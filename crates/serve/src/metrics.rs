//! What Prometheus reads: requests and their latency, the queue, batches, steps.

use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// Requests are counted by route and status.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    route: String,
}

type Seconds = Family<Route, Histogram, fn() -> Histogram>;

/// All numbers.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Answered, Counter>,
    seconds: Seconds,
    /// Sentences that wait.
    pub(crate) queue: Gauge,
    /// Requests that are worked on.
    pub(crate) active: Gauge,
    /// Open connections.
    pub(crate) connections: Gauge,
    batches: Histogram,
    batch_seconds: Histogram,
    sentences: Counter,
    source_tokens: Counter,
    target_tokens: Counter,
    steps: Histogram,
    /// Sentences that were cancelled while they were decoded.
    pub(crate) cancelled: Counter,
    /// Sentences that could not be decoded.
    pub(crate) failed: Counter,
    /// How often models were loaded.
    pub(crate) loads: Counter,
}

fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.0, 16))
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("padir"),
            requests: Family::default(),
            seconds: Family::new_with_constructor(seconds),
            queue: Gauge::default(),
            active: Gauge::default(),
            connections: Gauge::default(),
            batches: Histogram::new(exponential_buckets(1.0, 2.0, 9)),
            batch_seconds: seconds(),
            sentences: Counter::default(),
            source_tokens: Counter::default(),
            target_tokens: Counter::default(),
            steps: Histogram::new([1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 32.0, 64.0]),
            cancelled: Counter::default(),
            failed: Counter::default(),
            loads: Counter::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let all = &mut self.registry;
        all.register("requests", "Requests by route and status", self.requests.clone());
        all.register("request_seconds", "Time to the head of the answer", self.seconds.clone());
        all.register("queue_sentences", "Sentences that wait", self.queue.clone());
        all.register("active_requests", "Requests that are worked on", self.active.clone());
        all.register("connections", "Open connections", self.connections.clone());
        all.register("batch_sentences", "Sentences of a batch", self.batches.clone());
        all.register("batch_seconds", "Time of a batch", self.batch_seconds.clone());
        all.register("sentences", "Sentences translated", self.sentences.clone());
        all.register("source_tokens", "Source tokens, ends included", self.source_tokens.clone());
        all.register("target_tokens", "Target tokens, ends excluded", self.target_tokens.clone());
        all.register("steps", "Decoding steps of a sentence", self.steps.clone());
        all.register("cancelled_sentences", "Cancelled while decoded", self.cancelled.clone());
        all.register(
            "failed_sentences",
            "Sentences that could not be decoded",
            self.failed.clone(),
        );
        all.register("model_loads", "How often models were loaded", self.loads.clone());
    }

    pub(crate) fn note_request(&self, route: &str, status: u16, time: Duration) {
        let labels = Answered { route: route.to_owned(), status };
        self.requests.get_or_create(&labels).inc();
        let route = Route { route: route.to_owned() };
        self.seconds.get_or_create(&route).observe(time.as_secs_f64());
    }

    pub(crate) fn note_batch(&self, sentences: usize, time: Duration) {
        self.batches.observe(sentences as f64);
        self.batch_seconds.observe(time.as_secs_f64());
    }

    pub(crate) fn note_sentence(&self, source: usize, target: usize, steps: usize) {
        self.sentences.inc();
        self.source_tokens.inc_by(source as u64);
        self.target_tokens.inc_by(target as u64);
        self.steps.observe(steps as f64);
    }

    /// All numbers as text.
    pub(crate) fn text(&self) -> String {
        let mut all = String::new();
        // Writing to a string does not fail.
        let _ = text::encode(&mut all, &self.registry);
        all
    }
}
