"""A writer of offloaded files and their descriptors, as small as it can be."""

import json
from collections import Counter

RECIPES = {
    "Every title beside its confidence": "jq -r '[.title, .provenance.confidence] | @tsv'",
    "Memories under a namespace prefix": "jq 'select(.namespace | startswith(\"_semantic\"))'",
    "Memories with a keyword in the title": 'jq \'select(.title | test("keyword"; "i"))\'',
    "All memories, most confident first": "jq -s 'sort_by(-.provenance.confidence)'",
    "Ids, titles and namespaces alone": "jq '{id, title, namespace}'",
    "Memories of one type": "jq 'select(.memory_type == \"semantic\")'",
    "Memories that mention entities": "jq 'select(.entities | length > 0)'",
    "How many memories each namespace holds": (
        "jq -s 'group_by(.namespace) | map({namespace: .[0].namespace, count: length}) | sort_by(-.count)'"
    ),
    "The most confident memories": "jq -s 'sort_by(-.provenance.confidence) | .[:10]'",
    "Memories with a pattern in the content": 'jq \'select(.content | test("pattern"; "i"))\'',
}
LINE_SCHEMA = {
    "type": "object",
    "properties": {"id": {"type": ["string", "integer"]}, "title": {"type": "string"}, "namespace": {"type": "string"}},
    "required": ["id", "title", "namespace"],
}


def quote(path):
    return "'" + path.replace("'", "'\\''") + "'"


def write(question):
    call, records, tokens = question["call"], question["records"], question["estimated_tokens"]
    operation, count = call["operation"], len(records)
    detail = call.get("detail", "medium" if operation == "inject" else "light")
    about = {"operation": operation, "count": count, "estimated_tokens": tokens, "detail": detail}
    header = {"type": "lro_header", **about, "query": call.get("query")}
    header |= {"schema_version": "1.0.0", "timestamp": question["timestamp"]}
    file = "".join(json.dumps(line) + "\n" for line in (header, *records))
    path = f"{question['output_dir']}/atlatl-{operation}-{question['ulid']}.jsonl"
    namespaces = Counter(record["namespace"] for record in records).most_common(5)
    if operation == "search":
        scores = [record["score"] for record in records if "score" in record]
    else:
        scores = [r["provenance"]["confidence"] for r in records if "confidence" in r.get("provenance", {})]
    summary = {**about, "top_namespaces": [name for name, _ in namespaces]}
    summary["score_range"] = [min(scores), max(scores)] if scores else None
    guidance = (
        f"{count} memories were offloaded to a JSONL file (~{tokens} tokens saved).\nFile: {path}\n"
        f"Detail level: {detail}\nUse the jq recipes above to extract what is needed.\n"
        "The header is line 1; memories start at line 2."
    )
    recipes = [{"description": d, "command": f"tail -n +2 {quote(path)} | {jq}"} for d, jq in RECIPES.items()]
    descriptor = {"offloaded": True, "summary": summary, "file_path": path, "line_schema": LINE_SCHEMA}
    descriptor |= {"jq_recipes": recipes, "guidance": guidance}
    first, *others = map(json.loads, file.splitlines())
    return {"descriptor": descriptor, "file": file, "header": first, "records": others}
