"""Files and index brought together: at start, after a lost race, by `reindex`. The files rule.

Logs first (what a killed process left without rows is carried out to the end; what a power cut took
is written again), then the memory folders, then MEMORY.md and the jobs. Run twice, the second run
finds nothing to do. No memory file is ever rewritten because a person changed it.

Others may write meanwhile: whatever is decided on is read, or looked at again, under the write lock.
"""

from __future__ import annotations

from memstrata.domain import checks, layout, tombstones
from memstrata.domain.layout import HOME, Place
from memstrata.domain.plan import EXTRACT
from memstrata.domain.scope import LOCAL_OWNER, Key, Realm
from memstrata.errors import Corrupt, Unavailable
from memstrata.pipelines import apply, bind, graves, redo, revisions, sessions
from memstrata.pipelines.apply import Target
from memstrata.pipelines.reconcile import (
    candidates,
    erasing,
    files,
    holdings,
    lines,
    messages,
    shards,
    texts,
)
from memstrata.pipelines.world import Fault, Problem, Report, World
from memstrata.ports import Damaged


def reconcile(
    world: World, *, rebuild: bool = False, progress: shards.Progress | None = None
) -> Report:
    """Bring index and files together; `rebuild` makes the whole index anew from the files.

    An index that cannot be read is a problem in the report; `rebuild` is its cure.

    Raises:
        Unavailable: disk or database said no; what was done so far stands.
    """
    report = Report()
    if rebuild:
        _begin_anew(world, report, progress)
    try:
        _bring_together(world, report, progress)
    except Damaged as error:
        if rebuild:
            raise
        report.problems.append(Fault(error.path, error.problem))
    _tell(world, report, rebuild)
    return report


def _begin_anew(world: World, report: Report, progress: shards.Progress | None) -> None:
    """Finish what was interrupted, then forget all that is derived; all there is where it is damaged."""
    try:
        for owner in world.owners():
            erasing.finish(world, owner, report)
            messages.conversations(world, owner, report, progress)
            lines.records_of(world, owner, report, progress)
            texts.bring_together(world, owner, Report())
        apply.begin_rebuilding(world)
        faults = world.store.check()
    except Damaged as error:
        faults = [error.message]
    report.actions.append("cleared the index")
    if faults:
        world.store.renew()
        report.actions.append(
            f"made the damaged database anew ({faults[0]}): hit counts, verdicts and what is known of "
            "jobs that failed were in it alone and are lost"
        )


def _bring_together(world: World, report: Report, progress: shards.Progress | None) -> None:
    rebuilding, owners = apply.rebuilding(world.store), world.owners()
    for owner in owners:
        _sweep(world, owner, report)
        _dig(world, owner, report)
        messages.conversations(world, owner, report, progress)
        lines.records_of(world, owner, report, progress)
    every = folders(world, report)
    for key, target in every:
        files.folder(world, key, target, report, progress, fresh=bool(rebuilding))
        if apply.write_index(world, key, target):
            report.actions.append(f"wrote {layout.memory_folder(key, target.root)}/{layout.INDEX}")
    for owner in owners:
        texts.bring_together(world, owner, report)
    if rebuilding:
        _remember_away(world, report)
        for owner in owners:
            redo.set_aside(world, Realm(world.space, owner))
            texts.queue(world, owner)
        apply.end_rebuilding(world, rebuilding)
    candidates.bring_together(world, [key for key, _ in every], report)
    revisions.bring_together(world, owners, report)
    sessions.bring_together(world, owners, report)
    for owner in owners:
        erasing.scrub_left(world, owner, report, fresh=bool(rebuilding))
    _jobs(world, report)
    _vectors(world)


def _tell(world: World, report: Report, rebuild: bool) -> None:
    if rebuild:
        world.bus.emit("index.rebuilt", problems=len(report.problems))
    elif report.actions:
        world.bus.emit("index.healed", actions=len(report.actions))
    for one in report.problems:
        world.bus.emit("file.unreadable", degraded=True, path=one.path, line=one.line)


