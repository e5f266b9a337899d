//! Runner for `cargo test`: it needs exceptions.json, and your `answer` to a kind of vector and its input.

use lro_vectors::answer;
use serde_json::{json, Value};
use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;

const FOLDER: &str = "../.."; // of the vectors

#[test]
fn vectors() {
    let index = read(&format!("{FOLDER}/index.json"));
    let own = read("exceptions.json");
    let (version, wanted) = (text(&index["version"]), text(&own["version"]));
    let (edition, editions) = (text(&own["edition"]), &index["editions"]);
    if !version.starts_with(&format!("{wanted}.")) || editions.get(edition).is_none() {
        panic!(
            "exceptions.json is for vectors {wanted} and has the edition {edition:?}; \
             these are {version} with {editions}: read CHANGELOG.md"
        );
    }
    let mut failing = BTreeSet::new(); // ids of vectors, and kinds without an answer
    let mut problems = vec![];
    for file in list(&index["files"]) {
        let chapter = read(&format!("{FOLDER}/{}", text(&file["name"])));
        let (mut passed, mut skipped, before) = (0, 0, problems.len());
        for vector in list(&chapter["vectors"]) {
            if !list(&vector["editions"]).contains(&own["edition"]) {
                continue;
            }
            match difference(vector) {
                Ok(()) => passed += 1,
                Err((subject, problem)) => {
                    let is_new = failing.insert(subject.clone());
                    if is_new && text(&own["exceptions"][&subject]).is_empty() {
                        problems.push(format!("{subject}: {problem}"));
                    } else {
                        skipped += 1;
                    }
                }
            }
        }
        let (name, failed) = (text(&chapter["chapter"]), problems.len() - before);
        println!("{name:12} {passed:4} passed {skipped:4} skipped {failed:4} failed");
    }
    for name in own["exceptions"].as_object().unwrap().keys() {
        if !failing.contains(name) {
            problems.push(format!(
                "exceptions.json excuses {name}, which does not fail, or is not there"
            ));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The problem of your answer, if there is one, after the name that an exception for it has.
fn difference(vector: &Value) -> Result<(), (String, String)> {
    let [id, kind, about, why] = ["id", "kind", "about", "why"].map(|name| text(&vector[name]));
    let got = match catch_unwind(|| answer(kind, &vector["input"])) {
        Ok(Some(got)) => normal(&got),
        Ok(None) => {
            let problem = "no answer, and no reason in exceptions.json, for this kind of vectors";
            return Err((kind.into(), problem.into()));
        }
        Err(_) => json!("panic, shown above"),
    };
    match list(&vector["expect"])
        .iter()
        .find(|rule| !holds(rule, &got))
    {
        None => Ok(()),
        Some(expected) => {
            let mistake = match vector["mistake"]["why"].as_str() {
                Some(text) if normal(&vector["mistake"]["answer"]) == got => {
                    format!("\n  common mistake: {text}")
                }
                _ => String::new(),
            };
            let [requirements, got, input] =
                [&vector["requirements"], &got, &vector["input"]].map(Value::to_string);
            let lines = format!(
                "{about}\n  why: {why}{mistake}\n  requirements: {requirements}\n  expected: {expected}\n  \
                 got: {got:.500}\n  input: {input:.500}"
            );
            Err((id.into(), lines))
        }
    }
}

fn holds(rule: &Value, answer: &Value) -> bool {
    let value = answer.pointer(text(&rule["at"])).unwrap_or(&Value::Null);
    let lower = text(value).to_lowercase();
    let bound = |n: usize| rule["between"][n].as_f64();
    let is_between = value.is_number() && bound(0) <= value.as_f64() && value.as_f64() <= bound(1);
    let is_one = list(&rule["is"]).iter().any(|one| normal(one) == *value);
    let has_one = list(&rule["has"])
        .iter()
        .any(|part| lower.contains(text(part)));
    is_between || is_one || has_one
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

fn read(path: &str) -> Value {
    let content = fs::read_to_string(path).unwrap_or_else(|problem| panic!("{path}: {problem}"));
    serde_json::from_str(&content).unwrap_or_else(|problem| panic!("{path}: {problem}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
