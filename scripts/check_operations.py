#!/usr/bin/env python3
"""Every metric that the dashboard and the alert rules name is in the table of metrics.

usage: check_operations.py TABLE FILE...   (TABLE: a text that names all metrics)
"""
import json
import pathlib
import re
import sys

NAME = re.compile(r"\bguestlist_[a-z_]+")


def expressions(path):
    text = path.read_text()
    if path.suffix != ".json":
        return re.findall(r"^\s*expr:(.*)$", text, re.MULTILINE)
    return [t["expr"] for panel in json.loads(text)["panels"] for t in panel.get("targets", [])]


def main():
    known = set(NAME.findall(pathlib.Path(sys.argv[1]).read_text()))
    wrong = 0
    for path in map(pathlib.Path, sys.argv[2:]):
        used = {name for text in expressions(path) for name in NAME.findall(text)}
        if not used:
            print(f"{path}: names no metric")
            wrong += 1
        for name in sorted(used - known):
            print(f"{path}: there is no metric {name}")
            wrong += 1
    return min(wrong, 1)


sys.exit(main())
