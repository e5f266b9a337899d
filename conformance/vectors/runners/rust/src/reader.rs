//! A reader of offloaded files, as small as it can be.

use serde_json::Value;
use std::collections::HashSet;

fn is_count(value: &Value) -> bool {
    value
        .as_f64()
        .map_or(false, |number| number >= 0.0 && number.fract() == 0.0)
}

fn is_filled(value: &Value) -> bool {
    value.as_str().map_or(false, |text| !text.is_empty())
}

/// The form of a time by RFC 3339; days of months are left to a library.
fn is_time(value: &Value) -> bool {
    let shape: String = value
        .as_str()
        .unwrap_or_default()
        .to_uppercase()
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    let rest = shape
        .strip_prefix("0000-00-00T00:00:00")
        .unwrap_or_default();
    let zone = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches('0'),
        None => rest,
    };
    ["Z", "+00:00", "-00:00"].contains(&zone)
}

fn is_header(header: &Value) -> bool {
    header["type"] == "lro_header"
        && header["operation"].is_string()
        && is_count(&header["count"])
        && is_filled(&header["schema_version"])
        && is_time(&header["timestamp"])
        && is_count(&header["estimated_tokens"])
        && header["detail"].is_string()
        && (header["query"].is_null() || header["query"].is_string())
}

fn is_record(record: &Value) -> bool {
    let texts = [
        "title",
        "namespace",
        "memory_type",
        "status",
        "created",
        "modified",
        "content",
    ];
    let tags = &record["tags"];
    let provenance = &record["provenance"];
    (record["id"].is_number() || is_filled(&record["id"]))
        && texts
            .iter()
            .all(|name| record[name].is_null() || record[name].is_string())
        && (tags.is_null()
            || tags
                .as_array()
                .map_or(false, |all| all.iter().all(Value::is_string)))
        && (provenance.is_null() || provenance.is_object())
}

/// The lines of a file as JSON values; None if one is not JSON.
fn parsed(data: &[u8]) -> Option<Vec<Value>> {
    let text = std::str::from_utf8(data).ok()?;
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.split('\n')
        .map(|line| serde_json::from_str(line).ok())
        .collect()
}

fn are_records(records: &[Value]) -> bool {
    let ids: HashSet<String> = records
        .iter()
        .map(|record| record["id"].to_string())
        .collect();
    ids.len() == records.len() && records.iter().all(is_record)
}

pub fn is_valid(data: &[u8]) -> bool {
    let lines = match parsed(data) {
        Some(lines) => lines,
        None => return false,
    };
    let (header, records) = (&lines[0], &lines[1..]);
    let is_proxied = header.get("extra").is_some(); // records of a proxy have any form
    lines.iter().all(Value::is_object)
        && is_header(header)
        && header["count"].as_f64() == Some(records.len() as f64)
        && records.iter().all(|record| record["type"] != "lro_header")
        && (is_proxied || are_records(records))
}
