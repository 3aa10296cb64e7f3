"""Tool results in a line: the known kinds by rule, errors with their message, the rest by its ends."""

# ruff: noqa: E501 — tables read best in rows

from __future__ import annotations

import json
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memstrata.domain.summarise import Summary, call_line, is_known, step, summarise

PYTEST = """\
============================= test session starts ==============================
collected 7 items

tests/test_pager.py ....F.F                                              [100%]

=================================== FAILURES ===================================
_______________________________ test_last_page ________________________________
    def test_last_page() -> None:
>       assert pages(21, 10) == 3
E       assert 2 == 3
tests/test_pager.py:14: AssertionError
=========================== short test summary info ============================
FAILED tests/test_pager.py::test_last_page - assert 2 == 3
FAILED tests/test_pager.py::test_empty[0-10] - IndexError: list index out of range
========================= 2 failed, 5 passed in 0.31s =========================
"""
UNITTEST = """\
.F.
======================================================================
FAIL: test_last_page (tests.test_pager.PagerTest)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/srv/shop/tests/test_pager.py", line 14, in test_last_page
    self.assertEqual(pages(21, 10), 3)
AssertionError: 2 != 3

----------------------------------------------------------------------
Ran 3 tests in 0.004s

FAILED (failures=1)
"""
JEST = """\
FAIL src/pager.test.ts
  Pager
    ✓ shows the first page (3 ms)
    ✕ shows the last page (5 ms)

  ● Pager › shows the last page

    expect(received).toBe(expected) // Object.is equality

    Expected: 3
    Received: 2

Test Suites: 1 failed, 4 passed, 5 total
Tests:       1 failed, 23 passed, 24 total
"""
GO = """\
--- FAIL: TestLastPage (0.00s)
    pager_test.go:14: got 2 pages, want 3
FAIL
FAIL\tshop.test/pager\t0.004s
ok  \tshop.test/cart\t0.011s
ok  \tshop.test/mail\t0.020s
FAIL
and so on, to make this longer than a line: it has to be summarised, so it needs some more words here
"""
CARGO = """\
running 3 tests
test pages::first ... ok
test pages::last ... FAILED
test pages::empty ... ok

---- pages::last stdout ----
thread 'pages::last' panicked at src/lib.rs:31:9:
assertion `left == right` failed
  left: 2
 right: 3

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""
TRACEBACK = """\
Loading settings
Traceback (most recent call last):
  File "/srv/shop/run.py", line 3, in <module>
    main()
  File "/srv/shop/config.py", line 41, in load
    return settings["currency"]
           ~~~~~~~~^^^^^^^^^^^^
KeyError: 'currency'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/shop/run.py", line 9, in <module>
    fall_back()
  File "/srv/shop/config.py", line 57, in fall_back
    raise SettingsError("no currency, and no default for it")
shop.errors.SettingsError: no currency, and no default for it
"""
NODE = """\
/srv/shop/pager.js:12
    return rows[page].slice(0);
                      ^

TypeError: Cannot read properties of undefined (reading 'slice')
    at Pager.page (/srv/shop/pager.js:12:23)
    at Object.<anonymous> (/srv/shop/run.js:4:7)
    at Module._compile (node:internal/modules/cjs/loader:1554:14)

Node.js v20.20.2
"""
DIFF = """\
diff --git a/shop/pager.py b/shop/pager.py
index 83db48f..bf2a1c9 100644
--- a/shop/pager.py
+++ b/shop/pager.py
@@ -11,3 +11,4 @@ def pages(rows: int, size: int) -> int:
     if not rows:
         return 0
-    return rows // size
+    full, rest = divmod(rows, size)
+    return full + bool(rest)
diff --git a/docs/pager.md b/docs/pager.md
new file mode 100644
--- /dev/null
+++ b/docs/pager.md
@@ -0,0 +1,2 @@
+# Pager
+--- it counts the last page too
"""
GREP = "\n".join(
    [f"shop/pager.py:{number}:    page = rows[{number}]" for number in (3, 14, 15, 70, 71)]
    + [
        "shop/cart.py:92:        pager = Pager(self.rows)",
        "tests/test_pager.py:1:import shop.pager",
    ]
)
LS = """\
total 64
drwxr-xr-x  4 dora dora  4096 Nov 30 09:12 .
drwxr-xr-x 17 dora dora  4096 Nov 28 17:40 ..
-rw-r--r--  1 dora dora 18211 Nov 30 09:10 CHANGELOG.md
-rw-r--r--  1 dora dora   912 Nov 28 17:41 pyproject.toml
drwxr-xr-x  3 dora dora  4096 Nov 29 11:02 shop
drwxr-xr-x  2 dora dora  4096 Nov 30 08:55 tests
lrwxrwxrwx  1 dora dora    14 Nov 28 17:41 README -> docs/README.md
"""
TREE = """\
shop
├── pager.py
├── cart.py
└── templates
    ├── page.html
    ├── a_rather_long_name_of_a_template_for_the_page_of_the_cart.html
    └── a_rather_long_name_of_a_template_for_the_page_of_the_order.html

