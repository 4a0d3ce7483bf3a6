//! HTML: tags stay where they are, and the text between two tags is translated.
//!
//! Each run of text between tags is translated by itself, so that nothing has to be said about where a tag belongs in a
//! sentence of another order. A sentence with tags inside of it is therefore translated in pieces. Comments, scripts, style sheets, `code`, `kbd`, `samp`,
//! `textarea` and elements with `translate="no"` stay as they are. Markup that is not well-formed stays as it is, too: whatever is given, the
//! output differs from it only in its texts. O(n).

/// A page as markup and texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Html {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Markup(String),
    /// Without entities.
    Text(String),
}

/// Elements whose content is no markup.
const RAW: [&str; 4] = ["script", "style", "textarea", "template"];
/// Elements that are not translated.
const KEPT: [&str; 5] = ["code", "kbd", "samp", "svg", "math"];
/// Elements without content.
const VOID: [&str; 6] = ["area", "br", "hr", "img", "input", "wbr"];

/// Entities that are read; others stay as they are.
const ENTITIES: [(&str, char); 30] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", '\u{a0}'),
    ("auml", 'ä'),
    ("ouml", 'ö'),
    ("uuml", 'ü'),
    ("Auml", 'Ä'),
    ("Ouml", 'Ö'),
    ("Uuml", 'Ü'),
    ("szlig", 'ß'),
    ("eacute", 'é'),
    ("egrave", 'è'),
    ("agrave", 'à'),
    ("ccedil", 'ç'),
    ("ndash", '–'),
    ("mdash", '—'),
    ("hellip", '…'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("bdquo", '„'),
    ("laquo", '«'),
    ("raquo", '»'),
    ("euro", '€'),
    ("deg", '°'),
    ("shy", '\u{ad}'),
];

impl Html {
    /// Reads a page, or a part of one.
    pub fn parse(text: &str) -> Self {
        let mut html = Self::default();
        let mut rest = text;
        while !rest.is_empty() {
            let Some(at) = tag_start(rest) else {
                html.text(rest);
                break;
            };
            let (before, tag) = rest.split_at(at);
            html.text(before);
            let end = markup_end(tag);
            html.markup(&tag[..end]);
            rest = &tag[end..];
        }
        html
    }

    /// The texts between tags.
    pub fn texts(&self) -> Vec<String> {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => Some(text.clone()),
            Piece::Markup(_) => None,
        };
        self.pieces.iter().filter_map(text).collect()
    }

    /// The page with other texts between its tags.
    pub fn with(&self, texts: Vec<String>) -> String {
        let mut texts = texts.into_iter();
        let mut page = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Markup(markup) => page.push_str(markup),
                Piece::Text(text) => {
                    escape(&texts.next().unwrap_or_else(|| text.clone()), &mut page);
                }
            }
        }
        page
    }

    fn markup(&mut self, markup: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Markup(last)) => last.push_str(markup),
            _ => self.pieces.push(Piece::Markup(markup.to_owned())),
        }
    }

    /// Adds a run of text. An entity that is not known is markup, and so is white space alone.
    fn text(&mut self, run: &str) {
        let mut text = String::new();
        let mut plain = run;
        while let Some(at) = plain.find('&') {
            text.push_str(&plain[..at]);
            let end = plain[at..].find(';').map(|end| at + end + 1).filter(|end| end - at <= 12);
            match end.map(|end| (end, entity(&plain[at + 1..end - 1]))) {
                Some((end, Some(c))) => {
                    text.push(c);
                    plain = &plain[end..];
                }
                Some((end, None)) if is_name(&plain[at + 1..end - 1]) => {
                    self.run(&text);
                    text.clear();
                    self.markup(&plain[at..end]);
                    plain = &plain[end..];
                }
                _ => {
                    text.push('&');
                    plain = &plain[at + 1..];
                }
            }
        }
        text.push_str(plain);
        self.run(&text);
    }

    fn run(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if text.chars().all(char::is_whitespace) {
            let mut markup = String::new();
            escape(text, &mut markup);
            self.markup(&markup);
        } else {
            self.pieces.push(Piece::Text(text.to_owned()));
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '#')
}

fn entity(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code).filter(|c| !c.is_control());
    }
    ENTITIES.iter().find(|(known, _)| *known == name).map(|(_, c)| *c)
}

fn escape(text: &str, page: &mut String) {
    for c in text.chars() {
        match c {
            '&' => page.push_str("&amp;"),
            '<' => page.push_str("&lt;"),
            '>' => page.push_str("&gt;"),
            '\u{a0}' => page.push_str("&nbsp;"),
            '\u{ad}' => page.push_str("&shy;"),
            c => page.push(c),
        }
    }
}

