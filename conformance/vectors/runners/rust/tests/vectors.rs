//! Runner for `cargo test`. Copy this file, and write `answer` in lib.rs and exceptions.json.
//! LRO_VECTORS: the folder of the vectors (default: two above). LRO_ADAPTER: a command to ask in place of lib.rs.

use serde_json::{json, Map, Value};
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs, thread};

fn load(path: &Path) -> Value {
    let text =
        fs::read_to_string(path).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Compares JSON values; with `part`, objects of `b` may have further members.
fn equal(a: &Value, b: &Value, part: bool) -> bool {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            (part || x.len() == y.len())
                && x.iter()
                    .all(|(k, v)| y.get(k).map_or(false, |other| equal(v, other, part)))
        }
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(v, w)| equal(v, w, part))
        }
        (Value::Number(x), Value::Number(y)) => x == y || x.as_f64() == y.as_f64(),
        _ => a == b,
    }
}

fn same(wanted: &Value, got: &Value) -> bool {
    let is_there = |one: &Value| list(got).iter().any(|other| equal(one, other, false));
    got.is_array() && list(got).len() == list(wanted).len() && list(wanted).iter().all(is_there)
}

fn mentions(words: &Value, got: &str) -> bool {
    list(words)
        .iter()
        .any(|word| got.to_lowercase().contains(&text(word).to_lowercase()))
}

fn matches(expect: &Value, got: &Value) -> bool {
    let (comparison, wanted) = expect.as_object().unwrap().iter().next().unwrap();
    match comparison.as_str() {
        "equals" => equal(wanted, got, false),
        "contains" => equal(wanted, got, true),
        "same" => same(wanted, got),
        "any" => list(wanted).iter().any(|one| equal(one, got, false)),
        "between" => got.as_f64().map_or(false, |n| {
            wanted[0].as_f64() <= Some(n) && Some(n) <= wanted[1].as_f64()
        }),
        "breaks" if got.is_string() => {
            text(got)
                == if list(wanted).is_empty() {
                    "valid"
                } else {
                    "invalid"
                }
        }
        "breaks" => same(wanted, got),
        "mentions" => list(wanted).iter().all(|words| mentions(words, text(got))),
        "members" => wanted
            .as_object()
            .unwrap()
            .iter()
            .all(|(name, one)| matches(one, &got[name])),
        _ => panic!("the comparison {comparison} is unknown: read CHANGELOG.md of the vectors"),
    }
}

/// The answers by the id of the vector; those of kinds that the implementation lacks are missing.
fn answers(vectors: &[Value], edition: &Value) -> HashMap<String, Value> {
    let id = |v: &Value| text(&v["id"]).to_string();
    let adapter = env::var("LRO_ADAPTER").unwrap_or_default();
    if adapter.is_empty() {
        let answered =
            |v: &Value| lro_vectors::answer(text(&v["kind"]), &v["input"]).map(|a| (id(v), a));
        return vectors.iter().filter_map(answered).collect();
    }
    let request = |(n, v): (usize, &Value)| {
        let params = json!({"vector": v["id"], "edition": edition, "input": v["input"]});
        json!({"jsonrpc": "2.0", "id": n, "method": v["kind"], "params": params}).to_string() + "\n"
    };
    let input: String = vectors.iter().enumerate().map(request).collect();
    let mut words = adapter.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    let mut process = command
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the adapter");
    let mut stdin = process.stdin.take().unwrap();
    let writer = thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = process.wait_with_output().unwrap();
    writer.join().unwrap().expect("the adapter reads its stdin");
    let replies = String::from_utf8(output.stdout).unwrap();
    let mut found = HashMap::new();
    for line in replies.lines() {
        let reply: Value = serde_json::from_str(line).unwrap();
        if let Some(answer) = reply["result"].get("answer") {
            found.insert(
                id(&vectors[reply["id"].as_u64().unwrap() as usize]),
                answer.clone(),
            );
        }
    }
    found
}

#[test]
fn vectors() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = env::var_os("LRO_VECTORS").map_or(here.join("../.."), Into::into);
    let exceptions =
        load(&env::var_os("LRO_EXCEPTIONS").map_or(here.join("exceptions.json"), Into::into));
    let index = load(&folder.join("index.json"));
    let major = text(&index["version"]).split('.').next().unwrap();
    assert_eq!(
        major,
        text(&exceptions["vectors"]),
        "read CHANGELOG.md of the vectors, then exceptions.json"
    );
    let chapters = list(&index["files"])
        .iter()
        .map(|file| load(&folder.join(text(&file["name"]))));
    let every: Vec<Value> = chapters
        .flat_map(|chapter| list(&chapter["vectors"]).to_vec())
        .collect();
    let of_edition = |v: &&Value| list(&v["editions"]).contains(&exceptions["edition"]);
    let vectors: Vec<Value> = every.iter().filter(of_edition).cloned().collect();
    let (nothing, mut failures, mut passed, mut skipped) = (Map::new(), Vec::new(), 0, 0);
    let known = exceptions["known_failures"].as_object().unwrap_or(&nothing);
    for id in known
        .keys()
        .filter(|id| every.iter().all(|v| text(&v["id"]) != *id))
    {
        failures.push(format!(
            "{id}: exceptions.json names a vector that does not exist"
        ));
    }
    let mut answered = answers(&vectors, &exceptions["edition"]);
    for vector in &vectors {
        let (id, kind) = (text(&vector["id"]), text(&vector["kind"]));
        let mut answer = match (answered.remove(id), exceptions["kinds"].get(kind)) {
            (Some(answer), _) => answer,
            (None, reason) => {
                match reason {
                    Some(_) => skipped += 1,
                    None => failures.push(format!(
                        "{id}: no answer to kind {kind}, and no reason in exceptions.json"
                    )),
                }
                continue;
            }
        };
        if kind == "write" {
            let file = text(&answer["file"]).trim_end_matches('\n');
            answer["lines"] = file
                .split('\n')
                .map(|line| serde_json::from_str::<Value>(line).unwrap())
                .collect();
        }
        match (matches(&vector["expect"], &answer), known.contains_key(id)) {
            (true, false) => passed += 1,
            (false, true) => skipped += 1,
            (true, true) => failures.push(format!("{id} passes: remove it from exceptions.json")),
            (false, false) => {
                let (why, ids) = (text(&vector["why"]), &vector["requirements"]);
                failures.push(format!(
                    "{id}: {why} {ids}\n  expected {}\n  got {answer}",
                    vector["expect"]
                ));
            }
        }
    }
    println!("{passed} vectors passed, {skipped} skipped");
    assert!(
        failures.is_empty(),
        "{} vectors fail:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