def folders(world: World, report: Report) -> list[tuple[Key, Target]]:
    """Every memory folder: those on disk, those of bound workspaces, those the index knows.

    A workspace whose root is not there keeps its rows as they are.
    """
    found: dict[Key, Target] = {}
    for owner in world.owners():
        realm = Realm(world.space, owner)
        found[Key(realm, "user", "")] = Target(HOME, owner, "")
        agents = Place(HOME, f"{layout.owner_folder(owner)}memory/agent")
        for agent in filter(checks.is_ref, world.vault.folders(agents)):
            found[Key(realm, "agent", agent)] = Target(HOME, owner, agent)
    there, away = _bound(world, report)
    found |= there
    report.problems.extend(
        Problem(one.root, "the workspace is not there; its memories stay as they are")
        for one in away.values()
    )
    for key in world.store.keys(world.space):
        if key not in found and key.scope != "project":
            found[key] = Target(HOME, key.realm.owner, key.ref)
    return list(found.items())


def _bound(world: World, report: Report) -> tuple[dict[Key, Target], dict[Key, Target]]:
    """The bound workspaces whose root is there, and the others."""
    there: dict[Key, Target] = {}
    away: dict[Key, Target] = {}
    try:
        workspaces = bind.bound(world).values()
    except Corrupt as error:
        report.problems.append(Problem(error.path, error.problem))
        return there, away
    for one in workspaces:
        found = there if bind.is_there(world, one.root) else away
        found[Key(Realm(world.space, ""), "project", one.key)] = Target(
            one.root, LOCAL_OWNER, one.id
        )
    return there, away


def _sweep(world: World, owner: str, report: Report) -> None:
    prefix = layout.owner_folder(owner)
    places = [Place(HOME, f"{prefix}memory/user"), Place(HOME, prefix.rstrip("/"))]
    places.append(layout.kept_plan(owner, "none").folder)
    places += [layout.log_folder(owner, log) for log in holdings.LOGS]
    agents = Place(HOME, f"{prefix}memory/agent")
    places += [agents.within(name) for name in world.vault.folders(agents)]
    swept = sum(world.vault.sweep(place) for place in places)
    if swept:
        report.actions.append(f"removed {swept} temporary files that a killed process left")


def _dig(world: World, owner: str, report: Report) -> None:
    """Before anything is read: what was forgotten is carried out, and what its tombstones cannot stop is said."""
    place = tombstones.log(owner)
    if graves.size(world, owner) < world.store.shards(graves.CARRIED).get(place.path, 0):
        told = "is gone, or shorter than it was: what it named may come back"
        report.problems.append(Problem(str(place), told))
    erasing.finish(world, owner, report)
    lost = graves.unreadable(world, owner)
    if lost:
        report.problems.append(
            Problem(
                str(place),
                f"{lost} lines cannot be read, or {tombstones.SECRET} is not the one that made them: "
                "what they name may come back",
            )
        )


def _remember_away(world: World, report: Report) -> None:
    """Rows of the workspaces that are not there, as they were recorded."""
    for key, target in _bound(world, Report())[1].items():
        unborn = files.without_rows(world, key, target, files.rows_of(world, key), report)
        files.take_over(world, key, [files.Found(row, None) for row in unborn.values()], report)


def _vectors(world: World) -> None:
    """Every shelf that lacks vectors has a job."""
    if world.sight is None:
        return
    try:
        missing = world.sight.missing(world.store, world.space, world.moment())
    except Unavailable as error:
        world.bus.emit("vectors.unavailable", degraded=True, problem=error.code)
    else:
        apply.queue_vectors(world, missing)


def _jobs(world: World, report: Report) -> None:
    """Every session with messages left has a job."""
    for owner in world.owners():
        realm = Realm(world.space, owner)
        jobs = world.store.jobs(realm, ("waiting", "running", "parked"))
        known = {job.key for job in jobs if job.kind == EXTRACT}
        left = [
            name for name, _, behind in world.store.sessions(realm) if behind and name not in known
        ]
        if not left:
            continue
        with world.store.transaction() as tx:
            for session in left:
                tx.enqueue(realm, EXTRACT, session, world.clock.now())
        report.actions.append(f"queued {len(left)} sessions for extraction")
