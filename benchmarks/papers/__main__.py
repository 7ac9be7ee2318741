"""Every table and figure of the five papers, what makes it here, and the page that has it.

python -m benchmarks.papers            # the list
python -m benchmarks.papers --quick    # a cell of each page measured again, beside what the page says
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.papers.agreement import agreements
from benchmarks.papers.contents import CONTENTS


def main(arguments: list[str]) -> int:
    """1 where a page says something else than what is found now."""
    parser = argparse.ArgumentParser(description="Every table and figure of the five papers, and its command.")
    parser.add_argument("--quick", action="store_true", help="measure a cell of each page again, some minutes")
    if not parser.parse_args(arguments).quick:
        print("| paper | part | command or test | page |\n|---|---|---|---|")
        for one in CONTENTS:
            print(f"| {one.paper} | {one.part} | `{one.command}` | {one.page} |")
        return 0
    print("| page | cell | the page says | found now | allowed | agrees |\n|---|---|---|---|---|---|")
    wrong = 0
    for cell in agreements():
        wrong += not cell.agrees
        print(
            f"| {cell.page} | {cell.what} | {cell.told:g} | {cell.found:g} | {cell.allowed:g} | {cell.agrees} |",
            flush=True,
        )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
