package vectors

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"
)

func isText(value any) bool {
	_, is := value.(string)
	return is
}

func isObject(value any) bool {
	_, is := value.(object)
	return is
}

func isCount(value any) bool {
	number, is := value.(float64)
	return is && number >= 0 && number == float64(int(number))
}

func isTime(value any) bool {
	text, _ := value.(string)
	_, problem := time.Parse("2006-01-02T15:04:05Z07:00", text)
	return problem == nil
}

func isId(value any) bool {
	_, is := value.(float64)
	return is || (isText(value) && value != "")
}

func isTags(value any) bool {
	tags, is := value.([]any)
	for _, tag := range tags {
		is = is && isText(tag)
	}
	return is
}

var headerFields = map[string]func(any) bool{
	"type":             func(value any) bool { return value == "lro_header" },
	"operation":        isText,
	"count":            isCount,
	"schema_version":   func(value any) bool { return isText(value) && value != "" },
	"timestamp":        isTime,
	"estimated_tokens": isCount,
	"detail":           isText,
	"query":            func(value any) bool { return value == nil || isText(value) },
}

var recordFields = map[string]func(any) bool{
	"title": isText, "namespace": isText, "memory_type": isText, "status": isText, "created": isText,
	"modified": isText, "content": isText, "tags": isTags, "provenance": isObject,
}

// isValid judges an offloaded file; it is a reader as small as it can be.
func isValid(data []byte) bool {
	if !utf8.Valid(data) {
		return false
	}
	var lines []object
	for _, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		var parsed object
		if json.Unmarshal(line, &parsed) != nil || parsed == nil {
			return false
		}
		lines = append(lines, parsed)
	}
	header, records := lines[0], lines[1:]
	for name, fits := range headerFields {
		if !fits(header[name]) {
			return false
		}
	}
	_, isProxied := header["extra"] // the records of a proxy have any form
	ids := map[any]bool{}
	for _, record := range records {
		if record["type"] == "lro_header" || !(isProxied || isRecord(record)) {
			return false
		}
		if isProxied {
			continue
		}
		if ids[record["id"]] {
			return false
		}
		ids[record["id"]] = true
	}
	return header["count"] == float64(len(records))
}

func isRecord(record object) bool {
	for name, fits := range recordFields {
		if value := record[name]; value != nil && !fits(value) {
			return false
		}
	}
	return isId(record["id"])
}