/// Where the next tag, comment or declaration begins. A `<` before anything else is text.
fn tag_start(text: &str) -> Option<usize> {
    let is_start = |&(at, _): &(usize, &str)| {
        let next = text[at + 1..].chars().next();
        next.is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
    };
    text.match_indices('<').find(is_start).map(|(at, _)| at)
}

/// Where the markup ends that a text begins with, with what is not translated.
fn markup_end(text: &str) -> usize {
    if let Some(comment) = text.strip_prefix("<!--") {
        return comment.find("-->").map_or(text.len(), |at| 4 + at + 3);
    }
    let end = tag_end(text);
    let tag = &text[..end];
    let name = name_of(&tag[1..]);
    if name.is_empty() || VOID.contains(&name.as_str()) || tag.ends_with("/>") {
        return end;
    }
    if RAW.contains(&name.as_str()) {
        return closing(text, end, &name, false);
    }
    if KEPT.contains(&name.as_str()) || is_kept(tag) {
        return closing(text, end, &name, true);
    }
    end
}

/// Where a tag ends: quotes may contain a `>`.
fn tag_end(text: &str) -> usize {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '>') => return at + 1,
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    text.len()
}

/// The name of an opening tag, in small letters; empty for others.
fn name_of(tag: &str) -> String {
    let name = tag.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-');
    name.collect::<String>().to_ascii_lowercase()
}

/// Whether a tag says `translate="no"`.
fn is_kept(tag: &str) -> bool {
    let bare: String =
        tag.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'')).collect();
    bare.to_ascii_lowercase().contains("translate=no")
}

/// Where an element ends whose opening tag ends at `from`.
fn closing(text: &str, from: usize, name: &str, nests: bool) -> usize {
    let (mut depth, mut at) = (1, from);
    while let Some(found) = text[at..].find('<') {
        at += found;
        let after = &text[at + 1..];
        let (closes, after) = after.strip_prefix('/').map_or((false, after), |after| (true, after));
        if name_of(after) == name {
            let end = at + tag_end(&text[at..]);
            depth -= i32::from(closes);
            depth += i32::from(nests && !closes && !text[at..end].ends_with("/>"));
            at = end;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_and_markup_stays() {
        let cases: [(&str, &str, &[&str], &str); 12] = [
            ("plain", "a b", &["a b"], "A B"),
            (
                "a paragraph",
                "<p class='x>y'>a <b>b</b></p>",
                &["a ", "b"],
                "<p class='x>y'>A <b>B</b></p>",
            ),
            (
                "nested",
                "<div><ul><li>a</li>\n<li>b</li></ul></div>",
                &["a", "b"],
                "<div><ul><li>A</li>\n<li>B</li></ul></div>",
            ),
            ("entities", "f&uuml;r &amp; &lt;x&gt;", &["für & <x>"], "FÜR &amp; &lt;X&gt;"),
            ("an unknown entity", "a &zwj; b", &["a ", " b"], "A &zwj; B"),
            ("numbers", "&#228;&#xe4;", &["ää"], "ÄÄ"),
            ("no tag", "1 < 2 & 3", &["1 < 2 & 3"], "1 &lt; 2 &amp; 3"),
            (
                "scripts",
                "<script>if (a < b) {}</script>a",
                &["a"],
                "<script>if (a < b) {}</script>A",
            ),
            (
                "code",
                "a <code>b <code>c</code> d</code> e",
                &["a ", " e"],
                "A <code>b <code>c</code> d</code> E",
            ),
            (
                "kept",
                "<span translate=\"no\">a</span> b",
                &[" b"],
                "<span translate=\"no\">a</span> B",
            ),
            ("comments", "<!-- a > b -->c", &["c"], "<!-- a > b -->C"),
            ("not closed", "a <b", &["a "], "A <b"),
        ];
        for (name, page, texts, expected) in cases {
            let html = Html::parse(page);
            assert_eq!(html.texts(), texts, "{name}");
            let upper = html.texts().iter().map(|text| text.to_uppercase()).collect();
            assert_eq!(html.with(upper), expected, "{name}");
        }
    }

    #[test]
    fn what_was_put_together_once_stays_as_it_is() {
        const PARTS: [&str; 24] = [
            "<",
            ">",
            "&",
            ";",
            "a",
            "/",
            "!",
            "--",
            "\"",
            "'",
            " ",
            "#",
            "x2",
            "<b>",
            "</b>",
            "<code",
            "</code>",
            "&lt;",
            "&zwj;",
            "\u{a0}",
            "<!--",
            "-->",
            "translate=no",
            "ä",
        ];
        let mut number = 1_u32;
        let mut next = || {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (number >> 16) as usize
        };
        for _ in 0..20_000 {
            let text: String = (0..next() % 12).map(|_| PARTS[next() % PARTS.len()]).collect();
            let html = Html::parse(&text);
            let once = html.with(html.texts());
            let again = Html::parse(&once);
            assert_eq!(again.with(again.texts()), once, "{text:?}");
        }
    }
}
