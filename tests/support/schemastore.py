"""SchemaStore's schemas of files that other programs read, as check-jsonschema carries them."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from jsonschema import Draft7Validator


@cache
def schema(name: str) -> Draft7Validator:
    path = files("check_jsonschema") / "builtin_schemas" / "vendor" / f"{name}.json"
    return Draft7Validator(json.loads(path.read_text(encoding="utf-8")))


def problems(name: str, value: object) -> list[str]:
    return [f"{list(e.absolute_path)}: {e.message[:200]}" for e in schema(name).iter_errors(value)]
