#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds JSON to a JSON schema, by the words that docs/findings.schema.json uses; a word that is not known here is an error. Where the module
jsonschema is there, it is asked, too.

    schema.py SCHEMA FILE...
"""
import json
import re
import sys

TYPES = {"object": dict, "array": list, "string": str, "null": type(None)}
SILENT = {"$schema", "$id", "$defs", "title", "description"}


def is_of(value, name):
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and (name == "number" or value == int(value)) if name in ("integer", "number") else isinstance(value, TYPES[name])


def faults(value, schema, root, place):
    """What is wrong with a value, one text a fault."""
    for word, asked in schema.items():
        if word in SILENT:
            continue
        if word == "$ref":
            yield from faults(value, root["$defs"][asked.rsplit("/", 1)[1]], root, place)
        elif word == "type":
            names = asked if isinstance(asked, list) else [asked]
            if not any(is_of(value, name) for name in names):
                yield f"{place}: {value!r} is no {' or '.join(names)}"
        elif word == "const":
            if value != asked:
                yield f"{place}: {value!r} is not {asked!r}"
        elif word == "enum":
            if value not in asked:
                yield f"{place}: {value!r} is none of {asked}"
        elif word == "pattern":
            if isinstance(value, str) and not re.search(asked, value):
                yield f"{place}: {value!r} does not match {asked}"
        elif word == "minimum":
            if value < asked:
                yield f"{place}: {value} is below {asked}"
        elif word == "maximum":
            if value > asked:
                yield f"{place}: {value} is above {asked}"
        elif word == "required":
            yield from (f"{place}: no {name}" for name in asked if name not in value)
        elif word == "properties":
            for name in asked.keys() & value.keys():
                yield from faults(value[name], asked[name], root, f"{place}.{name}")
        elif word == "additionalProperties":
            for name in value.keys() - schema.get("properties", {}).keys():
                if asked is False:
                    yield f"{place}: {name} is not in the schema"
                elif isinstance(asked, dict):
                    yield from faults(value[name], asked, root, f"{place}.{name}")
        elif word == "items":
            for i, item in enumerate(value):
                yield from faults(item, asked, root, f"{place}[{i}]")
        else:
            yield f"the schema has a word that is not known here: {word}"


def main(schema, *files):
    with open(schema) as file:
        root = json.load(file)
    for name in files:
        with open(name) as file:
            value = json.load(file)
        found = list(faults(value, root, root, name))
        try:
            import jsonschema
            found += [f"{name}, by jsonschema: {error.message}" for error in jsonschema.Draft202012Validator(root).iter_errors(value)]
        except ImportError:
            pass
        if found:
            sys.exit("\n".join(found))


main(*sys.argv[1:])
