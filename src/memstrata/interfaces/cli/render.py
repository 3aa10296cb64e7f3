"""How each result reads for a person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING

from memstrata.domain import times
from memstrata.interfaces.cli.texts import say

if TYPE_CHECKING:
    from memstrata.domain.insertion import Task
    from memstrata.domain.turn import Message
    from memstrata.importers import Imported
    from memstrata.interfaces.cli.out import Out
    from memstrata.jobs.worker import Worked
    from memstrata.pipelines.ledger import Spent
    from memstrata.pipelines.read import Hit, Hits, Page, Record, Source, Trace, Version
    from memstrata.pipelines.report import Check, Status
    from memstrata.pipelines.team_document import RevisionInfo, SaveResult, Shown
    from memstrata.pipelines.trial import Trial
    from memstrata.pipelines.world import Report
    from memstrata.ports import Holding, VerdictRow


def when(value: datetime | date | None) -> str:
    """An instant to the minute in UTC, a day as it is, nothing for what is unknown."""
    match value:
        case None:
            return ""
        case datetime():
            return f"{times.short(value)}Z"
        case date():
            return value.isoformat()


def named(name: str, description: str) -> str:
    """`name: description`; the description alone where the name tells nothing that it does not."""
    words, rest = _letters(name), iter(_letters(description))
    told = all(one in rest for one in words) and len(words) * 2 >= len(_letters(description))
    return description if told else f"{name}: {description}"


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def said(*texts: str) -> list[str]:
    """Each of `texts` in the spoken language."""
    return [say(one) for one in texts]


# -- memories ---------------------------------------------------------------------------------------


def records(out: Out, page: Page[Record]) -> None:
    """Memories, one a row."""
    headings = said("id", "scope", "type", "status", "memory")
    rows = [
        (one.id, say(one.scope), say(one.type), say(one.status), named(one.name, one.description))
        for one in page.items
    ]
    if rows or not out.terminal:
        out.table(headings, rows)
    else:
        out.text(say("no memory"))


def record(out: Out, one: Record) -> None:
    """One memory: its fields, a blank line, its Markdown body."""
    out.heading(one.name)
    out.fields([(say(name), value) for name, value in _fields(one)])
    if one.body:
        out.text()
        out.text(one.body)


def _fields(one: Record) -> list[tuple[str, str]]:
    happened = " – ".join(filter(None, (when(one.happened_from), when(one.happened_until))))
    return [
        ("id", one.id),
        ("description", one.description),
        ("scope", say(one.scope) + (f" {one.scope_ref}" if one.scope_ref else "")),
        ("type", say(one.type)),
        ("status", _standing(one)),
        ("owner", one.owner),
        ("confidence", f"{one.confidence:.2f}"),
        ("priority", str(one.priority)),
        ("entities", ", ".join(one.entities)),
        ("origin", f"{say(one.origin)}, {say(one.authority)}"),
        ("scene", one.scene),
        ("said", when(one.said_at)),
        ("happened", happened),
        ("valid from", when(one.valid_from)),
        ("last day that counts", when(one.valid_until)),
        ("version", str(one.version)),
        ("learned", when(one.created_at)),
        ("changed", when(one.updated_at)),
        ("recalled", str(one.hit_count) if one.hit_count else ""),
        ("note", one.note),
        ("file", one.path),
        ("file state", f"{say(one.presence)} {one.problem}" if one.presence != "live" else ""),
    ]


def _standing(one: Record) -> str:
    parts = [say(one.status)]
    if one.invalid_at:
        parts.append(say("since {when}", when=when(one.invalid_at)))
    if one.superseded_by:
        parts.append(say("superseded by {id}", id=one.superseded_by))
    return ", ".join(parts)


def versions(out: Out, found: Sequence[Version]) -> None:
    """The versions of a memory, oldest first."""
    headings = said("version", "when", "change", "who", "memory", "why")
    rows = [
        (str(v.version), when(v.at), _change(v), v.who, named(v.name, v.description), v.why)
        for v in found
    ]
    out.table(headings, rows)


def _change(one: Version) -> str:
    """How a version came about. A verdict that something is over is called delete, too."""
    return say("deleted") if one.verb == "delete" else say(one.verb)


def trace(out: Out, found: Trace) -> None:
    """Quote, message, who and when; then what superseded it and what it superseded."""
    if found.record is not None:
        out.heading(f"{found.record.id}  {named(found.record.name, found.record.description)}")
        for source in found.sources:
            _source(out, source)
        if not found.sources:
            out.text(f"  {say('no source')}: {say(found.record.origin)}")
        _chain(out, say("superseded by"), found.successors)
        _chain(out, say("supersedes"), found.superseded)
    if found.message is not None:
        out.heading(f"{found.message.id}  {_speaker(found.message)}")
        out.text(_indented(found.message.content))
        _chain(out, say("memories that came of it"), found.derived)


def _source(out: Out, source: Source) -> None:
    out.text(f"  {say('quote')}: {source.evidence.quote!r}")
    if source.message is None:
        out.text(f"  {say('message')} {source.evidence.message}: {say('gone')}")
        return
    out.text(f"  {say('message')}: {source.message.id}  {_speaker(source.message)}")
    if source.message.content.strip() != source.evidence.quote.strip():
        out.text(_indented(source.message.content))


def _speaker(message: Message) -> str:
    said = when(message.said_at) or say("time unknown")
    return f"{say(message.role)}, {said}, {say('session')} {message.session}"


def _indented(text: str) -> str:
    return "\n".join(f"    {one}" for one in text.splitlines())


def _chain(out: Out, title: str, found: Iterable[Record]) -> None:
    for one in found:
        out.text(f"  {title}: {one.id}  {named(one.name, one.description)} ({_standing(one)})")


# -- searches and verdicts --------------------------------------------------------------------------


def hits(out: Out, found: Hits) -> None:
    """Memories, then messages, best first."""
    headings = said("id", "kind", "score", "found")
    rows = [(hit.id, _kind(hit), f"{hit.score:.3f}", _found(hit)) for hit in found]
    if rows or not out.terminal:
        out.table(headings, rows)
    else:
        out.text(say("nothing found"))


def _kind(hit: Hit) -> str:
    if hit.kind == "message":
        return say(hit.role)
    return f"{say(hit.scope)}/{say(hit.type)}" + (
        "" if hit.status == "active" else f" {say(hit.status)}"
    )


def _found(hit: Hit) -> str:
    if hit.kind == "memory":
        return named(hit.name, hit.description)
    said = when(hit.said_at)
    return f"[{said}] {hit.content}" if said else hit.content


def verdicts(out: Out, page: Page[VerdictRow]) -> None:
    """What became of each candidate, newest first; a terminal has no room for every column."""
    if not page.items and out.terminal:
        out.text(say("no verdict"))
    elif out.terminal:
        headings = said("when", "verdict", "candidate", "kept as")
        out.table(headings, [_verdict(row) for row in page.items], whole=(0, 3))
    else:
        out.table((), [_verdict_whole(row) for row in page.items])


def _verdict(row: VerdictRow) -> tuple[str, ...]:
    found = row.verdict
    gate = f" ({say(found.gate)})" if found.gate not in ("", found.verdict) else ""
    told = f"{found.name}: {found.reason} [{row.session}]"
    return when(row.at), say(found.verdict) + gate, told, found.memory or "-"


def _verdict_whole(row: VerdictRow) -> tuple[str, ...]:
    found = row.verdict
    gate = say(found.gate) if found.gate else "-"
    about = (found.memory or "-", row.session, found.name, found.reason)
    return when(row.at), say(found.verdict), gate, *about


# -- documents --------------------------------------------------------------------------------------


def document(out: Out, found: Shown) -> None:
    """A document as it is, and nothing else: it may go into a file."""
    if found.memory_md:
        out.text(found.memory_md)


def revisions(out: Out, found: Sequence[RevisionInfo]) -> None:
    """The revisions of a document, oldest first."""
    headings = said("revision", "when", "change", "who", "door", "characters")
    rows = [
        (str(one.rev), when(one.at), _verb(one), one.author, one.channel, str(one.characters))
        for one in found
    ]
    if rows or not out.terminal:
        out.table(headings, rows)
    else:
        out.text(say("no revision"))


def _verb(one: RevisionInfo) -> str:
    return say(one.verb) + ("" if one.restored is None else f" {one.restored}")


def saved(out: Out, found: SaveResult) -> None:
    """What a save came to."""
    if found.status == "saved":
        out.text(say("saved: revision {rev}", rev=found.rev))
    else:
        out.text(say("nothing to save: revision {rev}", rev=found.rev))


def told(found: SaveResult) -> Iterator[str]:
    """What whoever saved should know, a line each."""
    for one in found.conflicts:
        yield say(
            "somebody else changed this line too, both stay ({heading}): {theirs} | {yours}",
            heading=one.heading,
            theirs=one.theirs,
            yours=one.yours,
        )
    for line in found.retained:
        yield say("left out, and kept all the same: {line}", line=line)
    yield from filter(None, (found.notice, *found.warnings, *found.diff_warnings))
    yield from found.format_warnings


# -- work -------------------------------------------------------------------------------------------


def imported(out: Out, files: Mapping[str, Imported], worked: Worked | None) -> None:
    """What each file came to, then what was extracted."""
    headings = said("file", "format", "sessions", "stored", "there already", "unreadable")
    out.table(
        headings,
        [
            (
                path,
                one.format,
                *map(str, (len(one.sessions), one.stored, one.existing, len(one.bad))),
            )
            for path, one in files.items()
        ],
    ) if out.terminal else _imported_plain(out, files)
    if worked is not None:
        extracted(out, worked)


def _imported_plain(out: Out, files: Mapping[str, Imported]) -> None:
    for path, one in files.items():
        out.text(
            say(
                "{path} ({format}): {stored} stored, {existing} there already, "
                "{bad} unreadable, sessions: {sessions}",
                path=path,
                format=one.format,
                stored=one.stored,
                existing=one.existing,
                bad=len(one.bad),
                sessions=len(one.sessions),
            )
        )


def extracted(out: Out, worked: Worked) -> None:
    """Messages read and how many candidates met which verdict."""
    counts = tally(one.verdict for one in worked.verdicts)
    told = ", ".join(f"{say(name)} {count}" for name, count in counts.items()) or say("none")
    out.text(
        say("extracted: {messages} messages; verdicts: {told}", messages=worked.messages, told=told)
    )


def tally(words: Iterable[str]) -> dict[str, int]:
    """How often each word occurs, in the order of first occurrence."""
    found: dict[str, int] = {}
    for word in words:
        found[word] = found.get(word, 0) + 1
    return found


def report(out: Out, found: Report) -> None:
    """What a reindex did, and what it left alone."""
    for action in found.actions or [say("files and index agree")]:
        out.text(action)
    for problem in found.problems:
        out.text(f"{say('left as it is')}: {problem}")


# -- the whole --------------------------------------------------------------------------------------


def status(out: Out, found: Status, home: str) -> None:
    """The state of a home."""
    rows = [
        ("home", home),
        ("owner", found.owner),
        ("memory", say("on") if found.enabled else say("off")),
        ("extraction", found.extractor),
        ("search profile", found.profile),
        ("embedder", found.embedder),
        ("vectors", _of(*found.vectors)),
        ("tokenizer", found.tokenizer),
        ("time zone", found.timezone),
        ("memories", _counts(_part(found.memories, "")) or "0"),
        ("active", _counts(_part(found.memories, "active "))),
        ("messages", str(found.messages)),
        ("sessions", str(found.sessions)),
        (
            "waiting",
            say("{n} messages (memstrata extract)", n=found.waiting) if found.waiting else "0",
        ),
        ("verdicts", _counts(found.verdicts)),
        ("workspaces", "; ".join(found.workspaces)),
        ("almost full", "; ".join(found.full)),
        ("set aside", "; ".join(found.parked)),
        ("tried again", "; ".join(found.retrying)),
        ("spent today", _spent(found.spent)),
        ("worker", _worker(found.worker)),
        ("problems", "; ".join(found.problems)),
        ("degraded", "; ".join(found.degraded)),
    ]
    out.fields([(say(name), value) for name, value in rows])


def _of(made: int, wanted: int) -> str:
    return say("{made} of {wanted} texts", made=made, wanted=wanted) if wanted else ""


def _spent(spent: Mapping[str, Spent]) -> str:
    """What today's calls of models came to, by purpose."""
    return "; ".join(
        say(
            "{purpose}: {calls} calls, {failed} failed, {tokens} tokens",
            purpose=purpose,
            calls=one.calls,
            failed=one.failed,
            tokens=one.tokens,
        )
        for purpose, one in spent.items()
    )


