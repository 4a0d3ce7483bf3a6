//! Sentences that wait for the engine, taken in turns.
//!
//! The orders of a client take turns, and so do clients: a batch takes one sentence of the first client's first order, then one of the next
//! client's, and so on until it is full. A sentence of somebody new therefore waits for the batch that is being decoded and is
//! part of the next one, whatever else waits.
//!
//! Sentences of one batch have one model. They may have different settings, if these keep the engine busy for about as long: a batch ends when
//! its last sentence does. Which model and how long is decided by the order that has waited longest for a turn, so that none waits
//! forever. O(orders) a sentence.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::keys::Client;
use crate::limits::BATCH_CHARACTERS;
use crate::order::Order;

/// How many times more work than the least a sentence of a batch may be.
const SPREAD: usize = 4;

/// A sentence that is to be decoded.
pub(crate) struct Unit {
    pub(crate) order: Arc<Order>,
    /// Its number in the order.
    pub(crate) sentence: usize,
}

impl Unit {
    pub(crate) fn text(&self) -> &str {
        &self.order.sentences[self.sentence]
    }
}

/// Sentences that wait.
pub(crate) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    capacity: usize,
}

#[derive(Default)]
struct State {
    clients: VecDeque<Waiting>,
    /// Sentences that wait.
    count: usize,
    /// The number of the next turn.
    turn: u64,
    closed: bool,
}

struct Waiting {
    client: Client,
    orders: VecDeque<Pending>,
}

struct Pending {
    order: Arc<Order>,
    /// The next sentence.
    next: usize,
    /// When it last had a turn.
    turn: u64,
}

/// There is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl Queue {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { state: Mutex::default(), filled: Condvar::new(), capacity }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sentences that wait.
    pub(crate) fn len(&self) -> usize {
        self.state().count
    }

    /// Adds the orders of a request, all or none.
    pub(crate) fn submit(&self, client: &Client, orders: Vec<Arc<Order>>) -> Result<(), Full> {
        let mut state = self.state();
        let new: usize = orders.iter().map(|order| order.sentences.len()).sum();
        if state.count + new > self.capacity {
            state.forget_cancelled();
        }
        if state.closed || state.count + new > self.capacity {
            return Err(Full);
        }
        state.count += new;
        for order in orders.into_iter().filter(|order| !order.sentences.is_empty()) {
            state.add(client, order);
        }
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    /// The next batch of at most so many sentences, as soon as there is one; none once the queue is closed and empty.
    pub(crate) fn take(&self, most: usize) -> Option<Vec<Unit>> {
        let mut state = self.state();
        loop {
            let batch = state.batch(most);
            if !batch.is_empty() {
                return Some(batch);
            }
            if state.closed {
                return None;
            }
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes nothing more in. What waits is still taken out.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.filled.notify_all();
    }
}

impl State {
    fn add(&mut self, client: &Client, order: Arc<Order>) {
        let pending = Pending { order, next: 0, turn: self.turn };
        self.turn += 1;
        let known = self.clients.iter_mut().find(|waiting| waiting.client == *client);
        if let Some(waiting) = known {
            waiting.orders.push_back(pending);
        } else {
            let (client, orders) = (client.clone(), VecDeque::from([pending]));
            self.clients.push_back(Waiting { client, orders });
        }
    }

    /// Lets go of orders that nobody waits for.
    fn forget_cancelled(&mut self) {
        let mut gone = 0;
        for waiting in &mut self.clients {
            waiting.orders.retain(|pending| {
                let cancelled = pending.order.is_cancelled();
                gone += if cancelled { pending.order.sentences.len() - pending.next } else { 0 };
                !cancelled
            });
        }
        self.clients.retain(|waiting| !waiting.orders.is_empty());
        self.count -= gone;
    }

    fn batch(&mut self, most: usize) -> Vec<Unit> {
        self.forget_cancelled();
        let all = self.clients.iter().flat_map(|waiting| &waiting.orders);
        let Some(lead) = all.min_by_key(|pending| pending.turn) else { return Vec::new() };
        let (lead_order, lead_turn) = (Arc::clone(&lead.order), lead.turn);
        let fits = |pending: &Pending| {
            let (one, other) = (pending.order.work, lead_order.work);
            Arc::ptr_eq(&pending.order.model, &lead_order.model)
                && one.max(other) <= one.min(other).saturating_mul(SPREAD)
        };
        let mut batch = Vec::new();
        let mut characters = 0;
        let mut passed = Vec::new();
        // The lead's client begins.
        let leads = |waiting: &Waiting| waiting.orders.iter().any(|p| p.turn == lead_turn);
        if let Some(at) = self.clients.iter().position(leads)
            && let Some(first) = self.clients.remove(at)
        {
            self.clients.push_front(first);
        }
        while batch.len() < most && characters < BATCH_CHARACTERS {
            let Some(mut waiting) = self.clients.pop_front() else { break };
            let fitting = waiting.orders.iter().enumerate().filter(|(_, pending)| fits(pending));
            let Some((at, _)) = fitting.min_by_key(|(_, pending)| pending.turn) else {
                passed.push(waiting);
                continue;
            };
            if let Some(pending) = waiting.orders.get_mut(at) {
                let unit = Unit { order: Arc::clone(&pending.order), sentence: pending.next };
                characters += unit.text().len();
                batch.push(unit);
                pending.next += 1;
                pending.turn = self.turn;
                self.turn += 1;
                self.count -= 1;
                if pending.next == pending.order.sentences.len() {
                    waiting.orders.remove(at);
                }
            }
            if !waiting.orders.is_empty() {
                self.clients.push_back(waiting);
            }
        }
        for waiting in passed.into_iter().rev() {
            self.clients.push_front(waiting);
        }
        batch
    }
}
