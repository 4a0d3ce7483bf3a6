//! Somebody who types: a prompt, and nothing that erases what is being typed. It needs a terminal, which `script` makes.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::house::House;

#[test]
fn a_prompt_replaces_the_progress_bar() {
    let house = House::build();
    let program = env!("CARGO_BIN_EXE_padir");
    let command = format!("{program} translate --model padir --steps 1");
    let child = Command::new("script")
        .args(["--quiet", "--return", "--command", &command, "/dev/null"])
        .current_dir(house.path("."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        println!("skipped: there is no `script` to make a terminal");
        return;
    };
    child.stdin.take().unwrap().write_all(b"one two\n\x04").unwrap();
    let shown = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(shown.contains("type a text a line"), "{shown:?}");
    assert!(shown.matches("> ").count() >= 2, "before the first line and after it: {shown:?}");
    assert!(!shown.contains("translating"), "{shown:?}");
}
