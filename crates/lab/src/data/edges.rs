//! Edge lists: one edge per line, `a b` or `a b J`, vertices counted from 0.

use std::path::Path;

use super::FileError;
use crate::graph::Edge;

/// The edges of a file and their couplings, where given.
///
/// # Errors
/// If the file cannot be read or a line is no edge; some lines with and some without a coupling
/// are an error too.
pub fn read_edges(path: &Path) -> Result<(Vec<Edge>, Option<Vec<f64>>), FileError> {
    let text = std::fs::read_to_string(path).map_err(FileError::io(path))?;
    let (mut edges, mut couplings) = (Vec::new(), Vec::new());
    for (index, line) in text.lines().enumerate() {
        let wrong = |fact: String| FileError::Line { path: path.to_owned(), line: index + 1, fact };
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        let words: Vec<&str> = line.split([' ', '\t', ',']).filter(|w| !w.is_empty()).collect();
        let vertex =
            |word: &str| word.parse().map_err(|_| wrong(format!("{word:?} is not a vertex")));
        match words[..] {
            [a, b] => edges.push(Edge(vertex(a)?, vertex(b)?)),
            [a, b, j] => {
                edges.push(Edge(vertex(a)?, vertex(b)?));
                couplings.push(j.parse().map_err(|_| wrong(format!("{j:?} is not a coupling")))?);
            }
            _ => return Err(wrong(format!("{line:?} is not an edge `a b` or `a b J`"))),
        }
        if !couplings.is_empty() && couplings.len() != edges.len() {
            return Err(wrong("some edges have a coupling and some have none".to_owned()));
        }
    }
    Ok((edges, (!couplings.is_empty()).then_some(couplings)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Vec<Edge>, Option<Vec<f64>>), String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("edges.txt");
        std::fs::write(&path, text).unwrap();
        read_edges(&path).map_err(|e| {
            let text = e.to_string();
            text[text.find("edges.txt").unwrap()..].to_owned()
        })
    }

    #[test]
    fn edges_come_with_or_without_couplings() {
        let edges = vec![Edge(0, 1), Edge(1, 2)];
        assert_eq!(read("0 1\n# names\n1,2\n"), Ok((edges.clone(), None)));
        assert_eq!(read("0 1 0.5\n1\t2\t-1 # weak\n"), Ok((edges, Some(vec![0.5, -1.0]))));
    }

    #[test]
    fn bad_lines_are_named() {
        let cases = [
            ("0 1\n1 x\n", "edges.txt:2: \"x\" is not a vertex"),
            ("0 1 y\n", "edges.txt:1: \"y\" is not a coupling"),
            ("0\n", "edges.txt:1: \"0\" is not an edge `a b` or `a b J`"),
            ("0 1 2\n1 2\n", "edges.txt:2: some edges have a coupling and some have none"),
        ];
        for (text, message) in cases {
            assert_eq!(read(text).unwrap_err(), message, "{text:?}");
        }
    }
}
