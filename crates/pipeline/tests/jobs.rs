//! Stages side by side, on an executor that does nothing but make files: `make OUT [INPUT…]`, or `fail`.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use padir_pipeline::Error;
use padir_pipeline::recipe::{
    Action, Commands, Description, End, Executor, Interrupts, Job, Outcome, Recipe, RecipeError,
    RecipeFiles, Runner, Running, Selection,
};

/// `d` needs `a` and `b`, `e` needs `d`; `c` needs nothing.
const RECIPE: &str = r#"
dir = "DIR"
[[stage]]
name = "a"
run = ["make", "a.txt"]
outputs = ["a.txt"]
[[stage]]
name = "b"
run = ["make", "b.txt"]
outputs = ["b.txt"]
[[stage]]
name = "c"
run = ["make", "c.txt"]
outputs = ["c.txt"]
[[stage]]
name = "d"
run = ["make", "d.txt", "a.txt", "b.txt"]
outputs = ["d.txt"]
[[stage]]
name = "e"
run = ["make", "e.txt", "d.txt"]
outputs = ["e.txt"]
"#;

struct Anything;

impl Commands for Anything {
    fn describe(&self, _: &[&str], _: &RecipeFiles<'_>) -> Description {
        Description::default()
    }
}

/// What happened, in order: `+a` if a stage began, `-a` if it ended, `!a` if it was interrupted.
type Log = Rc<RefCell<Vec<String>>>;

struct Factory {
    log: Log,
    /// The stage during which somebody asks to stop.
    stop_in: Option<(&'static str, Interrupts)>,
}

struct Making {
    name: String,
    path: PathBuf,
    fails: bool,
    is_stopped: bool,
    /// How often it has to be asked.
    left: usize,
    log: Log,
}

impl Executor for Factory {
    fn start(&self, job: &Job<'_>) -> Result<Box<dyn Running>, Error> {
        self.log.borrow_mut().push(format!("+{}", job.stage));
        for input in job.arguments.iter().skip(2) {
            assert!(job.directory.join(input).is_file(), "{input} is read before it is made");
        }
        if let Some((_, interrupts)) = self.stop_in.as_ref().filter(|(name, _)| *name == job.stage)
        {
            interrupts.hear();
        }
        Ok(Box::new(Making {
            name: job.stage.to_owned(),
            path: job.directory.join(job.arguments.get(1).copied().unwrap_or("nothing")),
            fails: job.arguments[0] == "fail",
            is_stopped: false,
            left: 2,
            log: Rc::clone(&self.log),
        }))
    }
}

impl Running for Making {
    fn poll(&mut self) -> Result<Option<End>, Error> {
        if self.left > 0 {
            self.left -= 1;
            return Ok(None);
        }
        self.log.borrow_mut().push(format!("-{}", self.name));
        if self.fails {
            return Ok(Some(End::Code(1)));
        }
        if self.is_stopped {
            return Ok(Some(End::Other("signal".to_owned())));
        }
        fs::write(&self.path, &self.name).unwrap();
        Ok(Some(End::Success))
    }

    fn interrupt(&mut self, _: usize) {
        self.is_stopped = true;
        self.log.borrow_mut().push(format!("!{}", self.name));
    }
}

/// Runs a recipe in a directory; gives what happened and what became of the stages.
fn run(
    dir: &Path,
    recipe: &str,
    jobs: usize,
    stop_in: Option<&'static str>,
) -> (Vec<String>, Result<Vec<Outcome>, Error>) {
    let path = dir.join("recipe.toml");
    let out = dir.join("out");
    fs::create_dir_all(&out).unwrap();
    fs::write(&path, recipe.replace("DIR", &out.display().to_string())).unwrap();
    let recipe = Recipe::read(&path, &[], &Anything).unwrap();
    let selection = Selection::of(&recipe, None, &[]).unwrap();
    let mut runner = Runner::new(&recipe, &selection, &()).unwrap();
    let (log, interrupts) = (Log::default(), Interrupts::default());
    let stop_in = stop_in.map(|name| (name, interrupts.clone()));
    let factory = Factory { log: Rc::clone(&log), stop_in };
    let outcomes = runner.run(&factory, jobs, &interrupts);
    let log = log.borrow().clone();
    (log, outcomes)
}

fn actions(outcomes: &[Outcome]) -> Vec<(&str, Action)> {
    outcomes.iter().map(|outcome| (outcome.name.as_str(), outcome.action)).collect()
}

/// The most stages that were running at a time.
fn most_at_a_time(log: &[String]) -> usize {
    let mut running = BTreeSet::new();
    let mut most = 0;
    for event in log {
        let (what, name) = event.split_at(1);
        match what {
            "+" => running.insert(name),
            "-" => running.remove(name),
            _ => false,
        };
        most = most.max(running.len());
    }
    most
}

#[test]
fn stages_run_side_by_side_unless_they_need_each_other() {
    let cases =
        [(1, "+a-a+b-b+c-c+d-d+e-e"), (2, "+a+b-a-b+c+d-c-d+e-e"), (9, "+a+b+c-a-b-c+d-d+e-e")];
    for (jobs, expected) in cases {
        let home = tempfile::tempdir().unwrap();
        let (log, outcomes) = run(home.path(), RECIPE, jobs, None);
        let outcomes = outcomes.unwrap();
        assert_eq!(log.concat(), expected, "{jobs} jobs");
        assert!(most_at_a_time(&log) <= jobs);
        let all = ["a", "b", "c", "d", "e"];
        assert_eq!(actions(&outcomes), all.map(|name| (name, Action::Ran)), "{jobs} jobs");
        // All is as it was.
        let (log, outcomes) = run(home.path(), RECIPE, jobs, None);
        assert_eq!(log, [""; 0]);
        assert_eq!(actions(&outcomes.unwrap()), all.map(|name| (name, Action::Skipped)));
    }
}

#[test]
fn after_a_failure_nothing_begins_and_what_is_running_ends() {
    let recipe = RECIPE.replacen(r#"["make", "a.txt"]"#, r#"["fail", "a.txt"]"#, 1);
    for (jobs, expected) in [(1, "+a-a"), (2, "+a+b-a-b")] {
        let home = tempfile::tempdir().unwrap();
        let (log, outcomes) = run(home.path(), &recipe, jobs, None);
        assert_eq!(log.concat(), expected, "{jobs} jobs");
        match outcomes {
            Err(Error::Recipe(RecipeError::Failed { stage, end, .. })) => {
                assert_eq!((stage.as_str(), end), ("a", End::Code(1)));
            }
            other => panic!("{jobs} jobs: {:?}", other.map(|o| o.len())),
        }
        // What ended well is not done again.
        let (log, _) = run(home.path(), RECIPE, jobs, None);
        let again: Vec<&String> = log.iter().filter(|event| *event == "+b").collect();
        assert_eq!(again.len(), usize::from(jobs == 1), "{jobs} jobs");
    }
}

#[test]
fn whoever_asks_to_stop_is_heard_by_all_that_is_running() {
    let home = tempfile::tempdir().unwrap();
    let (log, outcomes) = run(home.path(), RECIPE, 2, Some("b"));
    assert_eq!(log.concat(), "+a+b!a!b-a-b");
    let outcomes = outcomes.unwrap();
    let interrupted = [("a", Action::Interrupted), ("b", Action::Interrupted)];
    assert_eq!(actions(&outcomes), interrupted);
    let (_, outcomes) = run(home.path(), RECIPE, 2, None);
    assert!(outcomes.unwrap().iter().all(|outcome| outcome.action == Action::Ran));
}
