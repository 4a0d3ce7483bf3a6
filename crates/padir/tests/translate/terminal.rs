//! Somebody who types at a terminal: a prompt, and no progress bar that erases what is being typed.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::pty::openpty;

use crate::house::House;

/// Longer than anything here takes; a test that waits longer fails.
const PATIENCE: Duration = Duration::from_mins(1);
const END_OF_INPUT: &[u8] = b"\x04";

/// A program on a terminal of its own.
struct Terminal {
    child: Child,
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    seen: Vec<u8>,
}

impl Terminal {
    fn start(house: &House, arguments: &[&str]) -> Self {
        let pair = openpty(None, None).unwrap();
        let end = |fd: &OwnedFd| Stdio::from(fd.try_clone().unwrap());
        let child = Command::new(env!("CARGO_BIN_EXE_padir"))
            .args(arguments)
            .current_dir(house.directory.path())
            .stdin(end(&pair.slave))
            .stdout(end(&pair.slave))
            .stderr(end(&pair.slave))
            .spawn()
            .unwrap();
        let keyboard = File::from(pair.master.try_clone().unwrap());
        let (send, screen) = channel();
        // The last program that leaves a terminal makes reading it an error.
        drop(pair.slave);
        let mut master = File::from(pair.master);
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = master.read(&mut buffer) {
                if send.send(buffer[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { child, keyboard, screen, seen: Vec::new() }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen).into_owned()
    }

    /// Reads until the screen shows something.
    fn wait_until(&mut self, what: &str, shows: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !shows(&self.text()) {
            match self.screen.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.seen.extend(bytes),
                Err(error) => panic!("no {what} ({error}) on {:?}", self.text()),
            }
        }
    }

    fn press(&mut self, keys: &[u8]) {
        self.keyboard.write_all(keys).unwrap();
    }

    /// Ends the input, and waits for the end of the program. Gives all that was seen.
    fn finish(mut self) -> String {
        self.press(END_OF_INPUT);
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "it does not end: {:?}", self.text());
            thread::sleep(Duration::from_millis(20));
        };
        loop {
            match self.screen.recv_timeout(PATIENCE) {
                Ok(bytes) => self.seen.extend(bytes),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the terminal does not close"),
            }
        }
        assert!(status.success(), "{status}: {}", self.text());
        self.text()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It has ended, unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn prompts(screen: &str) -> usize {
    screen.lines().filter(|line| line.starts_with("> ")).count()
}

#[test]
fn whoever_types_sees_a_prompt_and_no_progress_bar() {
    let house = House::build();
    let mut terminal = Terminal::start(&house, &["translate", "--model", "padir"]);
    terminal.wait_until("first prompt", |screen| screen.contains("Ctrl-D ends\r\n> "));
    // Longer than a bar would wait before it is drawn again.
    terminal.press(b"one tw");
    thread::sleep(Duration::from_millis(600));
    terminal.press(b"o\n");
    terminal.wait_until("second prompt", |screen| prompts(screen) == 2);
    terminal.press(b"three\n");
    terminal.wait_until("third prompt", |screen| prompts(screen) == 3);
    let screen = terminal.finish();
    let piped = house.translate(&["--model", "padir"], "one two\nthree\n");
    let expected: Vec<&str> = piped.lines().collect();
    let lines: Vec<&str> = screen.split("\r\n").collect();
    assert_eq!(lines[1..5], ["> one two", expected[0], "> three", expected[1]], "{screen:?}");
    // The summary begins a line of its own, and the terminal is left at the beginning of one.
    assert_eq!(lines[5], "> ", "{screen:?}");
    assert!(lines[6].starts_with("2 texts, "), "{screen:?}");
    assert_eq!(lines[7..], [""], "{screen:?}");
    let plain = screen.replace("\r\n", "\n");
    assert!(!plain.contains(['\r', '\x1b']), "something moves the cursor: {screen:?}");
}

#[test]
fn whoever_wants_quiet_gets_no_prompt() {
    let house = House::build();
    let mut terminal = Terminal::start(&house, &["translate", "--model", "padir", "--quiet"]);
    terminal.press(b"one two\n");
    let expected = house.translate(&["--model", "padir"], "one two\n");
    let expected = expected.trim_end().to_owned() + "\r\n";
    terminal.wait_until("translation", |screen| screen.ends_with(&expected));
    let screen = terminal.finish();
    assert_eq!(screen, format!("one two\r\n{expected}"));
}

#[test]
fn the_translation_of_a_file_tells_how_long_it_will_take() {
    let house = House::build();
    let line = |i: usize| format!("one two three {i}\n");
    std::fs::write(house.path("texts"), (0..3000).map(line).collect::<String>()).unwrap();
    let asked = ["translate", "--model", "padir", "--file", "texts", "--batch", "1"];
    let mut terminal = Terminal::start(&house, &asked);
    terminal.wait_until("time to go", |screen| {
        let complete =
            |bar: &str| ["/3,000 (", "/s, ", " to go)"].iter().all(|part| bar.contains(part));
        screen.split("translating ").any(complete)
    });
}
