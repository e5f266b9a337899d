package vectors

import (
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strings"
)

var recipes = [][2]string{
	{"Every title beside its confidence", `jq -r '[.title, .provenance.confidence] | @tsv'`},
	{"Memories under a namespace prefix", `jq 'select(.namespace | startswith("_semantic"))'`},
	{"Memories with a keyword in the title", `jq 'select(.title | test("keyword"; "i"))'`},
	{"All memories, most confident first", `jq -s 'sort_by(-.provenance.confidence)'`},
	{"Ids, titles and namespaces alone", `jq '{id, title, namespace}'`},
	{"Memories of one type", `jq 'select(.memory_type == "semantic")'`},
	{"Memories that mention entities", `jq 'select(.entities | length > 0)'`},
	{"How many memories each namespace holds", `jq -s 'group_by(.namespace) | map({namespace: .[0].namespace, count: length}) | sort_by(-.count)'`},
	{"The most confident memories", `jq -s 'sort_by(-.provenance.confidence) | .[:10]'`},
	{"Memories with a pattern in the content", `jq 'select(.content | test("pattern"; "i"))'`},
}

var lineSchema = json.RawMessage(`{
	"type": "object",
	"properties": {"id": {"type": ["string", "integer"]}, "title": {"type": "string"}, "namespace": {"type": "string"}},
	"required": ["id", "title", "namespace"]
}`)

func quote(path string) string {
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// write returns an offloaded file and its descriptor; it is a writer as small as it can be.
func write(question object) any {
	call, records := question["call"].(object), question["records"].([]any)
	operation, tokens, count := call["operation"].(string), question["estimated_tokens"], len(records)
	detail, set := call["detail"]
	if !set {
		detail = map[bool]string{true: "medium", false: "light"}[operation == "inject"]
	}
	header := object{
		"type": "lro_header", "operation": operation, "count": count, "estimated_tokens": tokens, "detail": detail,
		"query": call["query"], "schema_version": "1.0.0", "timestamp": question["timestamp"],
	}
	var file strings.Builder
	for _, line := range append([]any{header}, records...) {
		text, _ := json.Marshal(line)
		file.Write(append(text, '\n'))
	}
	path := fmt.Sprintf("%s/atlatl-%s-%s.jsonl", question["output_dir"], operation, question["ulid"])
	commands := []object{}
	for _, one := range recipes {
		commands = append(commands, object{"description": one[0], "command": "tail -n +2 " + quote(path) + " | " + one[1]})
	}
	return object{
		"descriptor": object{
			"offloaded": true,
			"summary": object{
				"operation": operation, "count": count, "estimated_tokens": tokens, "detail": detail,
				"top_namespaces": topNamespaces(records), "score_range": scoreRange(operation, records),
			},
			"file_path": path, "line_schema": lineSchema, "jq_recipes": commands,
			"guidance": fmt.Sprintf("%d memories were offloaded to a JSONL file (~%v tokens saved).\nFile: %s\nDetail level: %s\n"+
				"Use the jq recipes above to extract what is needed.\nThe header is line 1; memories start at line 2.",
				count, tokens, path, detail),
		},
		"file":    file.String(),
		"header":  parsed(file.String())[0],
		"records": parsed(file.String())[1:],
	}
}

// parsed returns the lines of a file as JSON values.
func parsed(file string) []any {
	values := []any{}
	for decoder := json.NewDecoder(strings.NewReader(file)); decoder.More(); {
		var value any
		if problem := decoder.Decode(&value); problem != nil {
			panic(problem)
		}
		values = append(values, value)
	}
	return values
}

func topNamespaces(records []any) []string {
	counts, names := map[string]int{}, []string{}
	for _, record := range records {
		name := record.(object)["namespace"].(string)
		if counts[name] == 0 {
			names = append(names, name)
		}
		counts[name]++
	}
	sort.SliceStable(names, func(a, b int) bool { return counts[names[a]] > counts[names[b]] })
	if len(names) > 5 {
		return names[:5]
	}
	return names
}

func scoreRange(operation string, records []any) any {
	least, most := math.Inf(1), math.Inf(-1)
	for _, record := range records {
		provenance, _ := record.(object)["provenance"].(object)
		score, has := provenance["confidence"].(float64)
		if operation == "search" {
			score, has = record.(object)["score"].(float64)
		}
		if has {
			least, most = math.Min(least, score), math.Max(most, score)
		}
	}
	if least > most {
		return nil
	}
	return []float64{least, most}
}
