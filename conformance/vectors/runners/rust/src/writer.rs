//! A writer of offloaded files and their descriptors, as small as it can be.

use serde_json::{json, Value};

const RECIPES: [(&str, &str); 10] = [
    (
        "Every title beside its confidence",
        r#"jq -r '[.title, .provenance.confidence] | @tsv'"#,
    ),
    (
        "Memories under a namespace prefix",
        r#"jq 'select(.namespace | startswith("_semantic"))'"#,
    ),
    (
        "Memories with a keyword in the title",
        r#"jq 'select(.title | test("keyword"; "i"))'"#,
    ),
    (
        "All memories, most confident first",
        r#"jq -s 'sort_by(-.provenance.confidence)'"#,
    ),
    (
        "Ids, titles and namespaces alone",
        r#"jq '{id, title, namespace}'"#,
    ),
    (
        "Memories of one type",
        r#"jq 'select(.memory_type == "semantic")'"#,
    ),
    (
        "Memories that mention entities",
        r#"jq 'select(.entities | length > 0)'"#,
    ),
    (
        "How many memories each namespace holds",
        r#"jq -s 'group_by(.namespace) | map({namespace: .[0].namespace, count: length}) | sort_by(-.count)'"#,
    ),
    (
        "The most confident memories",
        r#"jq -s 'sort_by(-.provenance.confidence) | .[:10]'"#,
    ),
    (
        "Memories with a pattern in the content",
        r#"jq 'select(.content | test("pattern"; "i"))'"#,
    ),
];

fn quote(path: &str) -> String {
    format!("'{}'", path.replace('\'', r"'\''"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn top_namespaces(records: &[Value]) -> Vec<&str> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for record in records {
        let name = text(&record["namespace"]);
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.iter().take(5).map(|(name, _)| *name).collect()
}

fn score_range(operation: &str, records: &[Value]) -> Option<[f64; 2]> {
    let score = |record: &Value| match operation {
        "search" => record["score"].as_f64(),
        _ => record["provenance"]["confidence"].as_f64(),
    };
    let scores: Vec<f64> = records.iter().filter_map(score).collect();
    let least = scores.iter().copied().reduce(f64::min)?;
    let most = scores.iter().copied().reduce(f64::max)?;
    Some([least, most])
}

pub fn write(question: &Value) -> Value {
    let (call, tokens) = (&question["call"], &question["estimated_tokens"]);
    let records = question["records"].as_array().unwrap();
    let (operation, count) = (text(&call["operation"]), records.len());
    let usual = if operation == "inject" {
        "medium"
    } else {
        "light"
    };
    let detail = call["detail"].as_str().unwrap_or(usual);
    let header = json!({
        "type": "lro_header", "operation": operation, "count": count, "estimated_tokens": tokens, "detail": detail,
        "query": call["query"], "schema_version": "1.0.0", "timestamp": question["timestamp"],
    });
    let lines = std::iter::once(&header).chain(records);
    let file: String = lines.map(|line| format!("{line}\n")).collect();
    let (folder, ulid) = (text(&question["output_dir"]), text(&question["ulid"]));
    let path = format!("{folder}/atlatl-{operation}-{ulid}.jsonl");
    let recipe = |(description, jq): &(&str, &str)| json!({"description": description, "command": format!("tail -n +2 {} | {jq}", quote(&path))});
    let guidance = format!(
        "{count} memories were offloaded to a JSONL file (~{tokens} tokens saved).\nFile: {path}\n\
         Detail level: {detail}\nUse the jq recipes above to extract what is needed.\n\
         The header is line 1; memories start at line 2."
    );
    let descriptor = json!({
        "offloaded": true,
        "summary": {
            "operation": operation, "count": count, "estimated_tokens": tokens, "detail": detail,
            "top_namespaces": top_namespaces(records), "score_range": score_range(operation, records),
        },
        "file_path": path,
        "line_schema": {
            "type": "object",
            "properties": {
                "id": {"type": ["string", "integer"]}, "title": {"type": "string"}, "namespace": {"type": "string"},
            },
            "required": ["id", "title", "namespace"],
        },
        "jq_recipes": RECIPES.iter().map(recipe).collect::<Value>(),
        "guidance": guidance,
    });
    let parsed: Vec<Value> = file
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    json!({"descriptor": descriptor, "file": file, "header": parsed[0], "records": parsed[1..]})
}
