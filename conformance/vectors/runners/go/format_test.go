// The format of the vectors, and how an answer differs from the expected one. Copy this file as it is.
package vectors

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

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
	Expect                 []rule
	Mistake                struct {
		Why    string
		Answer any
	}
}

type rule struct {
	At      string    `json:"at"`
	Is      []any     `json:"is,omitempty"`
	Has     []string  `json:"has,omitempty"`
	Between []float64 `json:"between,omitempty"`
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

// difference between an answer and the expected one, with what explains it; empty if there is none.
func (v vector) difference(answer any) string {
	data, _ := json.Marshal(answer)
	input, _ := json.Marshal(v.Input)
	var normal any // as JSON has it: all numbers are doubles
	json.Unmarshal(data, &normal)
	for _, one := range v.Expect {
		if !one.holds(normal) {
			expected, _ := json.Marshal(one)
			reason := fmt.Sprintf("%s %s", v.Why, v.Requirements)
			if v.Mistake.Why != "" && reflect.DeepEqual(v.Mistake.Answer, normal) {
				reason += "\n  common mistake: " + v.Mistake.Why
			}
			return fmt.Sprintf("%s: %s\n  why: %s\n  expected: %s\n  got: %.500s\n  input: %.500s",
				v.ID, v.About, reason, expected, data, input)
		}
	}
	return ""
}

func (r rule) holds(value any) bool {
	for _, name := range strings.Split(r.At, "/")[1:] {
		members, _ := value.(map[string]any)
		value = members[name]
	}
	text, _ := value.(string)
	number, isNumber := value.(float64)
	fits := isNumber && r.Between != nil && r.Between[0] <= number && number <= r.Between[1]
	for _, one := range r.Is {
		fits = fits || reflect.DeepEqual(one, value)
	}
	for _, part := range r.Has {
		fits = fits || strings.Contains(strings.ToLower(text), part)
	}
	return fits
}
