"""Faults of the descriptor and of the answer that carries it."""

from __future__ import annotations

import os

from tests.servers.faults.catalogue import fault
from tests.servers.plain import Call, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.servers.plain import Record


class Described(Server):
    """Changes the descriptor after it is made."""

    def described(self, call: Call, value: Record) -> Record:
        raise NotImplementedError

    def descriptor(self, call: Call, path: str) -> Record:
        return self.described(call, super().descriptor(call, path))


def without(value: Record, name: str) -> Record:
    return {k: v for k, v in value.items() if k != name}


@fault("LRO-DESC-01", says="offloaded", proves=0)
class offloaded_is_a_string(Described):
    """`"true"`."""

    def described(self, call: Call, value: Record) -> Record:
        return {**value, "offloaded": "true"}


@fault("LRO-DESC-01", says="offloaded", proves=0)
class offloaded_is_false(Described):
    """The flag says the opposite of what happened."""

    def described(self, call: Call, value: Record) -> Record:
        return {**value, "offloaded": False}


@fault("LRO-DESC-01", says="line_schema", proves=0)
class lacks_the_line_schema(Described):
    """A field is missing."""

    def described(self, call: Call, value: Record) -> Record:
        return without(value, "line_schema")


@fault("LRO-DESC-01", says="guidance", proves=0)
class lacks_the_guidance(Described):
    """A field is missing."""

    def described(self, call: Call, value: Record) -> Record:
        return without(value, "guidance")


@fault("LRO-DESC-01", says="summary", proves=0)
class summary_is_a_sentence(Described):
    """Words where an object belongs."""

    def described(self, call: Call, value: Record) -> Record:
        return {**value, "summary": f"{value['summary']['count']} memories of {call.operation}"}


class Pathed(Server):
    """Names another path in the descriptor, in its recipes and in its guidance alike."""

    def pathed(self, path: str) -> str:
        raise NotImplementedError

    def descriptor(self, call: Call, path: str) -> Record:
        return super().descriptor(call, self.pathed(path))


@fault("LRO-DESC-01", says="jq_recipes is missing", proves=0, long=True)
class lacks_the_recipes(Described):
    """A field is missing."""

    def described(self, call: Call, value: Record) -> Record:
        return without(value, "jq_recipes")


@fault("LRO-DESC-01", says="jq_recipes has the wrong type", proves=0, long=True)
class recipes_are_an_object(Described):
    """Commands by their descriptions, where a list belongs."""

    def described(self, call: Call, value: Record) -> Record:
        return {**value, "jq_recipes": {r["description"]: r["command"] for r in value["jq_recipes"]}}


@fault("LRO-REC-13", says="an object", proves=1, long=True)
class recipes_are_plain_commands(Described):
    """A list of commands, without a description of any."""

    def described(self, call: Call, value: Record) -> Record:
        return {**value, "jq_recipes": [r["command"] for r in value["jq_recipes"]]}


class Told(Server):
    """Declares no output schema, and answers with something else than a descriptor."""

    def tool(
        self, name: str, about: str, properties: Record, *, required: Sequence[str] = (), output: bool = False
    ) -> Record:
        return super().tool(name, about, properties, required=required)


@fault("LRO-DESC-01", says="no descriptor", proves=0)
class tells_of_the_file_in_words(Told):
    """A sentence with the path, where a descriptor belongs."""

    def offloaded(self, call: Call, path: str) -> Record:
        return self.text(f"The {len(call.records)} memories found were written to {path}.")


@fault("LRO-DESC-01", says="no descriptor", proves=0, long=True)
class descriptor_is_spelled_as_in_python(Told):
    """`str` in place of `json.dumps`: single quotes, `True` and `None`."""

    def offloaded(self, call: Call, path: str) -> Record:
        return self.text(str(self.descriptor(call, path)))


@fault("LRO-DESC-01", says="no descriptor", proves=0, long=True)
class returns_a_link_to_the_file(Told):
    """A `resource_link`, which MCP knows, where a descriptor belongs."""

    def offloaded(self, call: Call, path: str) -> Record:
        return {"content": [{"type": "resource_link", "uri": f"file://{path}", "name": os.path.basename(path)}]}


