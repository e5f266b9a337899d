//! The format of the vectors, and how an answer differs from the expected one. Copy this file as it is.

use serde_json::{json, Value};
use std::collections::BTreeSet;
use std::fs;

pub fn read(path: &str) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|problem| panic!("{path}: {problem}"));
    serde_json::from_str(&text).unwrap_or_else(|problem| panic!("{path}: {problem}"))
}

pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub fn keys(value: &Value) -> BTreeSet<String> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| key.clone())
        .collect()
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The difference between an answer and the expected one, with what explains it.
pub fn difference(vector: &Value, answer: &Value) -> Option<String> {
    let broken = list(&vector["expect"])
        .iter()
        .find(|rule| !holds(rule, answer))?;
    let [id, about, why] = ["id", "about", "why"].map(|name| text(&vector[name]));
    let mistake = vector["mistake"]["why"]
        .as_str()
        .filter(|_| normal(&vector["mistake"]["answer"]) == normal(answer))
        .map_or(String::new(), |text| format!("\n  common mistake: {text}"));
    let requirements = &vector["requirements"];
    let (got, input) = (answer.to_string(), vector["input"].to_string());
    Some(format!(
        "{id}: {about}
  why: {why} {requirements}{mistake}
  expected: {broken}
  got: {got:.500}
  input: {input:.500}"
    ))
}

fn holds(rule: &Value, answer: &Value) -> bool {
    let value = normal(answer.pointer(text(&rule["at"])).unwrap_or(&Value::Null));
    let lower = text(&value).to_lowercase();
    let bound = |n: usize| rule["between"][n].as_f64();
    let is_between = value.is_number() && bound(0) <= value.as_f64() && value.as_f64() <= bound(1);
    let is_one = list(&rule["is"]).iter().any(|one| normal(one) == value);
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
