"""How each result reads for a person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING

from memstrata.domain import times
from memstrata.interfaces.cli.texts import say

if TYPE_CHECKING:
    from memstrata.domain.insertion import Task
    from memstrata.domain.token import Token
    from memstrata.domain.turn import Message
    from memstrata.importers import Imported
    from memstrata.interfaces.cli.out import Out
    from memstrata.jobs.worker import Worked
    from memstrata.memory import Review
    from memstrata.pipelines.candidates import Candidate, SourceInfo
    from memstrata.pipelines.consolidate import Consolidation, Made
    from memstrata.pipelines.entities import Entity
    from memstrata.pipelines.ledger import Spent
    from memstrata.pipelines.portrait import PersonaLine, PersonaText, SceneText, TextVersion
    from memstrata.pipelines.read import (
        Hit,
        Hits,
        Page,
        Record,
        SessionInfo,
        Source,
        Trace,
        Version,
    )
    from memstrata.pipelines.report import Bound, Check, Status
    from memstrata.pipelines.team_document import RevisionInfo, SaveResult, Shown
    from memstrata.pipelines.trial import Trial
    from memstrata.pipelines.world import Report
    from memstrata.ports import Holding, ToolRead, VerdictRow


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
    if found.scene is not None:
        out.heading(f"{found.scene.id}  {found.scene.summary}")
    if found.line is not None:
        out.heading(f"{found.line.id}  {found.line.text}")
    _beside(out, found)


def _beside(out: Out, found: Trace) -> None:
    """The layers above a memory or message; those below a scene or a line of the persona."""
    for scene in found.scenes:
        out.text(f"  {say('told in scene')}: {scene.id}  {scene.summary}")
    for line in found.lines:
        out.text(f"  {say('told in persona')}: {line.id}  {line.text}")
    for one in found.memories:
        out.text(f"  {say('rests on')}: {one.id}  {named(one.name, one.description)}")
        for source in found.sources:
            if source.evidence in one.evidence:
                _source(out, source)


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


# -- scenes and persona -----------------------------------------------------------------------------


def scenes(out: Out, found: Sequence[SceneText]) -> None:
    """Scenes, one a row, hottest first."""
    headings = said("id", "heat", "paragraphs", "changed", "summary")
    rows = [
        (one.id, str(one.heat), str(len(one.paragraphs)), when(one.updated), one.summary)
        for one in found
    ]
    if rows or not out.terminal:
        out.table(headings, rows)
    else:
        out.text(say("no scene"))


def scene(out: Out, one: SceneText) -> None:
    """One scene: its head, then each paragraph with what it rests on."""
    out.heading(one.id)
    out.fields(
        [
            (say("summary"), one.summary),
            (say("heat"), str(one.heat)),
            (say("made"), when(one.created)),
            (say("changed"), when(one.updated)),
            (say("file"), one.path),
        ]
    )
    section = ""
    for paragraph in one.paragraphs:
        out.text()
        if paragraph.section != section:
            section = paragraph.section
            out.heading(section)
        out.text(paragraph.text)
        out.text(f"  {_resting(paragraph.cites, paragraph.locked)}")


def persona(out: Out, found: PersonaText) -> None:
    """The persona, each line with its number and what it rests on."""
    if not found.lines:
        out.text(say("no persona"))
    section = ""
    for number, line in enumerate(found.lines, start=1):
        if line.section != section:
            section = line.section
            out.heading(section)
        out.text(f"{number:>3}  {line.text}")
        out.text(f"     {_rest(line)}")


def _rest(line: PersonaLine) -> str:
    return _resting(line.cites, line.locked)


def _resting(cites: Sequence[str], locked: bool) -> str:
    """What a paragraph rests on, and whether a person keeps it."""
    told = [say("locked")] if locked else []
    return ", ".join((*told, *cites))


def text_versions(out: Out, found: Sequence[TextVersion]) -> None:
    """Versions of texts, newest first."""
    headings = said("version", "when", "who", "files", "characters", "why")
    rows = [
        (one.id, when(one.at), one.who, str(len(one.files)), str(one.characters), one.why)
        for one in found
    ]
    if rows or not out.terminal:
        out.table(headings, rows)
    else:
        out.text(say("no version"))


# -- searches and verdicts --------------------------------------------------------------------------


def hits(out: Out, found: Hits) -> None:
    """Memories, then messages, best first."""
    headings = said("id", "kind", "score", "found")
    rows = [(hit.id, _kind(hit), f"{hit.score:.3f}", _found(hit)) for hit in found]
    if rows or not out.terminal:
        out.table(headings, rows)
    else:
        out.text(say("nothing found"))


def entities(out: Out, found: Sequence[Entity]) -> None:
    """Named things, those of most memories first."""
    if not found and out.terminal:
        out.text(say("no memory names anything"))
        return
    rows = [
        (one.name, str(len(one.memories)), ", ".join(one.spellings), ", ".join(one.aliases))
        for one in found
    ]
    out.table(said("name", "memories", "written", "aliases"), rows)


def workspaces(out: Out, found: Sequence[Bound]) -> None:
    """The bound workspaces."""
    if not found and out.terminal:
        out.text(say("no workspace is bound"))
        return
    rows = [
        (
            one.key,
            one.name,
            one.root + ("" if one.there else f" ({say('not there')})"),
            str(one.memories),
            str(one.unreviewed),
        )
        for one in found
    ]
    out.table(said("key", "name", "folder", "memories", "unreviewed"), rows)


def review(out: Out, found: Review) -> None:
    """Memories to look at: whole, for that is what is trusted."""
    if not found.memories:
        out.text(say("nothing is left to look at"))
        return
    for one in found.memories:
        record(out, one)
        out.text("")
    out.text(say("to trust them as shown: --digest {digest}", digest=found.digest))


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


# -- consolidation ----------------------------------------------------------------------------------


def consolidated(out: Out, found: Consolidation) -> None:
    """What is planned or was done, scope by scope, and how to carry a plan out."""
    for run in found.runs:
        out.heading(f"{say(run.scope)}{f' {run.scope_ref}' if run.scope_ref else ''}")
        for made in run.merges:
            out.text(f"  {say('merge')}: {made.id}  {named(made.name, made.description)}")
            _made(out, made)
        for made in run.candidates:
            out.text(f"  {say('candidate')}: {made.id}  {named(made.name, made.description)}")
            _made(out, made)
        for why in run.refused:
            out.text(f"  {say('refused')}: {why}")
        if not (run.merges or run.candidates or run.problem):
            out.text(f"  {say('nothing to do')}")
    if found.digest:
        out.text(say("carry it out: memstrata consolidate --apply {digest}", digest=found.digest))


def _made(out: Out, made: Made) -> None:
    if made.body:
        out.text(_indented(made.body))
    for one in made.of:
        out.text(f"    < {one.id}  {named(one.name, one.description)}")


def consolidation_notes(found: Consolidation) -> Iterator[str]:
    """What failed, and what could not be done, a line each."""
    for run in found.runs:
        if run.problem:
            yield say(
                "consolidation of {scope} failed, nothing was changed: {why}",
                scope=say(run.scope),
                why=run.problem,
            )
    if any(run.note for run in found.runs):
        yield say(
            "no model is set: only memories that are the same word for word are merged, "
            "no rule is proposed"
        )


def candidates(out: Out, found: Sequence[Candidate]) -> None:
    """The general rules that wait, one a row."""
    headings = said("id", "scope", "sources", "candidate")
    rows = [
        (one.id, say(one.scope), str(len(one.sources)), named(one.name, one.description))
        for one in found
    ]
    if rows or not out.terminal:
        out.table(headings, rows)
    else:
        out.text(say("no candidate waits"))


def candidate(out: Out, one: Candidate) -> None:
    """A general rule: its fields, its body, what it was made of."""
    out.heading(one.name)
    rows = [
        ("id", one.id),
        ("description", one.description),
        ("scope", say(one.scope) + (f" {one.scope_ref}" if one.scope_ref else "")),
        ("proposed by", one.model),
        ("learned", when(one.created_at)),
        ("name taken by", one.taken_by),
        ("digest", one.digest),
        ("file", one.path),
    ]
    out.fields([(say(name), value) for name, value in rows])
    if one.body:
        out.text()
        out.text(one.body)
    out.text()
    out.text(say("made of {n} rules", n=len(one.sources)))
    for source in one.sources:
        out.text(f"  {source.id}  {named(source.name, source.description)}{_moved(source)}")


def _moved(source: SourceInfo) -> str:
    if source.status != "active":
        return f" ({say(source.status)})"
    return f" ({say('changed since')})" if source.changed else ""


def tool_reads(out: Out, page: Page[ToolRead]) -> None:
    """What agents read, newest first."""
    if not page.items and out.terminal:
        out.text(say("no read"))
        return
    headings = said("when", "tool", "caller", "agent", "session", "outcome", "ids")
    out.table(headings, [_tool_read(one) for one in page.items])


def _tool_read(one: ToolRead) -> tuple[str, ...]:
    who = (one.caller, one.agent or "-", one.session or "-")
    return when(one.at), one.tool, *who, one.outcome, " ".join(one.ids) or "-"


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
    if worked.merged or worked.proposed:
        counts = {"merged": worked.merged, "proposed": worked.proposed}
        out.text(say("consolidated: {merged} merged, {proposed} rules proposed", **counts))


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
        ("scenes", str(found.scenes) if found.scenes else ""),
        (
            "persona",
            say("{n} lines", n=found.persona) if found.persona else "",
        ),
        (
            "waiting",
            say("{n} messages (memstrata extract)", n=found.waiting) if found.waiting else "0",
        ),
        ("verdicts", _counts(found.verdicts)),
        ("workspaces", "; ".join(found.workspaces)),
        ("almost full", "; ".join(found.full)),
        ("set aside", "; ".join(found.parked)),
        ("tried again", "; ".join(found.retrying)),
        ("candidates", str(found.candidates) if found.candidates else ""),
        ("consolidated", "; ".join(found.consolidated)),
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


# -- conversations, tokens -------------------------------------------------------------


def sessions(out: Out, found: Sequence[SessionInfo]) -> None:
    """Conversations, one a row."""
    headings = said("session", "messages", "waiting")
    out.table(headings, [(one.id, str(one.messages), str(one.waiting)) for one in found])


def messages(out: Out, page: Page[Message]) -> None:
    """Messages, one a row."""
    headings = said("id", "said", "role", "message")
    rows = [(one.id, when(one.said_at), say(one.role), one.content) for one in page.items]
    out.table(headings, rows)


def tokens(out: Out, found: Sequence[Token]) -> None:
    """Tokens, one a row."""
    headings = said("id", "owner", "role", "made", "note")
    rows = [(one.id, one.owner, one.role, when(one.created_at), one.note) for one in found]
    out.table(headings, rows)


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
