// Runner for `go test`: it needs exceptions.json, and Kinds, a map from each kind of vector to your function.
package vectors

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

const folder = "../../" // of the vectors

type document struct { // index.json, exceptions.json or a chapter
	Version, Edition, Chapter string
	Editions                  map[string]int
	Exceptions                map[string]string
	Files                     []struct{ Name string }
	Vectors                   []vector
}

type vector struct {
	ID, Kind, About, Why   string
	Requirements, Editions []string
	Input                  map[string]any
	Expect                 []map[string]any
	Mistake                struct {
		Why    string
		Answer any
	}
}

func TestVectors(t *testing.T) {
	index, own := read(t, folder+"index.json"), read(t, "exceptions.json")
	if !strings.HasPrefix(index.Version, own.Version+".") || index.Editions[own.Edition] == 0 {
		t.Fatalf("exceptions.json is for vectors %s and has the edition %q; these are %s with %v: read CHANGELOG.md",
			own.Version, own.Edition, index.Version, index.Editions)
	}
	failing := map[string]bool{} // ids of vectors, and kinds without a function
	for _, file := range index.Files {
		chapter, passed, skipped, failed := read(t, folder+file.Name), 0, 0, 0
		for _, v := range chapter.Vectors {
			subject, problem := v.ID, ""
			if !strings.Contains(strings.Join(v.Editions, " "), own.Edition) {
				continue
			} else if Kinds[v.Kind] != nil {
				problem = v.problem()
			} else {
				subject, problem = v.Kind, "no function, and no reason in exceptions.json, for this kind of vectors"
			}
			if problem == "" {
				passed++
			} else if own.Exceptions[subject] != "" || failing[subject] {
				skipped++
			} else {
				failed++
				t.Errorf("%s: %s", subject, problem)
			}
			failing[subject] = failing[subject] || problem != ""
		}
		fmt.Printf("%-12s %4d passed %4d skipped %4d failed\n", chapter.Chapter, passed, skipped, failed)
	}
	for name := range own.Exceptions {
		if !failing[name] {
			t.Errorf("exceptions.json excuses %s, which does not fail, or is not there", name)
		}
	}
}

// problem is empty if your function answers as expected.
func (v vector) problem() (problem string) {
	defer func() {
		if panicked := recover(); panicked != nil {
			problem = fmt.Sprintf("%s\n  panic: %v\n  input: %.500v", v.About, panicked, v.Input)
		}
	}()
	data, _ := json.Marshal(Kinds[v.Kind](v.Input))
	var answer any // as JSON has it: all numbers are doubles
	json.Unmarshal(data, &answer)
	for _, rule := range v.Expect {
		if !holds(rule, answer) {
			if v.Mistake.Why != "" && reflect.DeepEqual(v.Mistake.Answer, answer) {
				v.Why += "\n  common mistake: " + v.Mistake.Why
			}
			expected, _ := json.Marshal(rule)
			input, _ := json.Marshal(v.Input)
			return fmt.Sprintf("%s\n  why: %s\n  requirements: %v\n  expected: %s\n  got: %.500s\n  input: %.500s",
				v.About, v.Why, v.Requirements, expected, data, input)
		}
	}
	return ""
}

func holds(rule map[string]any, value any) bool {
	for _, name := range strings.Split(rule["at"].(string), "/")[1:] {
		members, _ := value.(map[string]any)
		value = members[name]
	}
	if bounds, set := rule["between"].([]any); set {
		number, isNumber := value.(float64)
		return isNumber && bounds[0].(float64) <= number && number <= bounds[1].(float64)
	}
	found := false
	if parts, set := rule["has"].([]any); set {
		text, _ := value.(string)
		for _, part := range parts {
			found = found || strings.Contains(strings.ToLower(text), part.(string))
		}
	} else {
		for _, one := range rule["is"].([]any) {
			found = found || reflect.DeepEqual(one, value)
		}
	}
	return found
}

func read(t *testing.T, path string) (found document) {
	data, problem := os.ReadFile(path)
	if problem == nil {
		problem = json.Unmarshal(data, &found)
	}
	if problem != nil {
		t.Fatalf("%s: %s", path, problem)
	}
	return found
}
