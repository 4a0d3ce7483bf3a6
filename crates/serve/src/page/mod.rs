//! The page that is served: plain HTML, one style sheet and one script, all part of the program.

use std::fmt::Write as _;

use crate::catalogue::Catalogue;
use crate::detect;

const PAGE: &str = include_str!("index.html");
/// The script.
pub(crate) const SCRIPT: &str = include_str!("app.js");
/// The style sheet.
pub(crate) const STYLE: &str = include_str!("style.css");
/// A page about the interfaces.
pub(crate) const DOCS: &str = include_str!("docs.html");

/// What the page shows to begin with.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    pub(crate) text: String,
    pub(crate) translation: String,
    /// The languages, `en|de`.
    pub(crate) pair: String,
    pub(crate) error: Option<String>,
}

/// The page with what it shows.
pub(crate) fn render(catalogue: &Catalogue, shown: &Shown, needs_key: bool) -> String {
    let mut pairs = String::new();
    for model in &catalogue.models {
        let value = escape(&format!("{}|{}", model.source, model.target));
        let selected = if value == escape(&shown.pair) { " selected" } else { "" };
        let name = |code: &str| escape(&detect::name(code));
        let (source, target) = (name(&model.source), name(&model.target));
        let _ = write!(pairs, "<option value=\"{value}\"{selected}>{source} → {target}</option>");
    }
    let error = shown.error.as_deref().map(escape).unwrap_or_default();
    // One pass over the page, so that nothing that was typed is filled in again.
    let mut page = String::with_capacity(PAGE.len() + 1024);
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else { break };
        page.push_str(before);
        match name {
            "pairs" => page.push_str(&pairs),
            "text" => page.push_str(&escape(&shown.text)),
            "translation" => page.push_str(&escape(&shown.translation)),
            "error" => page.push_str(&error),
            "key" if !needs_key => page.push_str("hidden"),
            _ => {}
        }
        rest = after;
    }
    page.push_str(rest);
    page
}

fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}
