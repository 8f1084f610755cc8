"""Prints what CTAs of a role do first, by a file of mk-run --timeline: the item with which each track
of a CTA that begins with the role begins, and how often an item is visited.

  first_items.py FILE.json ROLE
"""
import collections
import json
import re
import sys


def main():
    with open(sys.argv[1]) as file:
        events = json.load(file)["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    tracks, roles = collections.defaultdict(list), collections.defaultdict(list)
    for event in sorted((e for e in events if e["ph"] != "M"), key=lambda e: e["ts"]):
        where = names[event["pid"], event["tid"]]
        if event["cat"] == "role":
            roles[where].append(event["name"])
        elif event["cat"] == "item" and event["args"]["role"] == sys.argv[2]:
            tracks[where].append(int(re.search(r"\d+", event["name"]).group()))
    visits = collections.Counter()
    for where, items in sorted(tracks.items()):
        kind = "begins" if roles[where][0] == sys.argv[2] else "comes"
        print(f"{where}: {kind} with item {items[0]}")
        if "consumer" in where:
            visits.update(items)
    print(f"{len(visits)} items, each visited {sorted(set(visits.values()))} times")


main()
