//! What all requests share, and what happens to each of them before and after its handler.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use padir_decode::Decoding;
use padir_decode::padir::Template;
use padir_translate::Alternative;
use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::api::fields::Fields;
use crate::catalogue::{Catalogue, Model};
use crate::error::Refusal;
use crate::keys::{Client, Gate};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::order::{Order, Receipt, Wish, steps_of};
use crate::queue::Queue;
use crate::record::{Log, Record};
use crate::segment::Layout;
use crate::store::Store;

/// What all requests share.
pub(crate) struct App {
    pub(crate) catalogue: RwLock<Arc<Catalogue>>,
    pub(crate) queue: Arc<Queue>,
    pub(crate) gate: Gate,
    pub(crate) limits: Limits,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) store: Store,
    pub(crate) log: Arc<Log>,
    pub(crate) requests: Arc<Semaphore>,
    /// Of other sites that may use this server; none for no other.
    pub(crate) cors: Option<HeaderValue>,
    /// Whether new requests are welcome.
    pub(crate) ready: AtomicBool,
}

/// The address a connection comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// A request that is worked on.
#[derive(Clone)]
pub(crate) struct Active {
    /// When its time is up.
    pub(crate) until: tokio::time::Instant,
    pub(crate) peer: IpAddr,
    key: Option<String>,
    /// Held as long as somebody works on it.
    _permit: Arc<Permit>,
}

struct Permit {
    _permit: OwnedSemaphorePermit,
    metrics: Arc<Metrics>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.metrics.active.dec();
    }
}

/// Lets a request in if there are not too many.
pub(crate) async fn bound(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Ok(permit) = Arc::clone(&app.requests).try_acquire_owned() else {
        return Refusal::Busy("too many requests at a time").into_response();
    };
    app.metrics.active.inc();
    let permit = Arc::new(Permit { _permit: permit, metrics: Arc::clone(&app.metrics) });
    let peer = request.extensions().get::<Peer>().map(|peer| peer.0);
    let active = Active {
        until: tokio::time::Instant::now() + app.limits.time,
        peer: peer.unwrap_or(IpAddr::from([0, 0, 0, 0])),
        key: key_in_header(request.headers()),
        _permit: permit,
    };
    request.extensions_mut().insert(active);
    next.run(request).await
}

fn key_in_header(headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let bearer = text("authorization").and_then(|value| value.strip_prefix("Bearer "));
    bearer.or_else(|| text("x-api-key")).map(|key| key.trim().to_owned())
}

/// Counts and logs every request, and says to browsers what they may do with the answer.
pub(crate) async fn observe(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let route = route.unwrap_or_else(|| "other".to_owned());
    let preflight = method == Method::OPTIONS;
    let mut response =
        if preflight { StatusCode::NO_CONTENT.into_response() } else { next.run(request).await };
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if let Some(origin) = &app.cors {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        let methods = HeaderValue::from_static("GET, POST");
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
        let allowed = HeaderValue::from_static("Authorization, Content-Type, X-API-Key");
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, allowed);
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    }
    let (status, time) = (response.status().as_u16(), started.elapsed());
    app.metrics.note_request(&route, status, time);
    let milliseconds = (time.as_secs_f64() * 1e5).round() / 100.0;
    let record = Record::Request { method: method.as_str(), route: &route, status, milliseconds };
    (app.log)(&record);
    response
}

/// A text and the model for it.
pub(crate) struct Item {
    pub(crate) text: String,
    pub(crate) model: Arc<Model>,
    /// Whether it stays as it is: it is in the target's language already.
    pub(crate) kept: bool,
}

impl Item {
    fn layout(&self) -> Layout {
        if self.kept { Layout::kept(&self.text) } else { Layout::of(&self.text) }
    }
}

