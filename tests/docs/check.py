#!/usr/bin/env python3
"""Checks that what the documents cite exists: files behind links, options of the run file, tests by name."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
pages = [root / name for name in ("README.md", "CONTRIBUTING.md")] + sorted((root / "docs").rglob("*.md"))
options = set(re.findall(r"^\| `([a-z_.]+)", (root / "docs/reference/options.md").read_text(), re.M))
sections = "|".join(sorted({option.split(".")[0] for option in options}))


def tests():
    """Names of test cases, of promises of a communicator, and of entries of CTest."""
    names = set()
    for path in [*root.glob("tests/**/*.cpp"), *root.glob("tests/**/*.cmake")]:
        text = path.read_text()
        names.update(re.findall(r'TEST_CASE\(\s*"([^"]+)"', text))
        names.update("mpi.exit." + case for case in re.findall(r"^_exit_path\((\w+)", text, re.M))
        names.update(re.findall(r"add_test\(NAME ([\w.]+)", text))
    names.update(re.findall(r'\{"([^"]+)",', (root / "tests/support/comm_conformance.cpp").read_text()))
    return names


def problems(page):
    text = page.read_text()
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        if not (page.parent / link).exists():
            yield f"no file behind the link {link}"
    for option in re.findall(rf"`((?:{sections})\.[a-z_.]+)[:`]", text):
        if option not in options and not any(other.startswith(option + ".") for other in options):
            yield f"no option {option}"
    for path in re.findall(r"`((?:scripts|src|include|tests|tools|examples|docs|third_party)/[\w./]*\w)`", text):
        if not (root / path).exists():
            yield f"no file {path}"
    if page.name == "known-bugs.md":
        for name in re.findall(r'"([^"]+)"', text):
            if name not in known_tests:
                yield f'no test "{name}"'


known_tests = tests()
found = [f"{page.relative_to(root)}: {problem}" for page in pages for problem in problems(page)]
print("\n".join(found) or f"{len(pages)} pages cite nothing that does not exist")
sys.exit(bool(found))
