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

func setNumber(asked object, name string, otherwise float64) float64 {
	settings, _ := asked["settings"].(object)
	if value, set := settings[name].(float64); set {
		return value
	}
	return otherwise
}

func above(asked object) bool {
	settings, _ := asked["settings"].(object)
	if enabled, set := settings["enabled"].(bool); set && !enabled {
		return false
	}
	return asked["estimated_tokens"].(float64) > setNumber(asked, "threshold_tokens", 6400)
}

func decision(asked object) any {
	if above(asked) {
		return "offloaded"
	}
	return "inline"
}

func injection(asked object) any {
	if above(asked) {
		return object{"result": "descriptor", "records": asked["found"], "formatted": false}
	}
	return object{"result": "text", "records": 0, "formatted": true}
}

func estimate(asked object) any {
	return (utf8.RuneCountInString(asked["text"].(string)) + 3) / 4
}

func name(asked object) any {
	found := pattern.FindStringSubmatch(asked["name"].(string))
	if found == nil {
		return nil
	}
	milliseconds := 0
	for _, digit := range strings.ToUpper(found[2][:10]) {
		milliseconds = milliseconds*32 + strings.IndexRune(crockford, digit)
	}
	return object{"operation": found[1], "milliseconds": milliseconds}
}

func cleanup(asked object) any {
	gone, lives := []string{}, setNumber(asked, "ttl_seconds", 3600)
	for _, one := range asked["entries"].([]any) {
		entry := one.(object)
		found, is := name(entry).(object)
		if is && entry["kind"] == "file" && float64(found["milliseconds"].(int))/1000+lives < asked["now"].(float64) {
			gone = append(gone, entry["name"].(string))
		}
	}
	sort.Strings(gone)
	return gone
}

func file(asked object) any {
	data := []byte{}
	if digits, is := asked["hex"].(string); is {
		data, _ = hex.DecodeString(digits)
	} else {
		data = []byte(asked["text"].(string))
	}
	if isValid(data) {
		return "valid"
	}
	return "invalid"
}

func recipe(asked object) any {
	options := []string{"-c", asked["program"].(string)}
	if asked["slurp"] == true {
		options = append(options, "-s")
	}
	if asked["raw"] == true {
		options = append(options, "-r")
	}
	var input bytes.Buffer
	for _, line := range asked["lines"].([]any) {
		input.WriteString(line.(string) + "\n")
	}
	command := exec.Command("jq", options...)
	command.Stdin = &input
	output, problem := command.Output()
	if problem != nil {
		panic(problem)
	}
	if asked["raw"] != true {
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
