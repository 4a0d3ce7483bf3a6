//! The fields of a request: JSON, forms and queries.
#![no_main]

use libfuzzer_sys::fuzz_target;
use padir_serve::parse::fields_of;

fuzz_target!(|data: (u8, &str, &[u8])| {
    let (kind, query, body) = data;
    let kinds = ["application/json", "application/x-www-form-urlencoded", "", "text/plain", "x/y"];
    let _ = fields_of(kinds[usize::from(kind) % kinds.len()], Some(query), body);
});
