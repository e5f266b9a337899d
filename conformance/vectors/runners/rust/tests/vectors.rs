//! Runner for `cargo test`. Put your own code into `answer` in src/lib.rs.

use serde_json::{json, Value};
use std::{fs, panic};

const FOLDER: &str = "../.."; // of the vectors

fn read(path: &str) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|problem| panic!("{path}: {problem}"));
    serde_json::from_str(&text).unwrap_or_else(|problem| panic!("{path}: {problem}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A value in which all numbers are doubles, so that 1 equals 1.0.
fn normal(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(all) => all.iter().map(normal).collect(),
        Value::Object(all) => all.iter().map(|(k, v)| (k.clone(), normal(v))).collect(),
        other => other.clone(),
    }
}

fn holds(rule: &Value, answer: &Value) -> bool {
    let value = normal(answer.pointer(text(&rule["at"])).unwrap_or(&Value::Null));
    if let Some(number) = value.as_f64().filter(|_| rule["between"].is_array()) {
        let bounds = normal(&rule["between"]);
        return bounds[0].as_f64() <= Some(number) && Some(number) <= bounds[1].as_f64();
    }
    let lower = text(&value).to_lowercase();
    let is_in = |part: &Value| lower.contains(text(part));
    list(&rule["has"]).iter().any(is_in) || list(&rule["is"]).iter().any(|one| normal(one) == value)
}

/// The difference between the answer to a vector and the expected one.
fn difference(vector: &Value) -> Option<String> {
    let (kind, input) = (text(&vector["kind"]), &vector["input"]);
    let answer = match panic::catch_unwind(|| lro_vectors::answer(kind, input)) {
        Ok(Some(answer)) => answer,
        Ok(None) => return Some("no answer, and no reason in exceptions.json".into()),
        Err(_) => return Some("the implementation panicked".into()),
    };
    let rule = list(&vector["expect"])
        .iter()
        .find(|rule| !holds(rule, &answer))?;
    let (why, ids) = (text(&vector["why"]), &vector["requirements"]);
    Some(format!("{why} {ids}\n  expected {rule}\n  got {answer}"))
}

#[test]
fn vectors() {
    let index = read(&format!("{FOLDER}/index.json"));
    let exceptions = read("exceptions.json");
    let version = text(&index["version"]);
    if !version.starts_with(&format!("{}.", text(&exceptions["vectors"]))) {
        panic!("version {version}: read CHANGELOG.md of the vectors");
    }
    let mut known = exceptions["known_failures"].as_object().unwrap().clone();
    let (mut failures, mut passed, mut skipped) = (vec![], 0, 0);
    let names = list(&index["files"]).iter().map(|file| text(&file["name"]));
    for chapter in names.map(|name| read(&format!("{FOLDER}/{name}"))) {
        for vector in list(&chapter["vectors"]) {
            let id = text(&vector["id"]);
            let is_known = known.remove(id).is_some();
            if !list(&vector["editions"]).contains(&exceptions["edition"]) {
                continue;
            }
            if exceptions["kinds"].get(text(&vector["kind"])).is_some() {
                skipped += 1;
                continue;
            }
            match (difference(vector), is_known) {
                (None, false) => passed += 1,
                (Some(_), true) => skipped += 1,
                (Some(problem), false) => failures.push(format!("{id}: {problem}")),
                (None, true) => {
                    failures.push(format!("{id} passes: remove it from exceptions.json"))
                }
            }
        }
    }
    failures.extend(
        known
            .keys()
            .map(|id| format!("{id}: there is no such vector")),
    );
    println!("{passed} vectors passed, {skipped} skipped");
    if !failures.is_empty() {
        panic!("{} vectors fail:\n{}", failures.len(), failures.join("\n"));
    }
}
