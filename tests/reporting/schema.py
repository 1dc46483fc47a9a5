"""The part of JSON Schema that the schema of reports is written in; any other keyword is an error."""

from __future__ import annotations

from typing import Any

_TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
_SAYS_NOTHING = {"$schema", "$id", "$defs", "title", "description"}


def problems(
    value: Any, schema: dict[str, Any], root: dict[str, Any], at: str = "$", *, closed: bool = False
) -> list[str]:
    """Return what is wrong with a value; ``closed`` counts fields that the schema does not describe as wrong."""
    found: list[str] = []
    for keyword, rule in schema.items():
        if keyword not in _SAYS_NOTHING:
            found += _RULES[keyword](value, rule, schema, root, at, closed)
    if closed and "properties" in schema and isinstance(value, dict):
        found += [f"{at}.{key} is not described" for key in value if key not in schema["properties"]]
    return found


def _is(value: Any, name: str) -> bool:
    if name in {"number", "integer"}:
        return isinstance(value, int if name == "integer" else (int, float)) and not isinstance(value, bool)
    return isinstance(value, _TYPES[name])


def _type(value: Any, rule: Any, *rest: Any) -> list[str]:
    names = [rule] if isinstance(rule, str) else rule
    return [] if any(_is(value, name) for name in names) else [f"{rest[2]} is {value!r}, not {names}"]


def _ref(value: Any, rule: str, schema: Any, root: dict[str, Any], at: str, closed: bool) -> list[str]:
    return problems(value, root["$defs"][rule.removeprefix("#/$defs/")], root, at, closed=closed)


def _any_of(value: Any, rule: list[Any], schema: Any, root: Any, at: str, closed: bool) -> list[str]:
    tries = [problems(value, choice, root, at, closed=closed) for choice in rule]
    return [] if [] in tries else min(tries, key=len)


def _properties(value: Any, rule: dict[str, Any], schema: Any, root: Any, at: str, closed: bool) -> list[str]:
    if not isinstance(value, dict):
        return []
    pairs = [(key, value[key], inner) for key, inner in rule.items() if key in value]
    return [p for key, item, inner in pairs for p in problems(item, inner, root, f"{at}.{key}", closed=closed)]


def _items(value: Any, rule: dict[str, Any], schema: Any, root: Any, at: str, closed: bool) -> list[str]:
    if not isinstance(value, list):
        return []
    return [p for i, item in enumerate(value) for p in problems(item, rule, root, f"{at}[{i}]", closed=closed)]


def _simple(says: Any, words: str) -> Any:
    def rule_of(value: Any, rule: Any, schema: Any, root: Any, at: str, closed: bool) -> list[str]:
        return [] if says(value, rule) else [f"{at} is {value!r}: {words} {rule!r}"]

    return rule_of


def _counted(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_RULES = {
    "type": _type,
    "$ref": _ref,
    "anyOf": _any_of,
    "properties": _properties,
    "items": _items,
    "required": _simple(lambda v, r: not isinstance(v, dict) or all(k in v for k in r), "needs"),
    "enum": _simple(lambda v, r: v in r, "must be one of"),
    "const": _simple(lambda v, r: v == r, "must be"),
    "minimum": _simple(lambda v, r: not _counted(v) or v >= r, "must be at least"),
    "maximum": _simple(lambda v, r: not _counted(v) or v <= r, "must be at most"),
    "minItems": _simple(lambda v, r: not isinstance(v, list) or len(v) >= r, "needs so many items"),
    "maxItems": _simple(lambda v, r: not isinstance(v, list) or len(v) <= r, "may have so many items"),
}
