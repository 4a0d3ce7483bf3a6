//! HTML: read and put together again. What was put together once stays as it is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use padir_serve::parse::Html;

fuzz_target!(|text: &str| {
    let html = Html::parse(text);
    let once = html.with(html.texts());
    let again = Html::parse(&once);
    assert_eq!(again.with(again.texts()), once);
});
