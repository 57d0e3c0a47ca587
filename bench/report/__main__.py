"""Measures, and writes docs/benchmarks.md and docs/benchmarks/*.svg.

    python3 -m report [--quick] [--output DIR] BUILD_DIR
    python3 -m report [--output DIR] --from RECORDS

Run it in bench/. Programs of BUILD_DIR/bench that are not built are left out. What they print is kept
in BUILD_DIR/bench/records.jsonl, line by line; --from makes the page of such a file again.
"""

import argparse
import pathlib
import signal
import sys

from . import bars, machine, measuring, page, plots, records


def parse_arguments() -> argparse.Namespace:
    description, _, details = __doc__.partition("\n")
    parser = argparse.ArgumentParser(
        prog="report",
        description=description,
        epilog=details,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("build", nargs="?", type=pathlib.Path, metavar="BUILD_DIR")
    source.add_argument("--from", type=pathlib.Path, metavar="RECORDS", dest="records")
    parser.add_argument("--quick", action="store_true", help="small sizes and few rounds")
    parser.add_argument("--output", type=pathlib.Path, metavar="DIR", default=machine.ROOT / "docs")
    return parser.parse_args()


def measure(build: pathlib.Path, quick: bool) -> pathlib.Path:
    """Runs everything and returns where the records are."""
    plan = measuring.QUICK if quick else measuring.FULL
    bench = build.resolve() / "bench"
    if not bench.is_dir():
        sys.exit(f"report: there is no {bench}; build the benchmarks first")
    path = bench / ("records.quick.jsonl" if quick else "records.jsonl")
    if path.exists():
        path.replace(path.with_suffix(".previous.jsonl"))
    with path.open("w", encoding="utf-8") as file:
        writer = records.Writer(file)
        facts = machine.describe(build)
        writer.write({"subject": "run", "quick": quick, "sizes": plan.sizes, **facts})
        try:
            measuring.Session(bench, plan, writer).measure()
        except KeyboardInterrupt:
            print(f"\nInterrupted. What was measured is in {path}", file=sys.stderr)
            sys.exit(130)
    return path


def main() -> None:
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    path = arguments.records or measure(arguments.build, arguments.quick)
    found = records.Records(records.read(path))
    drawn = plots.draw_all(found, arguments.output / "benchmarks")
    target = arguments.output / "benchmarks.md"
    target.write_text(page.render(found, drawn), encoding="utf-8")
    print(bars.table(bars.all_bars(found)))
    print(f"\nwritten: {target}", file=sys.stderr)


if __name__ == "__main__":
    main()