/// How texts are translated.
#[derive(Default)]
pub(crate) struct How {
    /// Changes of the model's settings.
    pub(crate) settings: Map<String, Value>,
    /// How many of the best are wanted; 0 is 1.
    pub(crate) nbest: usize,
    /// What the only sentence starts from.
    pub(crate) template: Option<Template>,
    /// Whether steps are wanted.
    pub(crate) watched: bool,
}

/// A text whose sentences are translated.
pub(crate) struct Translated {
    pub(crate) layout: Layout,
    /// The alternatives of each sentence.
    pub(crate) sentences: Vec<Arc<Vec<Alternative>>>,
}

impl Translated {
    /// The distinct alternatives of the whole text, best first: of number i of each sentence, or of its last if it has fewer.
    pub(crate) fn texts(&self, most: usize) -> Vec<String> {
        let count =
            self.sentences.iter().map(|list| list.len()).max().unwrap_or(1).clamp(1, most.max(1));
        let mut texts: Vec<String> = Vec::new();
        for i in 0..count {
            let text =
                self.layout.join(self.choose(i).map(|alternative| alternative.text.as_str()));
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts
    }

    /// The best of the whole text.
    pub(crate) fn text(&self) -> String {
        self.layout.join(self.choose(0).map(|alternative| alternative.text.as_str()))
    }

    /// Number i of each sentence.
    pub(crate) fn choose(&self, i: usize) -> impl Iterator<Item = &Alternative> {
        self.sentences.iter().filter_map(move |list| list.get(i).or_else(|| list.last()))
    }
}

/// Texts that wait for the engine.
pub(crate) struct Waiting {
    layouts: Vec<Layout>,
    /// For each sentence of each text its order, and its number there.
    places: Vec<Vec<(usize, usize)>>,
    pub(crate) receipts: Vec<Receipt>,
    found: Vec<Vec<Option<Arc<Vec<Alternative>>>>>,
}

impl App {
    /// The models at this moment.
    pub(crate) fn catalogue(&self) -> Arc<Catalogue> {
        Arc::clone(&self.catalogue.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Relaxed)
    }

    /// Reads a request and lets its client in.
    pub(crate) async fn admit(
        &self,
        active: &Active,
        request: Request,
    ) -> Result<(Client, Fields), Refusal> {
        let fields = Fields::read(request, self.limits.body, active.until).await?;
        let key = fields.values.get("api_key").and_then(Value::as_str).or(active.key.as_deref());
        let client = self.gate.admit(active.peer, key)?;
        Ok((client, fields))
    }

    /// A model's way of decoding with what a request changes.
    pub(crate) fn decoding(
        &self,
        model: &Model,
        changes: &Map<String, Value>,
    ) -> Result<Arc<Decoding>, Refusal> {
        if changes.is_empty() {
            return Ok(Arc::clone(&model.decoding));
        }
        let decoding = model.decoding.with(changes, &model.abilities)?;
        decoding.check_for(&model.abilities)?;
        let (steps, most) = (steps_of(&decoding), self.limits.steps);
        if steps > most {
            return Err(Refusal::Invalid(format!(
                "{steps} steps; this server takes at most {most}"
            )));
        }
        let (search, most) = (decoding.cost(model.vocabulary_size), self.limits.search);
        if search > most {
            return Err(Refusal::Invalid(format!(
                "a search of this size takes {search} times the memory of one hypothesis; this server allows {most}"
            )));
        }
        Ok(Arc::new(decoding))
    }

