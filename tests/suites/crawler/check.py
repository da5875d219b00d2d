"""Run tests that are written in Python: functions named test_*, in the order of their definitions.

COIL_TEST_EVERY=N in the environment runs only every Nth test, including the first.
"""
import concurrent.futures
import io
import os
import pathlib
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "harness"))
sys.dont_write_bytecode = True

import afresh  # noqa: E402


class Skip(Exception):
    """Raised by a test that cannot run on this machine. Its argument is the reason."""


def outcome_of(test):
    """Run a test. Returns a message, which is None if the test passed, and whether the test was skipped."""
    name, fn = test
    try:
        fn()
        return None, False
    except Skip as why:
        return f"skip {name}: {why}", True
    except Exception:
        text = io.StringIO()
        traceback.print_exc(file=text)
        return f"FAILED {name}\n{text.getvalue()}".rstrip(), False


def run_tests(names, only=(), at_a_time=1):
    """Run the tests, up to `at_a_time` of them concurrently. More than 1 is possible if each test has its own
    server."""
    afresh.begin()
    tests = [(name, fn) for name, fn in names.items() if name.startswith("test_")]
    passed = skipped = 0
    unknown = set(only) - {name for name, _ in tests}
    failed = len(unknown)
    for name in sorted(unknown):
        print(f"FAILED {name}: there is no such test")
    tests = [test for test in tests if test[0] in only] if only else \
        tests[::int(os.environ.get("COIL_TEST_EVERY", "1"))]
    with concurrent.futures.ThreadPoolExecutor(at_a_time) as pool:
        for message, is_skipped in pool.map(outcome_of, tests):
            passed += message is None
            skipped += is_skipped
            failed += message is not None and not is_skipped
            if message is not None:
                print(message, flush=True)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


def equal(actual, expected):
    if actual != expected:
        raise AssertionError(f"\n  is       {actual!r:.4000}\n  expected {expected!r:.4000}")


def contains(text, part):
    if part not in text:
        raise AssertionError(f"\n  is       {text!r:.4000}\n  without  {part!r:.4000}")