@fault("LRO-DESC-02", says="absolute", proves=0)
class path_is_relative(Pathed):
    """Relative to the server's working folder, which the client does not know."""

    def pathed(self, path: str) -> str:
        return os.path.relpath(path)


@fault("LRO-DESC-02", says="wrong form", proves=0)
class path_is_the_name_alone(Pathed):
    """The directory is left out."""

    def pathed(self, path: str) -> str:
        return os.path.basename(path)


@fault("LRO-DESC-02", says="absolute", proves=0)
class path_is_relative_to_a_folder_made_anew(path_is_relative):
    """A folder that was removed is made again, so that no write fails then."""

    def offload(self, call: Call) -> str:
        os.makedirs(self.output_dir(), exist_ok=True)
        return super().offload(call)


@fault("LRO-DESC-02", says="absolute", proves=0, also=("LRO-REC-11",))
class path_is_a_file_url(Described):
    """`file:///…` in file_path; recipes and guidance have the plain path."""

    def described(self, call: Call, value: Record) -> Record:
        return {**value, "file_path": "file://" + value["file_path"]}


@fault("LRO-DESC-02", says="file", proves=0)
class path_lacks_its_ending(Pathed):
    """A file of that name does not exist."""

    def pathed(self, path: str) -> str:
        return path.removesuffix(".jsonl")


@fault("LRO-DESC-02", says="file", proves=0)
class path_is_that_of_the_temporary_file(Pathed):
    """Named before it was renamed."""

    def pathed(self, path: str) -> str:
        folder, name = os.path.split(path)
        return os.path.join(folder, f".{name}.part")


@fault("LRO-DESC-02", says="file", proves=0)
class path_is_the_folder(Pathed):
    """The folder that the file is in."""

    def pathed(self, path: str) -> str:
        return os.path.dirname(path)


@fault("LRO-DESC-02", says="file", proves=0)
class file_is_gone_before_the_answer(Server):
    """A temporary file that is deleted when its scope ends."""

    def offload(self, call: Call) -> str:
        path = super().offload(call)
        os.unlink(path)
        return path


@fault("LRO-DESC-02", says="readable file", proves=0)
class file_may_be_written_only(Server):
    """Mode 0200, by which only root can read it."""

    def offload(self, call: Call) -> str:
        path = super().offload(call)
        os.chmod(path, 0o200)
        return path


@fault("LRO-DESC-09", says="schema", proves=0)
class line_schema_is_no_schema(Server):
    """The type is `record`, which JSON Schema does not know."""

    def line_schema(self, detail: str) -> Record:
        return {**super().line_schema(detail), "type": "record"}


@fault("LRO-DESC-09", says="does not satisfy line_schema", proves=0)
class line_schema_describes_the_header(Server):
    """The schema of line 1."""

    def line_schema(self, detail: str) -> Record:
        header = {"type": {"const": "lro_header"}, "count": {"type": "integer"}, "operation": {"type": "string"}}
        return {"type": "object", "properties": header, "required": ["type", "count", "operation"]}


@fault("LRO-DESC-09", says="content", proves=0)
class line_schema_wants_content_at_every_level(Server):
    """One schema for all levels, and content is required."""

    def line_schema(self, detail: str) -> Record:
        schema = super().line_schema("full")
        return {**schema, "required": [*schema["required"], "content"]}


@fault("LRO-DESC-09", says="id", proves=0)
class line_schema_wants_every_id_to_be_a_uuid(Server):
    """Every second id is a ULID."""

    def line_schema(self, detail: str) -> Record:
        schema = super().line_schema(detail)
        schema["properties"]["id"] = {"type": "string", "pattern": "^[0-9a-f]{8}-"}
        return schema


@fault("LRO-DESC-09", says="array", proves=0)
class line_schema_describes_the_whole_set(Server):
    """An array of records, where one line is one record."""

    def line_schema(self, detail: str) -> Record:
        return {"type": "array", "items": super().line_schema(detail)}


@fault("LRO-DESC-09", says="confidence", proves=0)
class line_schema_bounds_confidence_too_low(Server):
    """Only confidences below one are allowed, and a few records have exactly one."""

    def line_schema(self, detail: str) -> Record:
        schema = super().line_schema(detail)
        schema["properties"]["provenance"]["properties"]["confidence"]["exclusiveMaximum"] = 1
        return schema


