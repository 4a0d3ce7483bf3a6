//! `padir lab statements`: the paper's statements, one by one.

use anyhow::Result;
use padir_lab::statement::{STATEMENTS, Subject, Verdict};
use serde::Serialize;

use super::model::ModelArgs;
use super::network;
use super::output::{human, print_report, print_table};
use crate::console::Console;
use crate::hint::WithHint;

/// Every statement of the paper: the command that computes it, and what it comes to on a model.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab statements
  padir lab statements --n 5 --clique 4 --h 0.05 --j 3
  padir lab statements --n 6 --graph ring --j 0.4 --json")]
pub(crate) struct Statements {
    #[command(flatten)]
    model: ModelArgs,
}

#[derive(Serialize)]
struct Report {
    statements: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    label: &'static str,
    kind: &'static str,
    title: &'static str,
    command: String,
    /// `holds`, `fails`, `does-not-apply` or `not-checked`.
    verdict: &'static str,
    /// The number that shows it, and what it is or why there is none.
    value: Option<f64>,
    remark: &'static str,
}

impl Statements {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let model = self.model.build()?;
        let subject = Subject::new(&model)
            .hint("statements are checked on small models; each command takes larger ones")?;
        let mut rows = Vec::new();
        for statement in STATEMENTS {
            let by_network = network::verdict(statement.label, &model)?;
            let found = by_network.map_or_else(|| statement.verdict(&subject), Ok)?;
            let (verdict, value, remark) = match found {
                Verdict::Checked { holds: true, value, what } => ("holds", Some(value), what),
                Verdict::Checked { holds: false, value, what } => ("fails", Some(value), what),
                Verdict::DoesNotApply(why) => ("does-not-apply", None, why),
                Verdict::NotChecked(why) => ("not-checked", None, why),
            };
            rows.push(Row {
                label: statement.label,
                kind: statement.kind.name(),
                title: statement.title,
                command: format!("padir lab {}", statement.command),
                verdict,
                value,
                remark,
            });
        }
        let report = Report { statements: rows };
        if console.wants_json() {
            print_report(console, Some(&self.model), &report)
        } else {
            print(console, &report)
        }
    }
}

fn print(console: &Console, report: &Report) -> Result<()> {
    let rows: Vec<Vec<String>> = report
        .statements
        .iter()
        .map(|row| {
            let shown = row.value.map_or_else(String::new, human);
            [row.kind, row.title, &row.command, row.verdict, &shown, row.remark]
                .map(str::to_owned)
                .to_vec()
        })
        .collect();
    print_table(console, &["kind", "statement", "command", "verdict", "value", "remark"], &rows)
}
