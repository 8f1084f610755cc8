"""Files of values of parameters and the times that were measured with them."""
import json
import os

from .errors import BenchError


class TuningFile:
    def __init__(self, path, target):
        self.path = path
        self.data = {"version": 1, "target": target, "entries": []}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.data = json.load(file)
        if self.data.get("target") != target:
            raise BenchError(f"tuning file {path}", "is for target "
                             f"'{self.data.get('target')}', not '{target}'")
        self.entries = {self.key(entry): entry for entry in self.data.pop("entries")}

    @staticmethod
    def key(entry):
        return (entry["kernel"], tuple(entry["types"]), entry.get("grid") or 0,
                tuple(sorted(entry["dims"].items())))

    def put(self, entry):
        self.entries[self.key(entry)] = entry

    def write(self):
        """One entry a line: a change is a readable diff."""
        lines = ",\n".join("  " + json.dumps(self.entries[key]) for key in sorted(self.entries))
        text = json.dumps(self.data)[:-1] + ', "entries": [\n' + lines + "\n]}\n"
        real = os.path.realpath(self.path)  # a link stays one
        temporary = f"{real}.{os.getpid()}"
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, real)


class Measurements(TuningFile):
    """Of the same sizes as many entries as there are values that were tried."""

    @staticmethod
    def key(entry):
        return (*TuningFile.key(entry), tuple(sorted(entry["set"].items())))
