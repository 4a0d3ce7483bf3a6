//! How long work tells how far it is, without knowing whether anybody looks.

/// Where remarks and progress go. A command line shows them on a terminal; `()` is silent.
pub trait Progress: Sync {
    /// A remark for people, a line long.
    fn note(&self, remark: &str);

    /// Begins a task of `length` items; 0 if the number is not known. It ends when the returned object is dropped.
    fn task(&self, what: &'static str, length: u64) -> Box<dyn Task>;
}

/// A task under way.
pub trait Task {
    /// That many items more are done.
    fn advance(&self, items: u64);

    /// Whether somebody sees it. If not, work that takes long says so in remarks instead.
    fn is_visible(&self) -> bool;
}

impl Progress for () {
    fn note(&self, _: &str) {}

    fn task(&self, _: &'static str, _: u64) -> Box<dyn Task> {
        Box::new(())
    }
}

impl Task for () {
    fn advance(&self, _: u64) {}

    fn is_visible(&self) -> bool {
        false
    }
}
