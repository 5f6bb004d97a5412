# SPDX-License-Identifier: MIT
"""Checks the structure of a SARIF 2.1.0 file as its schema demands it of what relock writes, and
that its places exist; prints each result.

Usage: sarif.py FILE SOURCE_ROOT
"""
import json
import os
import re
import sys
from urllib.parse import unquote

URI = re.compile(r"(?:[A-Za-z0-9/._~!$&'()*+,;=:@-]|%[0-9A-F]{2})+\Z")
file, folder = sys.argv[1:]
with open(file) as stream:
    log = json.load(stream)


def members(value, required, optional=""):
    """An object with exactly such members: the schema allows no others."""
    assert isinstance(value, dict), value
    required, optional = set(required.split()), set(optional.split())
    assert required <= set(value) <= required | optional, sorted(value)
    return value


def text(value):
    members(value, "text", "markdown")
    assert all(isinstance(t, str) and t.strip() for t in value.values()), value
    return value["text"]


def location(value):
    members(value, "physicalLocation", "message")
    at = members(value["physicalLocation"], "artifactLocation", "region")
    artifact = members(at["artifactLocation"], "uri", "uriBaseId")
    assert URI.match(artifact["uri"]), artifact
    base = run["originalUriBaseIds"][artifact["uriBaseId"]]["uri"]
    assert base.startswith("file:///") and base.endswith("/") and not artifact["uri"].startswith("/")
    name = unquote(base[len("file://"):] + artifact["uri"])
    assert base == "file://" + os.path.realpath(folder) + "/", base
    region = members(at["region"], "startLine", "startColumn")
    assert all(type(n) is int and n > 0 for n in region.values()), region
    with open(name) as source:
        assert region["startLine"] <= len(source.readlines()), region
    return "%s:%d" % (artifact["uri"], region["startLine"])


members(log, "$schema version runs")
assert log["version"] == "2.1.0" and log["$schema"].startswith("https://")
(run,) = log["runs"]
members(run, "tool originalUriBaseIds columnKind results")
assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
driver = members(members(run["tool"], "driver")["driver"], "name version rules")
rules = [members(r, "id shortDescription help properties") for r in driver["rules"]]
for rule in rules:
    text(rule["shortDescription"]), text(rule["help"])
ids = [rule["id"] for rule in rules]
assert len(ids) == len(set(ids)), ids
lines = []
for result in run["results"]:
    members(result, "ruleId level message locations", "relatedLocations codeFlows suppressions")
    assert result["ruleId"] in ids, result["ruleId"]
    assert result["level"] in ("none", "note", "warning", "error"), result["level"]
    (at,) = result["locations"]
    shown = "%s %s %s %s" % (result["ruleId"], result["level"], location(at), text(result["message"]))
    for other in result.get("relatedLocations", []):
        shown += "\n  related " + location(other)
    for flow in result.get("codeFlows", []):
        for thread in members(flow, "threadFlows")["threadFlows"]:
            for step in members(thread, "locations")["locations"]:
                here = members(step, "location")["location"]
                shown += "\n  flow %s %s" % (location(here), text(here["message"]))
    for suppression in result.get("suppressions", []):
        members(suppression, "kind", "justification")
        assert suppression["kind"] in ("inSource", "external"), suppression
        shown += "\n  suppressed %(kind)s " % suppression + suppression.get("justification", "")
    lines.append(shown)
told = {"suppressions" in result for result in run["results"]}
assert len(told) < 2, "suppressions of some results only"
assert set(ids) == {result["ruleId"] for result in run["results"]}
print("\n".join(sorted(lines)))