1 directory, 5 files
"""
SOURCE = "\n".join(
    f"{at}\t{line}"
    for at, line in enumerate(
        [
            *('"""Pages of rows."""', "", "import math", "", "", "class Pager:"),
            *("    def __init__(self, rows: list[str]) -> None:", "        self.rows = rows", ""),
            *("    def page(self, number: int) -> list[str]:", "        try:"),
            *("            return self.rows[number]", "        except IndexError:"),
            *("            raise KeyError(f'no page {number}') from None", "", ""),
            *("def pages(rows: int, size: int) -> int:", "    return math.ceil(rows / size)"),
        ],
        start=1,
    )
)
FLIGHTS = json.dumps(
    [
        {"flight_number": f"QX{n}", "origin": "OSL", "destination": "VIE", "seats": n, "prices": {}}
        for n in (17, 28, 260)
    ]
)
ORDER = json.dumps(
    {
        "order_id": "A-1182",
        "customer": {"name": "Ines Haugen", "city": "Tromsø"},
        "items": [{"sku": "tea-01", "count": 2}, {"sku": "pot-07", "count": 1}],
        "status": "shipped",
        "total": 48.5,
        "currency": "EUR",
        "notes": "Leave it with the neighbours on the second floor if nobody is at home, they know.",
        "tags": ["gift", "fragile"],
        "paid": True,
        "carrier": "Nordpost",
        "tracking": "NP-88-120-441",
    }
)
HTTP = """\
HTTP/1.1 404 Not Found
Content-Type: application/json; charset=utf-8
Content-Length: 182

