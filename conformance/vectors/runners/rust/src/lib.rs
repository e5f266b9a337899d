//! An implementation under test, as small as it can be: put your own functions here, one for each kind.

use serde_json::{json, Value};

const CROCKFORD: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

fn above(asked: &Value) -> bool {
    let settings = &asked["settings"];
    let threshold = settings["threshold_tokens"].as_u64().unwrap_or(6400);
    settings["enabled"].as_bool().unwrap_or(true)
        && asked["estimated_tokens"].as_u64().unwrap() > threshold
}

fn injection(asked: &Value) -> Value {
    match above(asked) {
        true => json!({"result": "descriptor", "records": asked["found"], "formatted": false}),
        false => json!({"result": "text", "records": 0, "formatted": true}),
    }
}

fn is_operation(word: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    word.split('-').all(is_part)
}

/// The operation and the milliseconds since 1970 in a file's name.
fn parsed(name: &str) -> Option<(&str, u64)> {
    let (operation, ulid) = name
        .strip_prefix("atlatl-")?
        .strip_suffix(".jsonl")?
        .rsplit_once('-')?;
    let digits: Option<Vec<u64>> = ulid
        .chars()
        .map(|c| CROCKFORD.find(c.to_ascii_uppercase()).map(|n| n as u64))
        .collect();
    let digits = digits.filter(|all| all.len() == 26 && all[0] <= 7 && is_operation(operation))?;
    Some((
        operation,
        digits[..10]
            .iter()
            .fold(0, |value, digit| value * 32 + digit),
    ))
}

fn name(asked: &Value) -> Value {
    match parsed(asked["name"].as_str().unwrap()) {
        Some((operation, milliseconds)) => {
            json!({"operation": operation, "milliseconds": milliseconds})
        }
        None => Value::Null,
    }
}

fn cleanup(asked: &Value) -> Value {
    let lives = asked["settings"]["ttl_seconds"].as_u64().unwrap_or(3600);
    let is_due = |entry: &&Value| {
        let created = parsed(entry["name"].as_str().unwrap()).map(|(_, milliseconds)| milliseconds);
        entry["kind"] == "file"
            && created.map_or(false, |ms| {
                ms + lives * 1000 < asked["now"].as_u64().unwrap() * 1000
            })
    };
    asked["entries"]
        .as_array()
        .unwrap()
        .iter()
        .filter(is_due)
        .map(|entry| entry["name"].clone())
        .collect()
}

/// The answer to a vector; None for a kind that this implementation lacks.
pub fn answer(kind: &str, asked: &Value) -> Option<Value> {
    Some(match kind {
        "decision" => json!(if above(asked) { "offloaded" } else { "inline" }),
        "estimate" => json!((asked["text"].as_str().unwrap().chars().count() + 3) / 4),
        "injection" => injection(asked),
        "name" => name(asked),
        "cleanup" => cleanup(asked),
        _ => return None,
    })
}
