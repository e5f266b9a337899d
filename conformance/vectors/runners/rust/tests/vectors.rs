//! Runner for `cargo test`: it needs exceptions.json, and your `answer` to a kind of vector and its input.

mod format;

use format::{difference, keys, list, read, text};
use lro_vectors::answer;
use serde_json::json;
use std::collections::BTreeSet;
use std::panic::catch_unwind;

const FOLDER: &str = "../.."; // of the vectors

#[test]
fn vectors() {
    let index = read(&format!("{FOLDER}/index.json"));
    let own = read("exceptions.json");
    let (version, wanted) = (text(&index["version"]), text(&own["version"]));
    if !version.starts_with(&format!("{wanted}.")) {
        panic!("exceptions.json is for vectors {wanted}, these are {version}: read CHANGELOG.md");
    }
    let (edition, known) = (text(&own["edition"]), &index["editions"]);
    if !keys(known).contains(edition) {
        panic!("exceptions.json has the edition {edition:?}, the vectors have {known}");
    }
    let mut exceptions = keys(&own["exceptions"]);
    exceptions.retain(|name| !text(&own["exceptions"][name]).is_empty());
    let mut lacking = BTreeSet::new(); // kinds without an answer, and known failures
    let mut problems = vec![];
    for file in list(&index["files"]) {
        let chapter = read(&format!("{FOLDER}/{}", text(&file["name"])));
        let (mut passed, mut skipped, before) = (0, 0, problems.len());
        for vector in list(&chapter["vectors"]) {
            if !list(&vector["editions"]).contains(&own["edition"]) {
                continue;
            }
            let (id, kind) = (text(&vector["id"]), text(&vector["kind"]));
            let (subject, problem) = match catch_unwind(|| answer(kind, &vector["input"])) {
                Ok(Some(answer)) => (id, difference(vector, &answer)),
                Ok(None) => (kind, Some("no answer".into())),
                Err(_) => (id, difference(vector, &json!("panic, shown above"))),
            };
            match problem {
                None => passed += 1,
                Some(_) if subject == kind || exceptions.contains(subject) => {
                    skipped += 1;
                    lacking.insert(subject.to_string());
                }
                Some(problem) => problems.push(problem),
            }
        }
        let (name, failed) = (text(&chapter["chapter"]), problems.len() - before);
        println!("{name:12} {passed:4} passed {skipped:4} skipped {failed:4} failed");
    }
    let (missing, unused) = (&lacking - &exceptions, &exceptions - &lacking);
    if !missing.is_empty() {
        problems.push(format!(
            "no answer, and no reason in exceptions.json, for these kinds of vectors: {missing:?}"
        ));
    }
    if !unused.is_empty() {
        problems.push(format!(
            "exceptions.json excuses what does not fail, or is not there: {unused:?}"
        ));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
