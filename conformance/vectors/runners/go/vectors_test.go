// Runner for `go test`: it needs exceptions.json, and Kinds, a map from each kind of vector to your function.
package vectors

import (
	"fmt"
	"strings"
	"testing"
)

const folder = "../../" // of the vectors

func TestVectors(t *testing.T) {
	index, own := read(t, folder+"index.json"), read(t, "exceptions.json")
	if !strings.HasPrefix(index.Version, own.Version+".") {
		t.Fatalf("exceptions.json is for vectors %s, these are %s: read CHANGELOG.md", own.Version, index.Version)
	}
	if index.Editions[own.Edition] == 0 {
		t.Fatalf("exceptions.json has the edition %q, the vectors have %v", own.Edition, index.Editions)
	}
	lacking := map[string]int{} // kinds without a function and known failures, with how many vectors
	for _, file := range index.Files {
		chapter := read(t, folder+file.Name)
		passed, skipped, failed := 0, 0, 0
		for _, v := range chapter.Vectors {
			if !strings.Contains(strings.Join(v.Editions, " "), own.Edition) {
				continue
			}
			subject, problem := v.Kind, "no function"
			if Kinds[v.Kind] != nil {
				subject, problem = v.ID, ask(v)
			}
			if problem == "" {
				passed++
			} else if subject == v.Kind || own.Exceptions[subject] != "" {
				skipped++
				lacking[subject]++
			} else {
				failed++
				t.Error(problem)
			}
		}
		fmt.Printf("%-12s %4d passed %4d skipped %4d failed\n", chapter.Chapter, passed, skipped, failed)
	}
	for subject := range lacking {
		if own.Exceptions[subject] != "" {
			delete(own.Exceptions, subject)
			delete(lacking, subject)
		}
	}
	if len(lacking) > 0 {
		t.Errorf("no function, and no reason in exceptions.json, for these kinds of vectors: %v", lacking)
	}
	if len(own.Exceptions) > 0 {
		t.Errorf("exceptions.json excuses what does not fail, or is not there: %v", own.Exceptions)
	}
}

func ask(v vector) (problem string) {
	defer func() {
		if panicked := recover(); panicked != nil {
			problem = v.difference(fmt.Sprint("panic: ", panicked))
		}
	}()
	return v.difference(Kinds[v.Kind](v.Input))
}
