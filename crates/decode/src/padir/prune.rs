//! Giving up hypotheses that are behind.

use super::draft::Draft;
use super::settings::Prune;
use crate::event::Status;
use crate::hypothesis::by_score;

/// Gives up live hypotheses of one sentence; the best stays. Only those that began together are compared.
pub(super) fn prune(rule: Prune, drafts: &mut [Draft]) {
    if rule == Prune::Never {
        return;
    }
    let Some(turn) = drafts.iter().find(|draft| draft.is_live()).map(|draft| draft.turn) else {
        return;
    };
    let competes = |draft: &Draft| draft.status != Status::Dropped && draft.turn == turn;
    let mut order: Vec<usize> = (0..drafts.len()).filter(|&i| competes(&drafts[i])).collect();
    order.sort_by(|&a, &b| by_score(drafts[a].standing, drafts[b].standing));
    let Some(&first) = order.first() else { return };
    let best = drafts[first].standing;
    for (rank, &i) in order.iter().enumerate().skip(1) {
        let close = match rule {
            Prune::Never => true,
            Prune::Margin { nats } => best - drafts[i].standing < nats,
            Prune::Keep { most } => rank < most,
            Prune::Share { share } => (rank as f64) < share * order.len() as f64,
        };
        if drafts[i].is_live() && !close {
            drafts[i].status = Status::Dropped;
        }
    }
}
