"""Tests in Python: functions named test_*, run one by one, counted at the end."""
import sys
import traceback


class Skip(Exception):
    """Raised by a test that cannot be run here; its text says why."""


def run_tests(names, only=()):
    tests = [(name, fn) for name, fn in names.items() if name.startswith("test_")]
    passed = failed = skipped = 0
    for name, fn in tests:
        if only and name not in only:
            continue
        try:
            fn()
            passed += 1
        except Skip as why:
            skipped += 1
            print(f"skip {name}: {why}")
        except Exception:
            failed += 1
            print(f"FAILED {name}")
            traceback.print_exc(file=sys.stdout)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


def equal(actual, expected):
    if actual != expected:
        raise AssertionError(f"\n  is       {actual!r}\n  expected {expected!r}")


def contains(text, part):
    if part not in text:
        raise AssertionError(f"\n  is       {text!r}\n  without  {part!r}")
