"""Redaction of secrets in output.

The value of an environment variable is secret if the variable's name looks secret, or if the value contains a URL with
a password. Such a password is also secret by itself. Within texts, values of fewer than `MIN_SECRET_LENGTH` characters
are not replaced.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar, cast
from urllib.parse import quote

Value = TypeVar("Value")

_SECRET_WORDS = (
    *("SECRET", "SECRETS", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "PASS", "PWD", "KEY", "KEYS", "APIKEY"),
    *("CREDENTIAL", "CREDENTIALS", "AUTH", "AUTHORIZATION", "BEARER", "COOKIE", "PRIVATE", "DSN", "SIGNATURE", "SALT"),
    "PAT",
)
_SECRET_ENDINGS = ("SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "CREDENTIAL", "TOKEN")
_HARMLESS_NAMES = {"PWD", "OLDPWD", "SSH_AUTH_SOCK"}

_PASSWORD_IN_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://[^/\s:@]*:([^/\s@]+)@", re.IGNORECASE)
"""The password in a URL. It is secret whatever the name of the variable is."""

_SHORT_ESCAPES = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", '"': '"', "/": "/", "\\": r"\\"}
"""For each character with a short escape in JSON: the regular expression for the part of the escape after the
backslash."""

_BACKSLASHES = r"\\\\{0,7}"
"""One to eight backslashes. Nested JSON doubles the backslashes at each level. The number is limited,
because the search for a secret could otherwise take very long in a text with many backslashes."""

MIN_SECRET_LENGTH = 6
"""Minimum length of a value that is replaced within texts. Shorter values occur by chance in many texts, so they are
masked only where the variable itself is shown."""


def looks_secret(name: str) -> bool:
    """True if the name of an environment variable suggests that its value is secret.

    ``API_TOKEN``, ``DB_PASSWORD``, ``githubToken`` and ``AWS_ACCESS_KEY_ID`` suggest it; ``MAX_TOKENS``, which is a
    count, does not.
    """
    if name in _HARMLESS_NAMES:
        return False
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()
    parts = re.split(r"[^A-Z0-9]+", words)
    return any(p in _SECRET_WORDS or p.endswith(_SECRET_ENDINGS) for p in parts)


def is_secret(name: str, value: str) -> bool:
    """True if the value of an environment variable must not appear in any output.

    The reason is its name, or a password in the value. A value that is already masked remains secret.
    """
    return looks_secret(name) or _PASSWORD_IN_URL.search(value) is not None or value == f"[masked {name}]"


class Masks:
    """Replaces secret values by ``[masked NAME]``, even if the values are escaped in JSON or in a URL."""

    def __init__(self, environment: Mapping[str, str], *, exceptions: Collection[str] = ()) -> None:
        """The variables that are named in *exceptions* are not secret, even if their names or values look secret."""
        self.names = tuple(sorted(n for n, v in environment.items() if n not in exceptions and v and is_secret(n, v)))
        self._name_of: dict[str, str] = {}
        secrets = [(name, environment[name]) for name in self.names]
        secrets += [(name, found[1]) for name in self.names for found in _PASSWORD_IN_URL.finditer(environment[name])]
        for name, secret in secrets:
            for form in _forms(secret):
                self._name_of.setdefault(form, name)
        longest_first = sorted(self._name_of, key=len, reverse=True)
        # A form may begin with a character that also occurs in escapes, such as the n of \n. Such a form is not masked
        # after an odd number of backslashes: in "\nabc", the n belongs to the escape, so the text does not contain the
        # value "nabc". After an even number of backslashes, the text contains the value. These backslashes are part of
        # the match, and `_mask` keeps them.
        patterns = [("" if f[0] not in '"\\/bfnrtu' else r"(?<!\\)(?:\\\\)*") + re.escape(f) for f in longest_first]
        self._usual_forms = re.compile("|".join(patterns)) if patterns else None
        self._usual_forms_in_bytes = (
            re.compile("|".join(patterns).encode("utf-8", "surrogateescape")) if patterns else None
        )
        parts = [(name, part) for name, secret in secrets for part in _parts(secret) if len(part) >= MIN_SECRET_LENGTH]
        parts.sort(key=lambda named: -len(named[1]))
        self._part_names = [name for name, _ in parts]
        pattern = "|".join(f"{_group_before(part[0])}({''.join(map(_spellings, part))})" for _, part in parts)
        self._any_spelling = re.compile(pattern) if parts else None
        self._any_spelling_in_bytes = re.compile(pattern.encode("utf-8", "surrogateescape")) if parts else None
        # Unusual escapes of the characters in these parts (`_usual_forms` covers the usual escapes). The search for
        # such an escape is faster than the search for `_any_spelling`. So a text is searched for `_any_spelling` only
        # if it has such an escape, and most texts have none.
        units = sorted({unit for _, part in parts for char in part for unit in _units(char)})
        escapes = rf"\\(?:/|u(?:{'|'.join(units)}))"
        self._unusual_escape, self._unusual_escape_in_bytes = re.compile(escapes), re.compile(escapes.encode())

    def text(self, text: str) -> str:
        """The text without secrets."""
        if self._usual_forms is None:
            return text
        text = self._usual_forms.sub(lambda match: self._mask(match.group()), text)
        if "…" in text:
            text = "…".join([*map(self._with_cut_secret_masked, text.split("…")[:-1]), text.rpartition("…")[2]])
        if self._any_spelling is None or not self._unusual_escape.search(text):
            return text
        return self._any_spelling.sub(self._masked, text)

    def data(self, data: bytes) -> bytes:
        """Bytes, read as UTF-8, without secrets."""
        if self._usual_forms_in_bytes is None:
            return data
        data = self._usual_forms_in_bytes.sub(
            lambda match: self._mask(match.group().decode("utf-8", "surrogateescape")).encode(), data
        )
        if self._any_spelling_in_bytes is None or not self._unusual_escape_in_bytes.search(data):
            return data
        return self._any_spelling_in_bytes.sub(self._masked_bytes, data)

    def variable(self, name: str, value: str) -> str:
        """The value of an environment variable, masked if it is secret."""
        return f"[masked {name}]" if name in self.names else self.text(value)

    def value(self, value: Value) -> Value:
        """A value made of texts, lists, tuples, dictionaries and dataclasses, without secrets."""
        return cast("Value", self._value(value)) if self._usual_forms is not None else value

    def _value(self, value: Any) -> Any:
        if isinstance(value, Enum):
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, tuple | list):
            items = [self._value(v) for v in cast("list[Any]", value)]
            make: Any = list if isinstance(value, list) else getattr(cast("object", value), "_make", tuple)
            return make(items)
        if isinstance(value, dict):
            return {self._value(k): self._value(v) for k, v in cast("dict[Any, Any]", value).items()}
        if is_dataclass(value) and not isinstance(value, type):
            changed = {f.name: self._value(getattr(value, f.name)) for f in fields(value) if f.init}
            return replace(value, **changed)
        return value

    def _masked(self, match: re.Match[str]) -> str:
        before, name = self._place(match)
        return f"{match[before]}[masked {name}]"

    def _masked_bytes(self, match: re.Match[bytes]) -> bytes:
        before, name = self._place(match)
        return match[before] + f"[masked {name}]".encode()

    def _place(self, match: re.Match[Any]) -> tuple[int, str]:
        """The number of the group with the backslashes before a masked value, and the name of the value's variable.

        In a match of `_any_spelling`, each value has two groups: the backslashes before it, and the value itself.
        """
        last = cast("int", match.lastindex)
        return last - 1, self._part_names[last // 2 - 1]

    def _with_cut_secret_masked(self, text: str) -> str:
        """Mask the beginning of a secret value at the end of *text*, and return the text.

        *text* is followed by ``…``, so its end may have been cut off.
        """
        end = len(text) - text.endswith(" ")
        for form, name in self._name_of.items():
            start = text.find(form[:MIN_SECRET_LENGTH], max(0, end - len(form)), end)
            while start >= 0:
                if form.startswith(text[start:end]):
                    return f"{text[:start]}[masked {name}]{text[end:]}"
                start = text.find(form[:MIN_SECRET_LENGTH], start + 1, end)
        return text

    def _mask(self, matched: str) -> str:
        index = 0
        while matched[index:] not in self._name_of and matched.startswith(r"\\", index):
            index += 2
        return f"{matched[:index]}[masked {self._name_of.get(matched[index:], 'secret')}]"


def _group_before(first: str) -> str:
    """The regular expression of the group before a value. If the *first* character of the value may be part of an
    escape, such as the n of \\n, the group matches pairs of backslashes. Otherwise it is empty."""
    return r"((?<!\\)(?:\\\\)*)" if first in '"\\/bfnrtu' else "()"


def _spellings(char: str) -> str:
    """The regular expression for all spellings of a character in JSON and in JSON within JSON: literal, or escaped."""
    escape = "".join(rf"{_BACKSLASHES}u{digits}" for digits in _units(char))
    short = rf"|{_BACKSLASHES}{_SHORT_ESCAPES[char]}" if char in _SHORT_ESCAPES else ""
    return f"(?:{re.escape(char)}|{escape}{short})"


def _units(char: str) -> list[str]:
    """The regular expressions for the hexadecimal digits in the escape of a character. There are two expressions if the
    character is escaped as a surrogate pair, otherwise one."""
    digits = char.encode("utf-16-be", "surrogatepass").hex()
    return [
        re.sub("[a-f]", lambda digit: f"[{digit[0]}{digit[0].upper()}]", digits[start : start + 4])
        for start in range(0, len(digits), 4)
    ]


def _like_go(text: str) -> str:
    return re.sub("[<>&]", lambda char: f"\\u{ord(char[0]):04x}", text)


def _like_dotnet(text: str) -> str:
    long = re.sub("[<>&'+`]", lambda char: f"\\u{ord(char[0]):04x}", text.replace(r"\"", r"\u0022"))
    return re.sub(r"(?<=\\u)[0-9a-f]{4}", lambda digits: digits[0].upper(), long)


def _in_json(text: str) -> list[str]:
    """Forms of a text within a JSON string: with minimal escapes, and as Python, PHP, Go and .NET escape by default."""
    forms: list[str] = []
    for ascii in (True, False):
        plain = json.dumps(text, ensure_ascii=ascii)[1:-1]
        forms += [plain, plain.replace("/", r"\/"), _like_go(plain), _like_dotnet(plain)]
    return list(dict.fromkeys(forms))


def _parts(value: str) -> list[str]:
    """A value with and without surrounding white space. If it has several lines, also its lines of 16 characters or
    more."""
    lines = [line for line in value.splitlines() if len(line.strip()) >= 16] if "\n" in value else []
    return list(dict.fromkeys((value, value.strip(), *lines)))


def _forms(value: str) -> list[str]:
    """Forms of a value and of its parts in a text: literal, in JSON, in nested JSON, in a URL."""
    forms: list[str] = []
    for part in _parts(value):
        in_url = quote(part, safe="", errors="replace")
        forms += [part, in_url, re.sub("%..", lambda octet: octet[0].lower(), in_url)]
        for once in _in_json(part):
            forms += [once, *_in_json(once)]
    return [f for f in dict.fromkeys(forms) if len(f) >= MIN_SECRET_LENGTH]