def _worker(worker: Holding | None) -> str:
    if worker is None:
        return say("nobody")
    return say(
        "process {pid} on {host} ({role}) since {when}",
        pid=worker.pid,
        host=worker.host,
        role=say(worker.role),
        when=when(worker.since),
    )


def _part(counts: Mapping[str, int], head: str) -> dict[str, int]:
    """The counts whose name is `head` and more, or, for no head, one word; without the head."""
    return {
        name.removeprefix(head): count
        for name, count in counts.items()
        if (name.startswith(head) if head else " " not in name)
    }


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(
        f"{' '.join(map(say, name.split()))} {count}" for name, count in sorted(counts.items())
    )


def checks(out: Out, found: Sequence[Check]) -> None:
    """Every check, with advice where it failed."""
    for one in found:
        mark = say("ok") if one.ok else say("FAULT")
        advice = "" if one.ok or not one.advice else f" → {one.advice}"
        out.text(f"{mark}  {say(one.name)}: {one.found}{advice}")


def trial(out: Out, found: Trial) -> None:
    """What a trial call of the model came to."""
    if not found.ok:
        out.text(f"{say('FAULT')}  {found.model or say('no model')}: {found.problem}")
        return
    out.text(f"{say('ok')}  {found.model}: {found.seconds:.2f} s")
    for one in found.sample:
        out.text(f"  {one}")


def settings(out: Out, rows: Sequence[tuple[str, object, str]]) -> None:
    """Every setting with its value and origin."""
    headings = said("setting", "value", "origin")
    out.table(headings, [(key, shown(value), origin) for key, value, origin in rows])


def shown(value: object) -> str:
    """A setting's value as TOML writes it."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{value}"'
        case tuple() | list():
            return f"[{', '.join(map(shown, value))}]"
        case _:
            return str(value)


# -- tasks ------------------------------------------------------------------------------------------


def tasks(out: Out, found: Sequence[Task]) -> None:
    """Tasks, one a row."""
    headings = said("task", "updated", "goal", "steps")
    rows = [
        (
            one.file,
            when(one.updated),
            one.goal,
            f"{one.progress} %: "
            + ", ".join(f"{number} {status}" for status, number in one.counts),
        )
        for one in found
    ]
    out.table(headings, rows)