@fault("LRO-DESC-09", says="provenance", proves=0, everywhere=True)
class line_schema_wants_a_confidence(Server):
    """Inferred from memories that all have one."""

    def line_schema(self, detail: str) -> Record:
        schema = super().line_schema(detail)
        return {**schema, "required": [*schema["required"], "provenance"]}


@fault("LRO-DESC-09", says="does not satisfy line_schema", proves=0, everywhere=True)
class line_schema_lists_the_namespaces_of_the_start(Server):
    """Only the namespaces that there were when the server started are allowed; memories come in others later."""

    def line_schema(self, detail: str) -> Record:
        schema = super().line_schema(detail)
        schema["properties"]["namespace"] = {"enum": sorted({m["namespace"] for m in self.corpus()})}
        return schema


@fault("LRO-DESC-10", says="line_schema", proves=0)
class line_schema_is_empty(Server):
    """`{}` accepts everything."""

    def line_schema(self, detail: str) -> Record:
        return {}


@fault("LRO-DESC-10", says="line_schema", proves=0)
class line_schema_says_object_and_no_more(Server):
    """No property is named."""

    def line_schema(self, detail: str) -> Record:
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}


@fault("LRO-DESC-10", says="line_schema", proves=0)
class line_schema_is_an_example(Server):
    """A record in place of a schema: no keyword in it, so nothing is said."""

    def line_schema(self, detail: str) -> Record:
        return {"namespace": "_semantic/decisions", "memory_type": "semantic", "tags": ["memory"]}


@fault("LRO-DESC-10", says="line_schema", proves=0)
class line_schema_names_fields_that_do_not_occur(Server):
    """Properties of some other object."""

    def line_schema(self, detail: str) -> Record:
        return {"type": "object", "properties": {"uid": {"type": "string"}, "text": {"type": "string"}}}


class Answering(Server):
    """Changes the tool result that carries the descriptor."""

    def answered(self, call: Call, result: Record) -> Record:
        raise NotImplementedError

    def offloaded(self, call: Call, path: str) -> Record:
        return self.answered(call, super().offloaded(call, path))


@fault("LRO-DESC-11", says="next to the descriptor", proves=0)
class returns_the_records_as_well(Answering):
    """A second block of text has the whole result set."""

    def answered(self, call: Call, result: Record) -> Record:
        block = {"type": "text", "text": self.dumps(call.records)}
        return {**result, "content": [*result["content"], block]}


@fault("LRO-DESC-11", says="next to the descriptor", proves=0)
class structured_content_holds_the_records(Answering):
    """The text is the descriptor; the structured content is the result set, as if nothing were offloaded."""

    def answered(self, call: Call, result: Record) -> Record:
        return {**result, "structuredContent": self.inline_value(call)}


@fault("LRO-DESC-02", says="wrong form", proves=0)
class path_is_as_the_folder_was_set(Server):
    """The path is relative, and only the server knows to which directory."""

    def output_dir(self) -> str:
        return self.settings.output_dir or super().output_dir()


@fault("LRO-DESC-11", says="next to the descriptor", proves=0)
class payload_stands_in_meta(Server):
    """Everything is there twice: in the file, and in `_meta` of the result."""

    def offloaded(self, call: Call, path: str) -> Record:
        return {**super().offloaded(call, path), "_meta": {"example.org/results": call.records}}


@fault("LRO-DESC-11", says="structuredContent", proves=0)
class text_and_structured_content_differ(Answering):
    """The counts of the two are one apart."""

    def answered(self, call: Call, result: Record) -> Record:
        value = result.get("structuredContent")
        if value is None:
            return result
        summary = {**value["summary"], "count": value["summary"]["count"] + 1}
        return {**result, "structuredContent": {**value, "summary": summary}}


@fault("LRO-DESC-11", says="invalid JSON in the text", proves=0)
class text_is_cut_beside_structured_content(Answering):
    """The text is made shorter, amid its JSON; the structured content is whole."""

    most, told = 700, ""

    def answered(self, call: Call, result: Record) -> Record:
        if "structuredContent" not in result:
            return result
        return {**result, **self.text(result["content"][0]["text"][: self.most] + self.told)}


