// Runner for `go test`: each vector is a subtest. Copy this file, and write implementation.go and exceptions.json beside it.
// LRO_VECTORS: the folder of the vectors (default: two above). LRO_ADAPTER: a command to ask in place of implementation.go.
package vectors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

type Vector struct {
	Id, Kind, Why          string
	Requirements, Editions []string
	Input                  map[string]any
	Expect                 map[string]any
}

type Exceptions struct {
	Vectors, Edition string
	Kinds            map[string]string
	KnownFailures    map[string]string `json:"known_failures"`
}

func setting(name, otherwise string) string {
	if value, set := os.LookupEnv(name); set {
		return value
	}
	return otherwise
}

func load(t *testing.T, path string, into any) {
	data, problem := os.ReadFile(path)
	if problem == nil {
		problem = json.Unmarshal(data, into)
	}
	if problem != nil {
		t.Fatal(path, problem)
	}
}

// equal compares JSON values; with part, objects of b may have further members.
func equal(a, b any, part bool) bool {
	switch x := a.(type) {
	case map[string]any:
		y, is := b.(map[string]any)
		if !is || (!part && len(x) != len(y)) {
			return false
		}
		for key, value := range x {
			if other, there := y[key]; !there || !equal(value, other, part) {
				return false
			}
		}
		return true
	case []any:
		y, is := b.([]any)
		if !is || len(x) != len(y) {
			return false
		}
		for n := range x {
			if !equal(x[n], y[n], part) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

func anyEqual(wanted []any, got any) bool {
	for _, one := range wanted {
		if equal(one, got, false) {
			return true
		}
	}
	return false
}

func same(wanted []any, got any) bool {
	found, is := got.([]any)
	if !is || len(found) != len(wanted) {
		return false
	}
	for _, one := range wanted {
		if !anyEqual(found, one) {
			return false
		}
	}
	return true
}

func mentions(wanted []any, text string) bool {
	for _, words := range wanted {
		there := false
		for _, word := range words.([]any) {
			there = there || strings.Contains(strings.ToLower(text), strings.ToLower(word.(string)))
		}
		if !there {
			return false
		}
	}
	return true
}

func matches(expect map[string]any, got any) bool {
	for comparison, wanted := range expect { // there is one
		switch comparison {
		case "equals", "contains":
			return equal(wanted, got, comparison == "contains")
		case "same":
			return same(wanted.([]any), got)
		case "any":
			return anyEqual(wanted.([]any), got)
		case "between":
			number, is := got.(float64)
			bounds := wanted.([]any)
			return is && bounds[0].(float64) <= number && number <= bounds[1].(float64)
		case "breaks":
			if text, is := got.(string); is {
				return text == map[bool]string{true: "valid", false: "invalid"}[len(wanted.([]any)) == 0]
			}
			return same(wanted.([]any), got)
		case "mentions":
			text, is := got.(string)
			return is && mentions(wanted.([]any), text)
		case "members":
			object, is := got.(map[string]any)
			for name, one := range wanted.(map[string]any) {
				is = is && matches(one.(map[string]any), object[name])
			}
			return is
		}
	}
	return false
}

// plain returns a value as the JSON parser has it.
func plain(t *testing.T, value any) (parsed any) {
	data, problem := json.Marshal(value)
	if problem == nil {
		problem = json.Unmarshal(data, &parsed)
	}
	if problem != nil {
		t.Fatal(problem)
	}
	return
}

// answers returns the answers by the id of the vector; those of kinds that the implementation lacks are missing.
func answers(t *testing.T, vectors []Vector, edition string) map[string]any {
	found := map[string]any{}
	command := strings.Fields(os.Getenv("LRO_ADAPTER"))
	if len(command) == 0 {
		for _, v := range vectors {
			if function, has := Kinds[v.Kind]; has {
				found[v.Id] = plain(t, function(v.Input))
			}
		}
		return found
	}
	var input bytes.Buffer
	for n, v := range vectors {
		params := map[string]any{"vector": v.Id, "edition": edition, "input": v.Input}
		line, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": n, "method": v.Kind, "params": params})
		input.Write(append(line, '\n'))
	}
	process := exec.Command(command[0], command[1:]...)
	process.Stdin, process.Stderr = &input, os.Stderr
	output, problem := process.Output()
	if problem != nil {
		t.Fatal(problem)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(output)), "\n") {
		var reply struct {
			Id     int
			Result map[string]any
		}
		if problem := json.Unmarshal([]byte(line), &reply); problem != nil {
			t.Fatal(line, problem)
		}
		if reply.Result != nil {
			found[vectors[reply.Id].Id] = reply.Result["answer"]
		}
	}
	return found
}

func TestVectors(t *testing.T) {
	folder := setting("LRO_VECTORS", filepath.Join("..", ".."))
	var exceptions Exceptions
	load(t, setting("LRO_EXCEPTIONS", "exceptions.json"), &exceptions)
	var index struct {
		Version string
		Files   []struct{ Name string }
	}
	load(t, filepath.Join(folder, "index.json"), &index)
	if strings.Split(index.Version, ".")[0] != exceptions.Vectors {
		t.Fatal("version ", index.Version, ": read CHANGELOG.md of the vectors, then exceptions.json")
	}
	var vectors []Vector
	known := map[string]bool{}
	for _, file := range index.Files {
		var chapter struct{ Vectors []Vector }
		load(t, filepath.Join(folder, file.Name), &chapter)
		for _, v := range chapter.Vectors {
			known[v.Id] = true
			if strings.Contains(fmt.Sprint(v.Editions), exceptions.Edition) {
				vectors = append(vectors, v)
			}
		}
	}
	for id := range exceptions.KnownFailures {
		if !known[id] {
			t.Error("exceptions.json names a vector that does not exist: ", id)
		}
	}
	answered := answers(t, vectors, exceptions.Edition)
	for _, v := range vectors {
		v := v
		t.Run(v.Id, func(t *testing.T) {
			answer, there := answered[v.Id]
			if !there {
				reason, excused := exceptions.Kinds[v.Kind]
				if !excused {
					t.Fatal("no answer to kind ", v.Kind, ", and no reason in exceptions.json")
				}
				t.Skip(reason)
			}
			if v.Kind == "write" { // compared by its parsed lines
				var lines []any
				for _, line := range strings.Split(strings.TrimSuffix(answer.(map[string]any)["file"].(string), "\n"), "\n") {
					lines = append(lines, plain(t, json.RawMessage(line)))
				}
				answer.(map[string]any)["lines"] = lines
			}
			reason, excused := exceptions.KnownFailures[v.Id]
			fits := matches(v.Expect, answer)
			if excused && fits {
				t.Fatal(v.Id, " passes: remove it from exceptions.json")
			}
			if excused {
				t.Skip(reason)
			}
			if !fits {
				expected, _ := json.Marshal(v.Expect)
				got, _ := json.Marshal(answer)
				t.Fatalf("%s %v\nexpected %s\ngot %s", v.Why, v.Requirements, expected, got)
			}
		})
	}
}
