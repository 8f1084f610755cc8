"""Checks a file of mk-run --timeline: that it is JSON, that spans of a thread lie in each other
or apart, that each stands in a role. Prints what there is: names without numbers, with counts of
ranks that have them.

  check_timeline.py FILE.json
"""
import collections
import json
import re
import sys


def main():
    with open(sys.argv[1]) as file:
        events = json.load(file)["traceEvents"]
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    threads = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    assert sorted(processes) == list(range(len(processes))), processes
    ranks, places = collections.defaultdict(set), set()
    open_spans = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "M":
            continue
        where = event["pid"], event["tid"]
        assert where in threads, event
        assert event["ts"] >= 0, event
        spans = open_spans[where]
        while spans and spans[-1]["ts"] + spans[-1]["dur"] <= event["ts"] + 0.0005:
            spans.pop()
        if event["ph"] == "X":
            assert event["dur"] >= 0, event
            if spans:
                assert event["ts"] + event["dur"] <= spans[-1]["ts"] + spans[-1]["dur"] + 0.01, \
                    (event, spans[-1])
            spans.append(event)
        else:
            assert event["ph"] == "i", event
        if event["cat"] == "item":
            outer = [s["name"] for s in spans if s["cat"] == "role"]
            assert outer == [event["args"]["role"]], (event, spans)
        ranks[event["cat"], re.sub(r"\d+", "N", event["name"])].add(event["pid"])
        if "at" in event["args"]:
            places.add((event["cat"], event["args"]["at"].split(":")[0]))
    for rank in sorted(processes):
        print(f"process {rank}: {processes[rank]}")
    for (category, name), where in sorted(ranks.items()):
        print(f"{category} {name}: {len(where)} ranks")
    for category, file in sorted(places):
        print(f"{category} at {file}")


main()