@fault("LRO-DESC-11", says="invalid JSON in the text", proves=0)
class text_is_cut_and_says_so(text_is_cut_beside_structured_content):
    """The text is cut between two members of its JSON, and says so."""

    told = "… [shortened; the whole descriptor is in the structured content]"

    def answered(self, call: Call, result: Record) -> Record:
        self.most = result["content"][0]["text"].find('"file_path"')
        return super().answered(call, result)


@fault("LRO-DESC-11", says="two that differ", proves=0)
class inject_has_another_descriptor_as_structured_content(Answering):
    """The text of an injection is right; the structured content beside it was made with another count."""

    def answered(self, call: Call, result: Record) -> Record:
        if call.operation != "inject":
            return result
        value = self.loads(result["content"][0]["text"].encode())
        return {**result, "structuredContent": {**value, "summary": {**value["summary"], "count": 0}}}


@fault("LRO-DESC-11", says="/results", proves=0)
class descriptor_carries_the_records(Described):
    """A field `results` with all of them."""

    def described(self, call: Call, value: Record) -> Record:
        return {**value, "results": call.records}


@fault("LRO-DESC-11", says="next to the descriptor", proves=0)
class embeds_the_file_as_a_resource(Answering):
    """A resource block has the text of the file."""

    def answered(self, call: Call, result: Record) -> Record:
        resource = {"uri": "file:///results.jsonl", "mimeType": "application/jsonl", "text": "\n".join(call.lines)}
        return {**result, "content": [*result["content"], {"type": "resource", "resource": resource}]}


@fault("LRO-DESC-12", says="isError", proves=0)
class offloads_as_an_error(Answering):
    """`isError` is true."""

    def answered(self, call: Call, result: Record) -> Record:
        return {**result, "isError": True}


@fault("LRO-DESC-12", says="isError", proves=0)
class offloads_search_as_an_error(Answering):
    """`isError` is true for search only."""

    def answered(self, call: Call, result: Record) -> Record:
        return {**result, "isError": call.operation == "search"}


@fault("LRO-DESC-11", says="/line_schema", proves=0)
class line_schema_has_all_records_as_examples(Server):
    """Every record is an example of the schema."""

    def descriptor(self, call: Call, path: str) -> Record:
        value = super().descriptor(call, path)
        return {**value, "line_schema": {**value["line_schema"], "examples": call.records}}


@fault("LRO-DESC-11", says="/summary", proves=0)
class summary_has_ids_titles_and_contents(Described):
    """Lists in the summary hold what the file holds."""

    def described(self, call: Call, value: Record) -> Record:
        lists = {f"{name}s": [r.get(name) for r in call.records] for name in ("id", "title", "content")}
        return {**value, "summary": {**value["summary"], **lists}}


@fault("LRO-DESC-11", says="/jq_recipes", proves=0)
class recipes_come_with_their_results(Described):
    """Each recipe has the records that it would find."""

    def described(self, call: Call, value: Record) -> Record:
        return {**value, "jq_recipes": [{**recipe, "result": call.records} for recipe in value["jq_recipes"]]}


@fault("LRO-DESC-11", says="a preview of 10 records at most", proves=0)
class previews_a_quarter_of_the_records(Described):
    """The first quarter of the result stands in a member `preview`."""

    def described(self, call: Call, value: Record) -> Record:
        return {**value, "preview": call.records[: -(-len(call.records) // 4)]}


@fault("LRO-DESC-15", says="an offloaded result of", proves=3)
class summary_lists_the_tags_of_each_record(Described):
    """A list of tags for each record: no record is there, and the descriptor grows with their number."""

    def described(self, call: Call, value: Record) -> Record:
        tags = [{"at": n, "tags": r.get("tags"), "created": r.get("created")} for n, r in enumerate(call.records, 1)]
        return {**value, "summary": {**value["summary"], "tags": tags}}


@fault("LRO-DESC-15", says="an offloaded result of", proves=3)
class descriptor_indexes_every_line(Described):
    """A member `index` has the namespace and the time of every line."""

    def described(self, call: Call, value: Record) -> Record:
        index = {f"line {n}": [r["namespace"], r["created"]] for n, r in enumerate(call.records, 2)}
        return {**value, "index": index}