{"error": {"code": "order_not_found", "message": "There is no order A-1183 of this customer"}, \
"request_id": "7c0e0c1a-55b8-4f43-9dd2-6d2f1b9f7f10", "documentation": "docs/errors/order_not_found"}
"""
PAGE = f"<!doctype html><html><head><title>Pager\n settings</title></head><body>{'x' * 400}</body></html>"
MARKDOWN_TABLE = "| service | owner | since |\n|---|:-:|---|\n" + "\n".join(
    f"| service-{at} | Ines | 20{at:02d} |" for at in range(1, 21)
)
PSQL = (
    " id |   name    | city  \n----+-----------+-------\n"
    + "\n".join(f"  {at} | customer-{at} | Bodø" for at in range(1, 15))
    + "\n(14 rows)\n"
)
PODS = "NAME        READY   STATUS             RESTARTS   AGE\n" + "\n".join(
    f"shop-{at}      1/1     Running            {at}          {at}d" for at in range(1, 9)
)
PACKAGES = "Package    Version\n---------- -------\n" + "\n".join(
    f"shop-{at}     1.{at}.0" for at in range(1, 20)
)
PROCESSES = "USER PID %CPU COMMAND\n" + "\n".join(
    f"dora {at} 0.{at} python -m shop.worker --queue {at}" for at in range(1, 8)
)
COUNTS = (
    "\n".join(
        f"  {count} shop/{name}.py"
        for count, name in [
            (76, "cart"),
            (8, "page_of_the_cart_and_its_rows"),
            (199, "mail"),
            (283, "total_of_all_the_files_that_were_counted"),
        ]
    )
    + "\n"
    + "x" * 80
)
RECURSIVE = "shop:\ncart.py\npager.py\n\nshop/templates:\n" + "\n".join(
    f"a_template_with_a_long_name_{at}.html" for at in range(1, 9)
)
SETTINGS = (
    "# Everything that can be set\n[server]\nport = 8080\n\n[server.tls]\ncertificate = 'shop.pem'\n"
    + "\n".join(f"option_{at} = {at}  # as it was" for at in range(1, 12))
)
CSV = "date,item,amount\n" + "\n".join(f"2026-11-{at:02d},tea,{at * 3}" for at in range(1, 25))
MYPY = "\n".join(
    [
        f'shop/pager.py:{at}: error: Incompatible return value type (got "str")  [return-value]'
        for at in (3, 9)
    ]
    + [
        "shop/cart.py:7:1: warning: unused import",
        "Found 2 errors in 1 file (checked 12 source files)",
    ]
)
LOG = "\n".join(
    [f"2026-11-30 09:{at:02d}:00 INFO worker {at} took a job from the queue" for at in range(1, 60)]
    + ["2026-11-30 10:00:00 ERROR: queue is gone: Connection refused (localhost, port 5672)"]
    + ["2026-11-30 10:00:01 INFO stopping all workers", "bye"]
)
PROSE = "\n".join(
    ["The harvest was good this year."] + ["Nothing else to tell."] * 30 + ["The end."]
)


@pytest.mark.promise("offload.kinds")
@pytest.mark.parametrize(
    "call, result, kind, told",
    [
        (("bash", "pytest"), PYTEST, "tests", "tests: 2 failed, 5 passed: tests/test_pager.py::test_last_page - assert 2 == 3, tests/test_pager.py::test_empty[0-10] - IndexError: list index out of range"),
        (("bash", "pytest"), PYTEST.replace("2 failed, ", "").replace("FAILED ", ""), "tests", "tests: 5 passed"),
        (("bash", "python -m unittest"), UNITTEST, "tests", "tests: FAILED, 3 run, failures=1: test_last_page (AssertionError: 2 != 3)"),
        (("bash", "npm test"), JEST, "tests", "tests: 1 failed, 23 passed, 24 total: src/pager.test.ts, shows the last page, Pager › shows the last page (expect(received).toBe(expected) // Object.is equality)"),
        (("bash", "go test ./..."), GO, "tests", "tests: 1 packages failed, 2 packages ok: TestLastPage (pager_test.go:14: got 2 pages, want 3)"),
        (("bash", "cargo test"), CARGO, "tests", "tests: 1 failed, 2 passed: pages::last (src/lib.rs:31:9:)"),
        (("bash", "python run.py"), TRACEBACK, "traceback", "shop.errors.SettingsError: no currency, and no default for it at /srv/shop/config.py:57 in fall_back (2 frames)"),
        (("bash", "node run.js"), NODE, "traceback", "TypeError: Cannot read properties of undefined (reading 'slice') at Pager.page (/srv/shop/pager.js:12:23)"),
        (("bash", "git diff"), DIFF, "diff", "diff of 2 files, +4 −1: shop/pager.py +2 −1, docs/pager.md +2 −0"),
        (("grep", "page"), GREP, "search", "7 matches in 3 files: shop/pager.py (5), shop/cart.py (1), tests/test_pager.py (1)"),
        (("bash", "ls -la"), LS, "listing", "3 files, 2 folders: shop/, tests/, CHANGELOG.md, pyproject.toml, README"),
        (("tree", "shop"), TREE, "listing", "6 files: pager.py, cart.py, templates, page.html, a_rather_long_name_of_a_template_for_the_page_of_the_cart.html, a_rather_long_name_of_a_template_for_the_page_of_the_order.html"),
        (("read_file", "shop/pager.py"), SOURCE, "file", "shop/pager.py, 18 lines: Pager, __init__, page, pages"),
        (("search_flights", "OSL"), FLIGHTS, "json", "3 items of {flight_number, origin, destination, seats, prices}: QX17, QX28, QX260"),
        (("http_get", "/orders/A-1183"), HTTP, "http", "HTTP 404 Not Found application/json: There is no order A-1183 of this customer order_not_found"),
        (("fetch", "pager"), PAGE, "http", "HTML page Pager settings, 484 characters"),
        (("query", "owners"), MARKDOWN_TABLE, "table", "table of 20 rows × 3 columns (service, owner, since); first: service-1 | Ines | 2001; last: service-20 | Ines | 2020"),
        (("sql", "select"), PSQL, "table", "table of 14 rows × 3 columns (id, name, city); first: 1 | customer-1 | Bodø; last: 14 | customer-14 | Bodø"),
        (("read_file", "sums.csv"), CSV, "table", "table of 24 rows × 3 columns (date, item, amount); first: 2026-11-01 | tea | 3; last: 2026-11-24 | tea | 72"),
        (("bash", "kubectl get pods"), PODS, "table", "table of 8 rows × 5 columns (NAME, READY, STATUS, RESTARTS, AGE); first: shop-1 | 1/1 | Running | 1 | 1d; last: shop-8 | 1/1 | Running | 8 | 8d"),
        (("bash", "pip list"), PACKAGES, "table", "table of 19 rows × 2 columns (Package, Version); first: shop-1 | 1.1.0; last: shop-19 | 1.19.0"),
        (("bash", "ps aux"), PROCESSES, "table", "table of 7 rows × 4 columns (USER, PID, %CPU, COMMAND); first: dora | 1 | 0.1 | python -m shop.worker --queue 1; last: dora | 7 | 0.7 | python -m shop.worker --queue 7"),
        (("bash", "wc -l shop/*.py"), COUNTS, "text", f"5 lines, 214 characters: 76 shop/cart.py … {'x' * 80}"),
        (("bash", "ls -R"), RECURSIVE, "listing", "10 files, 2 folders: shop/, shop/templates/, cart.py, pager.py, a_template_with_a_long_name_1.html, a_template_with_a_long_name_2.html, a_template_with_a_long_name_3.html and 5 more"),
        (("bash", "cd /srv && cat shop/settings.toml"), SETTINGS, "file", "shop/settings.toml, 17 lines: Everything that can be set, [server], [server.tls]"),
        (("bash", "mypy shop"), MYPY, "checks", 'findings: 2 error, 1 warning: shop/pager.py:3: error: Incompatible return value type (got "str") [return-value] and 1 more'),
        (("bash", "./work"), LOG, "text", "62 lines, 3,723 characters; 2026-11-30 10:00:00 ERROR: queue is gone: Connection refused (localhost, port 5672)"),
        (("narrate", "x"), PROSE, "text", "32 lines, 700 characters: The harvest was good this year. … The end."),
        (("bash", "true"), " \n", "empty", "no output"),
        (("calculate", "6*7"), "42\n", "short", "42"),
    ],
)  # fmt: skip
def test_kinds(call: tuple[str, str], result: str, kind: str, told: str) -> None:
    found = summarise(call[0], {"command": call[1]}, result)
    assert (found.kind, found.text) == (kind, told)
    assert is_known(found) == (kind != "text")


def test_an_object_shows_what_identifies_it() -> None:
    found = summarise("get_order", '{"order_id": "A-1182"}', ORDER)
    assert found.kind == "json"
    assert found.text.startswith("{order_id: A-1182, status: shipped, total: 48.5, currency: EUR, ")
    assert found.text.endswith("more keys}")


@pytest.mark.promise("offload.errors-kept")
@pytest.mark.parametrize(
    "name, arguments, result, error",
    [
        ("book", {}, "Error: the sum does not add up, it is 1203, but 833 was paid", "the sum does not add up"),
        ("bash", {"command": "frob"}, "bash: line 1: frob: command not found", "frob: command not found"),
        ("read_file", {"path": "x.py"}, "cat: x.py: No such file or directory", "No such file or directory"),
        ("bash", {"command": "python run.py"}, TRACEBACK, "SettingsError: no currency, and no default for it"),
        ("http_get", {"url": "/orders"}, HTTP, "There is no order A-1183"),
        ("get_order", {"id": "1"}, '{"ok": false, "message": "quota used up", "retry_after": 30}', "quota used up"),
        ("get_order", {"id": "1"}, '{"errors": [{"message": "no such field: x", "line": 3}]}', "no such field: x"),
        ("get_order", {"id": "1"}, json.dumps({"error": "bad token", "trace": "y" * 400}), "bad token"),
        ("api", {"id": "1"}, '{"status": 503, "title": "Service is down", "pad": "' + "z" * 300 + '"}', "Service is down"),
        ("bash", {"command": "make"}, "cc -c a.c\n" * 40 + "a.c:3: error: unknown type\nmake: *** [all] Error 2\nExit code: 2", "a.c:3: error: unknown type"),
        ("bash", {"command": "./up"}, "uploading part\n" * 40 + "quota used up\n(exit code 3)", "quota used up"),
        ("edit", {"path": "a.py"}, "Your edit was refused with error(s):\n\n- E999 IndentationError: unexpected indent\n" + "1: x\n" * 60, "IndentationError: unexpected indent"),
        ("搜索", {"q": "分页"}, "错误：索引不存在，请先建立索引", "索引不存在"),
        ("run", {"cmd": "x"}, "\x1b[31mfatal:\x1b[0m not a git repository", "fatal: not a git repository"),
    ],
)  # fmt: skip
def test_a_failure_keeps_its_message(
    name: str, arguments: dict[str, object], result: str, error: str
) -> None:
    found = summarise(name, arguments, result)
    assert error in found.error
    assert error in found.text


@pytest.mark.promise("offload.errors-kept")
@pytest.mark.parametrize(
    "name, command, result",
    [
        ("bash", "pytest", PYTEST),
        ("read_file", "shop/pager.py", SOURCE),
        (
            "bash",
            "cat errors.md",
            "# Error handling\n\n" + "Errors travel until someone can act.\n" * 9,
        ),
        ("bash", "./work", LOG),
        ("bash", "run", "Script completed successfully, no errors."),
        ("bash", "mypy shop", MYPY),
        ("bash", "make", "cc -c a.c\n" * 40 + "Exit code: 0"),
        ("get_order", "1", '{"error": null, "errors": [], "status": "ok", "code": 200}'),
    ],
)
def test_what_worked_has_no_error(name: str, command: str, result: str) -> None:
    assert summarise(name, {"command": command}, result).error == ""


@pytest.mark.promise("offload.scores")
def test_scores_say_how_well_the_summary_replaces_the_result() -> None:
    def score(result: str, name: str = "bash") -> int:
        return summarise(name, {"command": "x"}, result).score

    assert score("") == score("done") == 10
    passed = PYTEST.replace("2 failed, ", "").replace("FAILED ", "")
    assert score(passed) > score(LS) > score(GREP) > score(DIFF) > score(SOURCE) > score(PROSE)


@settings(max_examples=200)
@given(
    st.text(max_size=30),
    st.text(max_size=60) | st.dictionaries(st.text(max_size=8), st.integers() | st.text(), max_size=4),
    st.text() | st.lists(st.sampled_from([*PYTEST.split("\n"), *HTTP.split("\n"), *LS.split("\n"), *DIFF.split("\n"), "{", "[1", "\x00\r"])).map("\n".join),
)  # fmt: skip
def test_any_result_has_a_summary(
    name: str, arguments: str | dict[str, object], result: str
) -> None:
    found = summarise(name, arguments, result)
    assert isinstance(found, Summary)
    assert found.text.strip()
    assert len(found.text) <= 200
    assert len(found.error) <= 200
    assert len(found.text.splitlines()) == 1
    assert 0 <= found.score <= 10
    assert len(call_line(name, arguments)) <= 150


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        " ",
        "=",
        "-",
        "|",
        "a.",
        "Aa:1:",
        "x" * 99 + "\n",
        "at (",
        "\r",
        "{",
        "E   x\n",
        "error ",
    ],
)
def test_the_time_is_linear_in_the_result(unit: str) -> None:
    big = unit * (400_000 // len(unit))
    start = perf_counter()
    summarise("bash", {"command": "x"}, big)
    assert perf_counter() - start < 5


# -- calls ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, arguments, line, same",
    [
        ("open", {"path": "a.py", "line": 12}, "open(a.py; line=12)", "open: a.py"),
        ("open", {"line": 99, "path": "a.py"}, "open(a.py; line=99)", "open: a.py"),
        ("grep", {"pattern": "TODO", "path": "src"}, "grep(TODO, src)", "grep: TODO, src"),
        ("bash", '{"command": "cd src && pytest -x tests | tail -5"}', "bash(cd src && pytest -x tests | tail -5)", "bash: pytest tests"),
        ("bash", "ls -la", "bash(ls -la)", "bash: ls"),
        ("run_command", {"cmd": "PAGER=cat git log --oneline"}, "run_command(PAGER=cat git log --oneline)", "run_command: git log"),
        ("edit", {"path": "a.py", "new_str": "x\ny", "old_str": "z" * 90}, "edit(a.py; new_str=x y, old_str=" + "z" * 59 + "…)", "edit: a.py"),
        ("get_order", {"order_id": 12}, "get_order(12)", "get_order: 12"),
        ("think", {"thought": "w" * 300}, "think(; thought=" + "w" * 59 + "…)", "think"),
        ("submit", {}, "submit()", "submit"),
        ("calculate", {"sum": "1 + 2"}, "calculate(1 + 2)", "calculate: 1 + 2"),
        ("search", "[1, 2]", "search([1, 2])", "search: [1, 2]"),
    ],
)  # fmt: skip
def test_a_call_in_a_line(
    name: str, arguments: dict[str, object] | str, line: str, same: str
) -> None:
    assert call_line(name, arguments) == line
    assert step(line) == same
