//! An implementation under test, as small as it can be: put your own functions here, one for each kind.

mod reader;
mod writer;

use serde_json::{json, Value};
use std::io::Write;
use std::process::{Command, Stdio};

const CROCKFORD: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

fn above(question: &Value) -> bool {
    let settings = &question["settings"];
    let threshold = settings["threshold_tokens"].as_u64().unwrap_or(6400);
    settings["enabled"].as_bool().unwrap_or(true)
        && question["estimated_tokens"].as_u64().unwrap() > threshold
}

fn injection(question: &Value) -> Value {
    match above(question) {
        true => json!({"result": "descriptor", "records": question["found"], "formatted": false}),
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

fn name(question: &Value) -> Value {
    match parsed(question["name"].as_str().unwrap()) {
        Some((operation, milliseconds)) => {
            json!({"operation": operation, "milliseconds": milliseconds})
        }
        None => Value::Null,
    }
}

fn cleanup(question: &Value) -> Value {
    let ttl = question["settings"]["ttl_seconds"].as_u64().unwrap_or(3600);
    let is_due = |entry: &&Value| {
        let created = parsed(entry["name"].as_str().unwrap()).map(|(_, milliseconds)| milliseconds);
        entry["kind"] == "file"
            && created.map_or(false, |ms| {
                ms + ttl * 1000 < question["now"].as_u64().unwrap() * 1000
            })
    };
    let entries = question["entries"].as_array().unwrap();
    let mut gone: Vec<&str> = entries
        .iter()
        .filter(is_due)
        .map(|entry| entry["name"].as_str().unwrap())
        .collect();
    gone.sort();
    json!(gone)
}

fn file(question: &Value) -> Value {
    let byte =
        |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
    let data: Vec<u8> = match question["hex"].as_str() {
        Some(digits) => digits.as_bytes().chunks(2).map(byte).collect(),
        None => question["text"].as_str().unwrap().into(),
    };
    json!(if reader::is_valid(&data) {
        "valid"
    } else {
        "invalid"
    })
}

fn recipe(question: &Value) -> Value {
    let is_raw = question["raw"] == true;
    let mut command = Command::new("jq");
    command.args(["-c", question["program"].as_str().unwrap()]);
    command.args((question["slurp"] == true).then_some("-s"));
    command.args(is_raw.then_some("-r"));
    let mut process = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("jq is installed");
    let mut input = process.stdin.take().unwrap();
    for line in question["lines"].as_array().unwrap() {
        writeln!(input, "{}", line.as_str().unwrap()).unwrap();
    }
    drop(input); // the end of the file
    let output = process.wait_with_output().unwrap().stdout;
    let outputs = std::str::from_utf8(&output).unwrap().split_terminator('\n');
    outputs
        .map(|line| {
            if is_raw {
                json!(line)
            } else {
                serde_json::from_str(line).unwrap()
            }
        })
        .collect()
}

/// The answer to a vector; None for a kind that this implementation lacks.
pub fn answer(kind: &str, question: &Value) -> Option<Value> {
    Some(match kind {
        "decision" => json!(if above(question) {
            "offloaded"
        } else {
            "inline"
        }),
        "estimate" => json!((question["text"].as_str().unwrap().chars().count() + 3) / 4),
        "injection" => injection(question),
        "name" => name(question),
        "cleanup" => cleanup(question),
        "file" => file(question),
        "recipe" => recipe(question),
        "write" => writer::write(question),
        _ => return None,
    })
}
