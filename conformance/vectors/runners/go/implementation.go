// Package vectors is an implementation under test, as small as it can be: put your own functions here, one for each kind.
package vectors

import (
	"bytes"
	"encoding/hex"
	"os/exec"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"
)

type object = map[string]any

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

var pattern = regexp.MustCompile(`\Aatlatl-([A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*)-([0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25})\.jsonl\z`)

func setNumber(question object, name string, otherwise float64) float64 {
	settings, _ := question["settings"].(object)
	if value, set := settings[name].(float64); set {
		return value
	}
	return otherwise
}

func above(question object) bool {
	settings, _ := question["settings"].(object)
	if enabled, set := settings["enabled"].(bool); set && !enabled {
		return false
	}
	return question["estimated_tokens"].(float64) > setNumber(question, "threshold_tokens", 6400)
}

func decision(question object) any {
	if above(question) {
		return "offloaded"
	}
	return "inline"
}

func injection(question object) any {
	if above(question) {
		return object{"result": "descriptor", "records": question["found"], "formatted": false}
	}
	return object{"result": "text", "records": 0, "formatted": true}
}

func estimate(question object) any {
	return (utf8.RuneCountInString(question["text"].(string)) + 3) / 4
}

func name(question object) any {
	found := pattern.FindStringSubmatch(question["name"].(string))
	if found == nil {
		return nil
	}
	milliseconds := 0
	for _, digit := range strings.ToUpper(found[2][:10]) {
		milliseconds = milliseconds*32 + strings.IndexRune(crockford, digit)
	}
	return object{"operation": found[1], "milliseconds": milliseconds}
}

func cleanup(question object) any {
	gone, ttl := []string{}, setNumber(question, "ttl_seconds", 3600)
	for _, one := range question["entries"].([]any) {
		entry := one.(object)
		found, is := name(entry).(object)
		if is && entry["kind"] == "file" && float64(found["milliseconds"].(int))/1000+ttl < question["now"].(float64) {
			gone = append(gone, entry["name"].(string))
		}
	}
	sort.Strings(gone)
	return gone
}

func file(question object) any {
	data := []byte{}
	if digits, is := question["hex"].(string); is {
		data, _ = hex.DecodeString(digits)
	} else {
		data = []byte(question["text"].(string))
	}
	if isValid(data) {
		return "valid"
	}
	return "invalid"
}

func recipe(question object) any {
	options := []string{"-c", question["program"].(string)}
	if question["slurp"] == true {
		options = append(options, "-s")
	}
	if question["raw"] == true {
		options = append(options, "-r")
	}
	var input bytes.Buffer
	for _, line := range question["lines"].([]any) {
		input.WriteString(line.(string) + "\n")
	}
	command := exec.Command("jq", options...)
	command.Stdin = &input
	output, problem := command.Output()
	if problem != nil {
		panic(problem)
	}
	if question["raw"] != true {
		return parsed(string(output))
	}
	lines := strings.Split(string(output), "\n")
	return lines[:len(lines)-1]
}

// Kinds are the functions by kind of vector.
var Kinds = map[string]func(object) any{
	"decision":  decision,
	"injection": injection,
	"estimate":  estimate,
	"name":      name,
	"cleanup":   cleanup,
	"file":      file,
	"recipe":    recipe,
	"write":     write,
}
