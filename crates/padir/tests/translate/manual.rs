//! `padir translate --manual`: everything for those who have nothing else.

use super::house::{House, text};

#[test]
fn the_manual_names_every_option_and_method() {
    let house = House::build();
    let printed = |arguments: &[&str]| {
        let output = house.run_any(arguments, b"");
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let manual = printed(&["translate", "--manual"]);
    assert!(manual.starts_with("# padir translate\n"), "{manual}");
    let help = printed(&["translate", "--help"]);
    let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let options = help.lines().filter_map(|line| {
        let (before, name) = line.split_once("--")?;
        let end = name.find(|c: char| !letters(c)).unwrap_or(name.len());
        // An option stands at the start of its line, behind its short form if it has one.
        let starts = before.trim().len() <= 3 && before.starts_with("  ");
        (starts && end > 0).then(|| format!("--{}", &name[..end]))
    });
    let options: Vec<String> =
        options.filter(|o| !["--help", "--version", "--manual"].contains(&o.as_str())).collect();
    assert!(options.len() >= 20, "{options:?}");
    for option in options {
        assert!(manual.contains(&option), "the manual lacks {option}");
    }
    for method in padir_decode::Method::ALL {
        assert!(manual.contains(&format!("\n## `{method}`\n")), "{method}");
    }
}
