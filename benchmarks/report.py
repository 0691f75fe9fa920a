#!/usr/bin/env python3
"""Reads what the programs found.

report.py gates RESULTS          says which gates hold; the exit status is 1 when one does not
report.py table RESULTS PAGE     writes the table, the times and the machine between the marks of a page
"""
import collections
import json
import pathlib
import re
import sys

EXACT = ("C12", "C13", "C16", "C19")
TIMED = ("C1", "C6", "C9")
SLACK = 1.2


def load(folder):
    found = [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))]
    return found, [row for program in found for row in program.get("rows", [])]


def order(row):
    number, letter = re.fullmatch(r"C(\d+)(\w*)", row["id"]).groups()
    return int(number), letter


def figure(value):
    if value == 0 or 0.001 <= abs(value) < 1000:
        return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.2g}"


def seconds(value):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def measured(row):
    if "value" not in row:
        return "not measured"
    text = f"{figure(row['value'])} {row['unit']}".strip()
    return text if row["low"] == row["high"] else f"{text} [{figure(row['low'])}, {figure(row['high'])}]"


def gate_holds(row):
    """Counters must be right; a time fails when its whole interval lies beyond the target and some slack.

    Where the floor that the same run measured is worse than the target, the floor and some slack are asked for.
    """
    if row["id"] in EXACT:
        return row["verdict"] == "met"
    floor = row.get("floor", row["target"])
    if row["bound"] == ">=":
        return row["high"] >= min(row["target"], floor) / SLACK
    return row["low"] <= max(row["target"], floor) * SLACK


def with_floor(row):
    if "floor" not in row:
        return row["note"]
    return "; ".join(filter(None, (row["note"], f"floor {figure(row['floor'])}: {row['floor is']}")))


def gates(folder):
    _, rows = load(folder)
    broken = sorted(file.stem for file in folder.glob("*.failed"))
    passed = failed = 0
    for row in sorted(rows, key=order):
        if row["id"] not in EXACT + TIMED or "value" not in row:
            continue
        holds = gate_holds(row)
        passed, failed = passed + holds, failed + (not holds)
        floor = f", floor {figure(row['floor'])}" if "floor" in row else ""
        print(f"{'passed' if holds else 'FAILED'}  {row['id']:4} {row['what']}, against {row['against']}: {measured(row)},"
              f" target {row['bound']} {figure(row['target'])}{floor}")
    for name in broken:
        print(f"FAILED  {name} did not finish")
    failed += len(broken)
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


def row_text(row):
    cells = (row["id"], row["what"], row["against"], f"{row['bound']} {figure(row['target'])}", measured(row), row["verdict"],
             with_floor(row))
    return "| " + " | ".join(cells) + " |"


def rows_text(rows):
    lines = ["| id | what | against | target | measured [95 %] | verdict | note |", "|---|---|---|---|---|---|---|"]
    return "\n".join(lines + [row_text(row) for row in sorted(rows, key=order)])


def times_text(programs):
    lines = ["| case | ranks | variant | median | best |", "|---|---|---|---|---|"]
    for program in programs:
        for case, variants in sorted((program["seconds"] or {}).items()):
            for variant, values in sorted(variants.items(), key=lambda item: sorted(item[1])[len(item[1]) // 2]):
                middle, best = sorted(values)[len(values) // 2], min(values)
                lines.append(f"| {case} | {program['ranks']} | {variant} | {seconds(middle)} | {seconds(best)} |")
    return "\n".join(lines)


def machine_text(programs):
    facts = {}
    for program in programs:
        facts.update({name: value for name, value in program["machine"].items() if name != "load average"})
    loads = [program["machine"]["load average"].split()[0] for program in programs]
    facts["load average"] = f"{min(loads, key=float)} to {max(loads, key=float)} at the start of a program"
    return "\n".join(["| | |", "|---|---|"] + [f"| {name} | {value} |" for name, value in facts.items()])


def put(page, mark, text):
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    before, rest = page.split(begin)
    return f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}"


def table(folder, path):
    programs, rows = load(folder)
    page = path.read_text()
    for mark, text in (("table", rows_text(rows)), ("times", times_text(programs)), ("machine", machine_text(programs))):
        page = put(page, mark, text)
    path.write_text(page)
    for file in sorted(folder.glob("*.failed")):
        print(f"{file.stem} did not finish: its rows are missing")
    verdicts = collections.Counter(row["verdict"] for row in rows)
    print(f"{path}: {len(rows)} rows, " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())))
    return 0


if __name__ == "__main__":
    verb, results = sys.argv[1], pathlib.Path(sys.argv[2])
    sys.exit(gates(results) if verb == "gates" else table(results, pathlib.Path(sys.argv[3])))