    /// Puts texts into the queue.
    pub(crate) fn submit(
        &self,
        client: &Client,
        items: &[Item],
        how: &How,
    ) -> Result<Waiting, Refusal> {
        let characters: usize = items.iter().map(|item| item.text.chars().count()).sum();
        if characters > self.limits.characters {
            let most = self.limits.characters;
            return Err(Refusal::TooLarge(format!(
                "{characters} characters; at most {most} are translated"
            )));
        }
        let layouts: Vec<Layout> = items.iter().map(Item::layout).collect();
        let count: usize = layouts.iter().map(|layout| layout.sentences().count()).sum();
        if count > self.limits.sentences {
            let most = self.limits.sentences;
            return Err(Refusal::TooLarge(format!(
                "{count} sentences; at most {most} are translated"
            )));
        }
        if how.template.is_some() && count != 1 {
            return Err(Refusal::Invalid(format!(
                "`force` is for one sentence; there are {count}"
            )));
        }
        let mut groups: Vec<(Arc<Model>, Vec<String>)> = Vec::new();
        let mut places = Vec::with_capacity(items.len());
        for (item, layout) in items.iter().zip(&layouts) {
            let same = |(model, _): &(Arc<Model>, _)| Arc::ptr_eq(model, &item.model);
            let group = groups.iter().position(same).unwrap_or_else(|| {
                groups.push((Arc::clone(&item.model), Vec::new()));
                groups.len() - 1
            });
            let list = &mut groups[group].1;
            let place = |sentence: &str| {
                list.push(sentence.to_owned());
                (group, list.len() - 1)
            };
            places.push(layout.sentences().map(place).collect());
        }
        let mut orders = Vec::with_capacity(groups.len());
        let mut receipts = Vec::with_capacity(groups.len());
        for (model, sentences) in groups {
            let decoding = self.decoding(&model, &how.settings)?;
            let (order, receipt) = Order::new(Wish {
                model,
                sentences,
                decoding,
                template: how.template.clone(),
                nbest: how.nbest.max(1),
                watched: how.watched,
            });
            orders.push(order);
            receipts.push(receipt);
        }
        let full = |_| Refusal::Busy("too many sentences wait");
        self.queue.submit(client, orders).map_err(full)?;
        self.metrics.queue.set(self.queue.len() as i64);
        let found = receipts.iter().map(|receipt| vec![None; receipt.sentences]).collect();
        Ok(Waiting { layouts, places, receipts, found })
    }

    /// Translates texts.
    pub(crate) async fn translate(
        &self,
        active: &Active,
        client: &Client,
        items: &[Item],
        how: &How,
    ) -> Result<Vec<Translated>, Refusal> {
        let mut waiting = self.submit(client, items, how)?;
        let all = async {
            for at in 0..waiting.receipts.len() {
                for _ in 0..waiting.receipts[at].sentences {
                    let answer =
                        waiting.receipts[at].answers.recv().await.ok_or(Refusal::Failed)?;
                    waiting.found[at][answer.sentence] = Some(answer.alternatives?);
                }
            }
            Ok::<(), Refusal>(())
        };
        let late = |_| Refusal::Late(self.limits.time.as_secs());
        tokio::time::timeout_at(active.until, all).await.map_err(late)??;
        waiting.finish()
    }
}

impl Waiting {
    /// Takes note of a sentence of an order.
    pub(crate) fn note(
        &mut self,
        order: usize,
        sentence: usize,
        alternatives: Arc<Vec<Alternative>>,
    ) {
        self.found[order][sentence] = Some(alternatives);
    }

    /// All sentences with the numbers of their texts, in the order in which they were submitted if there is one model.
    pub(crate) fn sentences(&self) -> impl Iterator<Item = (usize, &str)> {
        self.layouts
            .iter()
            .enumerate()
            .flat_map(|(text, layout)| layout.sentences().map(move |s| (text, s)))
    }

    /// All texts, once all answers are there.
    pub(crate) fn finish(self) -> Result<Vec<Translated>, Refusal> {
        let Self { layouts, places, found, .. } = &self;
        let text = |(layout, places): (&Layout, &Vec<(usize, usize)>)| {
            let sentence = |&(order, sentence): &(usize, usize)| {
                found[order][sentence].clone().ok_or(Refusal::Failed)
            };
            let sentences = places.iter().map(sentence).collect::<Result<_, _>>()?;
            Ok(Translated { layout: layout.clone(), sentences })
        };
        layouts.iter().zip(places).map(text).collect()
    }
}
