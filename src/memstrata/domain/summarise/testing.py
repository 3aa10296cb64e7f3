"""Test runs: how many passed and failed, and what the first failures said."""

from __future__ import annotations

from typing import Final

from memstrata.domain.lazy import Regex
from memstrata.domain.summarise.summary import Result, Summary, listed, made

_PYTEST: Final = Regex(
    r"=*\s*((?:\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun)(?:, )?)+)"
    r" in [\d.:hms ]+(?:\(.*\))?\s*=*"
)
_PYTEST_FAILURE: Final = Regex(r"(?:FAILED|ERROR) (\S+?(?:\[.*\])?)(?: - (.*))?")
_RAN: Final = Regex(r"Ran (\d+) tests? in [\d.]+s")
_UNITTEST: Final = Regex(r"(OK|FAILED)(?: \((.*)\))?")
_UNITTEST_FAILURE: Final = Regex(r"(?:FAIL|ERROR): (\S+)(?: \((.*)\))?.*")
_JEST: Final = Regex(
    r"\s*Tests:\s+(.*\d+ total.*)|\s*Tests\s+((?:\d+ (?:failed|passed|skipped)[ |]*)+)\(\d+\)"
)
_JEST_FAILURE: Final = Regex(r"\s*(?:[●✕×✗]|FAIL)\s+(\S.*?)(?:\s+\(?\d+ ?ms\)?)?")
_GO_RESULT: Final = Regex(r"(ok|FAIL|---)\s+(?:(PASS|FAIL|SKIP): )?(\S+)\s.*")
_CARGO: Final = Regex(r"test result: (ok|FAILED)\. (\d+) passed; (\d+) failed.*")
_CARGO_FAILURE: Final = Regex(r"test (\S+) \.\.\. FAILED")
_MOCHA: Final = Regex(r"\s*(\d+) (passing|failing|pending)\b.*")
_SAID: Final = Regex(
    r"E\s{2,}(.*)|((?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Failure)\b.*)|\s+(Error: .*|expect\(.*|Expected.*)"
    r"|\s+(\S+_test\.go:\d+: .*)|thread '.*' panicked at (.*)"
)
_PASSED: Final = 9
_FAILED: Final = 6


def tests(result: Result) -> Summary | None:
    """The outcome of a test run: pytest, unittest, Jest and Vitest, Mocha, Go, Cargo."""
    for read in (_pytest, _unittest, _jest, _cargo, _go, _mocha):
        outcome = read(result)
        if outcome is not None:
            told, failures = outcome
            return _summary(result, told, failures)
    return None


def _summary(result: Result, told: str, failures: list[str]) -> Summary:
    if not failures:
        score = _FAILED if "fail" in told.lower() or "error" in told.lower() else _PASSED
        return made(f"tests: {told}", "tests", score)
    reason = _reason(result) if " - " not in failures[0] else ""
    room = 185 - len(told)
    shown = listed(failures, max(40, room - min(len(reason), 90) if reason else room))
    return made(f"tests: {told}: {shown}{f' ({reason})' if reason else ''}", "tests", _FAILED)


def _reason(result: Result) -> str:
    """What the first failure said."""
    for line in result.lines:
        if found := _SAID.fullmatch(line):
            said = next(group for group in found.groups() if group)
            return said.strip()[:90]
    return ""


def _pytest(result: Result) -> tuple[str, list[str]] | None:
    totals = [found[1] for line in result.lines[-60:] if (found := _PYTEST.fullmatch(line.strip()))]
    if not totals:
        return None
    every = (_PYTEST_FAILURE.fullmatch(line.strip()) for line in result.lines)
    failures = [f"{one[1]} - {one[2]}" if one[2] else one[1] for one in every if one]
    return totals[-1].strip(", "), list(dict.fromkeys(failures))


def _unittest(result: Result) -> tuple[str, list[str]] | None:
    ran = next((found for line in result.lines if (found := _RAN.fullmatch(line.strip()))), None)
    if ran is None:
        return None
    ends = [found for line in result.lines[-30:] if (found := _UNITTEST.fullmatch(line.strip()))]
    told = f"{ran[1]} run, {ends[-1][2] or ends[-1][1]}" if ends else f"{ran[1]} run"
    failures = [found[1] for line in result.lines if (found := _UNITTEST_FAILURE.fullmatch(line))]
    failed = ends and ends[-1][1] == "FAILED"
    return (f"FAILED, {told}" if failed else told), failures


def _jest(result: Result) -> tuple[str, list[str]] | None:
    totals = [found for line in result.lines if (found := _JEST.fullmatch(line))]
    if not totals:
        return None
    told = (totals[-1][1] or totals[-1][2]).strip()
    failures = (found[1] for line in result.lines if (found := _JEST_FAILURE.fullmatch(line)))
    return told, list(dict.fromkeys(failures)) if "failed" in told else []


def _cargo(result: Result) -> tuple[str, list[str]] | None:
    runs = [found for line in result.lines if (found := _CARGO.fullmatch(line.strip()))]
    if not runs:
        return None
    failed = sum(int(found[3]) for found in runs)
    told = f"{sum(int(found[2]) for found in runs)} passed"
    failures = [found[1] for line in result.lines if (found := _CARGO_FAILURE.match(line))]
    return (f"{failed} failed, {told}" if failed else told), failures


def _go(result: Result) -> tuple[str, list[str]] | None:
    found = [match for line in result.lines if (match := _GO_RESULT.fullmatch(line.strip() + " "))]
    packages = [match for match in found if match[1] in ("ok", "FAIL") and not match[2]]
    cases = [match for match in found if match[2]]
    if not packages or not (cases or all("\t" in match[0] for match in packages)):
        return None
    failing = [match[3] for match in packages if match[1] == "FAIL"]
    told = f"{len(packages) - len(failing)} packages ok"
    failures = [match[3] for match in cases if match[2] == "FAIL"]
    return (f"{len(failing)} packages failed, {told}" if failing else told), failures or failing


def _mocha(result: Result) -> tuple[str, list[str]] | None:
    every = map(_MOCHA.fullmatch, result.lines)
    found = {match[2]: match[1] for match in every if match}
    if "passing" not in found:
        return None
    told = ", ".join(f"{count} {word}" for word, count in found.items())
    failures = [line.strip() for line in result.lines if Regex(r"\s+\d+\) .*").fullmatch(line)]
    return told, failures if "failing" in found else []
