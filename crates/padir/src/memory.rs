//! How much memory there is, where the system tells.

use std::fs;

/// The most that this process could ever have: the computer's memory and swap, or what its container is allowed.
pub(crate) fn limit() -> Option<u64> {
    let total = kilobytes("/proc/meminfo", "MemTotal:")?;
    let swap = kilobytes("/proc/meminfo", "SwapTotal:").unwrap_or(0);
    let container = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let allowed = container.into_iter().filter_map(|file| {
        // `max` if there is no limit.
        fs::read_to_string(file).ok()?.trim().parse::<u64>().ok()
    });
    Some(allowed.fold(total + swap, u64::min))
}

/// What can be had now without others being pushed out of memory.
pub(crate) fn available() -> Option<u64> {
    let available = kilobytes("/proc/meminfo", "MemAvailable:")?;
    Some(limit().map_or(available, |limit| available.min(limit)))
}

/// What this process holds.
pub(crate) fn held() -> Option<u64> {
    kilobytes("/proc/self/status", "VmRSS:")
}

/// The most that this process held.
pub(crate) fn peak() -> Option<u64> {
    kilobytes("/proc/self/status", "VmHWM:")
}

/// Bytes for people.
pub(crate) fn human(bytes: u64) -> String {
    let (size, unit) = match bytes {
        0..1_000_000_000 => (bytes as f64 / 1e6, "MB"),
        1_000_000_000..1_000_000_000_000 => (bytes as f64 / 1e9, "GB"),
        _ => (bytes as f64 / 1e12, "TB"),
    };
    if size < 10.0 { format!("{size:.1} {unit}") } else { format!("{size:.0} {unit}") }
}

/// The value of a key in a file of lines like `MemTotal:  16308212 kB`, in bytes.
fn kilobytes(file: &str, key: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_two_digits_and_a_unit() {
        let cases = [
            (1_234_567, "1.2 MB"),
            (987_654_321, "988 MB"),
            (4_000_000_000, "4.0 GB"),
            (3 << 40, "3.3 TB"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(human(bytes), expected);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn less_is_held_than_there_is() {
        let (held, limit) = (held().unwrap(), limit().unwrap());
        assert!(0 < held && held <= peak().unwrap() && held < limit, "{held} of {limit}");
        assert!(available().unwrap() <= limit);
    }
}
