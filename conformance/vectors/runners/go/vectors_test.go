// Runner for `go test`: each vector is a subtest. Put your own code into implementation.go.
package vectors

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

const folder = "../../" // of the vectors

type vector struct {
	Id, Kind, Why          string
	Requirements, Editions []string
	Input                  object
	Expect                 []object
}

var exceptions struct {
	Vectors, Edition string
	Kinds            map[string]string
	KnownFailures    map[string]string `json:"known_failures"`
}

func read(t *testing.T, path string, into any) {
	data, problem := os.ReadFile(path)
	if problem == nil {
		problem = json.Unmarshal(data, into)
	}
	if problem != nil {
		t.Fatal(path, ": ", problem)
	}
}

func holds(rule object, value any) bool {
	for _, name := range strings.Split(rule["at"].(string), "/")[1:] {
		members, _ := value.(object)
		value = members[name]
	}
	if bounds, is := rule["between"].([]any); is {
		number, is := value.(float64)
		return is && bounds[0].(float64) <= number && number <= bounds[1].(float64)
	}
	if parts, is := rule["has"].([]any); is {
		text, _ := value.(string)
		return anyOf(parts, func(part any) bool { return strings.Contains(strings.ToLower(text), part.(string)) })
	}
	return anyOf(rule["is"].([]any), func(one any) bool { return reflect.DeepEqual(one, value) })
}

func anyOf(values []any, fits func(any) bool) bool {
	for _, value := range values {
		if fits(value) {
			return true
		}
	}
	return false
}

func check(t *testing.T, v vector) {
	if reason, missing := exceptions.Kinds[v.Kind]; missing {
		t.Skip(reason)
	}
	function, has := Kinds[v.Kind]
	if !has {
		t.Fatalf("no answer to %s, and no reason in exceptions.json", v.Kind)
	}
	var answer any
	data, _ := json.Marshal(function(v.Input))
	json.Unmarshal(data, &answer)
	reason, known := exceptions.KnownFailures[v.Id]
	for _, rule := range v.Expect {
		if !holds(rule, answer) && known {
			t.Skip(reason)
		}
		if !holds(rule, answer) {
			expected, _ := json.Marshal(rule)
			t.Fatalf("%s %s\nexpected %s\ngot %s", v.Why, v.Requirements, expected, data)
		}
	}
	if known {
		t.Fatalf("%s passes: remove it from exceptions.json", v.Id)
	}
}

func TestVectors(t *testing.T) {
	var index struct {
		Version string
		Files   []struct{ Name string }
	}
	read(t, folder+"index.json", &index)
	read(t, "exceptions.json", &exceptions)
	if strings.Split(index.Version, ".")[0] != exceptions.Vectors {
		t.Fatalf("version %s: read CHANGELOG.md of the vectors", index.Version)
	}
	ids := map[string]bool{}
	for _, file := range index.Files {
		var chapter struct{ Vectors []vector }
		read(t, folder+file.Name, &chapter)
		for _, v := range chapter.Vectors {
			ids[v.Id] = true
			if strings.Contains(strings.Join(v.Editions, " "), exceptions.Edition) {
				t.Run(v.Id, func(t *testing.T) { check(t, v) })
			}
		}
	}
	for id := range exceptions.KnownFailures {
		if !ids[id] {
			t.Errorf("%s: there is no such vector", id)
		}
	}
}
