//! Giving up hypotheses that are behind.

use super::settings::Prune;
use super::state::HypothesisState;
use crate::event::Status;
use crate::hypothesis::by_score;

/// Gives up live hypotheses of one sentence; the best stays. Only those that began together are compared.
pub(super) fn prune(rule: Prune, states: &mut [HypothesisState]) {
    if rule == Prune::Never {
        return;
    }
    let Some(turn) = states.iter().find(|state| state.is_live()).map(|state| state.turn) else {
        return;
    };
    let competes = |state: &HypothesisState| state.status != Status::Dropped && state.turn == turn;
    let mut order: Vec<usize> = (0..states.len()).filter(|&i| competes(&states[i])).collect();
    order.sort_by(|&a, &b| by_score(states[a].prune_score, states[b].prune_score));
    let Some(&first) = order.first() else { return };
    let best = states[first].prune_score;
    for (rank, &i) in order.iter().enumerate().skip(1) {
        let close = match rule {
            Prune::Never => true,
            Prune::Margin { nats } => best - states[i].prune_score < nats,
            Prune::Keep { most } => rank < most,
            Prune::Share { share } => (rank as f64) < share * order.len() as f64,
        };
        if states[i].is_live() && !close {
            states[i].status = Status::Dropped;
        }
    }
}
