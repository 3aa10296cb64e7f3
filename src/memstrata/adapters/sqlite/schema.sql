-- Version 1 of the database. It is never edited after a release: a change is a numbered file in
-- migrations/, so that a new database and an old one take the same steps.
-- Instants are text of fixed width (2026-05-10T09:30:00.000000Z), days are YYYY-MM-DD.

-- A number for each (space, owner, scope, ref); what belongs to it never stores the four again.
-- Scopes: user, project, agent (memories), message (ref: the workspace), realm (ref: '').
-- last_seq is a high-water mark, so that (number, seq) is never used twice; texts counts the rows
-- that are in memory_text or message_text.
CREATE TABLE keys (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    space TEXT NOT NULL,
    owner TEXT NOT NULL,
    scope TEXT NOT NULL,
    ref TEXT NOT NULL,
    last_seq INTEGER NOT NULL DEFAULT 0,
    texts INTEGER NOT NULL DEFAULT 0,
    UNIQUE (space, owner, scope, ref)
) STRICT;

-- How many rows each text index holds.
CREATE TABLE text_counts (
    name TEXT PRIMARY KEY,
    rows INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO text_counts (name, rows) VALUES ('memory', 0), ('message', 0);
CREATE TRIGGER count_texts AFTER UPDATE OF texts ON keys BEGIN
    UPDATE text_counts SET rows = rows + new.texts - old.texts
    WHERE name = iif(new.scope = 'message', 'message', 'memory');
END;

-- row = key << 32 | seq: the rows of a key lie together, and the text index has the same rowids.
-- name is normalised; label is what a listing's text is looked for in; stat is "size mtime_ns inode";
-- text is the hash of the indexed text, null while the row is not in memory_text.
CREATE TABLE memories (
    row INTEGER PRIMARY KEY,
    key INTEGER NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    label TEXT NOT NULL,
    subject TEXT NOT NULL,
    slot TEXT NOT NULL,
    archived INTEGER NOT NULL,
    valid_from TEXT,
    valid_until TEXT,
    invalid_at TEXT,
    created_at TEXT NOT NULL,
    retired_at TEXT,
    superseded_by TEXT,
    root TEXT NOT NULL,
    path TEXT NOT NULL,
    digest TEXT NOT NULL,
    owner TEXT NOT NULL,
    stat TEXT,
    presence TEXT NOT NULL,
    since TEXT,
    problem TEXT NOT NULL,
    hits INTEGER NOT NULL,
    last_hit_at TEXT,
    text BLOB,
    data TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX memory_ids ON memories (key, id);
CREATE INDEX memory_names ON memories (key, name);
CREATE INDEX memory_slots ON memories (key, subject, slot);
CREATE INDEX memory_successors ON memories (key, superseded_by) WHERE superseded_by IS NOT NULL;

-- Terms are ours, salted with the key's number ("12xtea"): bm25 counts a term over the whole index,
-- and so it reads only this key's rows.
CREATE VIRTUAL TABLE memory_text USING fts5 (
    name, description, body,
    content = '', contentless_delete = 1, tokenize = "ascii tokenchars '._'"
);

-- Which rows quote which message. The space stands first, so that hosts that number their messages
-- from 1 do not meet each other here.
CREATE TABLE evidence (
    space TEXT NOT NULL,
    message TEXT NOT NULL,
    session TEXT NOT NULL,
    row INTEGER NOT NULL,
    PRIMARY KEY (space, message, session, row)
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_rows ON evidence (row);

-- position is the order of arrival; text is the rowid in message_text.
CREATE TABLE messages (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    text INTEGER NOT NULL UNIQUE,
    realm INTEGER NOT NULL,
    session TEXT NOT NULL,
    id TEXT NOT NULL,
    role TEXT NOT NULL,
    said_at TEXT,
    recorded_at TEXT NOT NULL,
    workspace TEXT NOT NULL,
    agent TEXT NOT NULL,
    name TEXT NOT NULL,
    call TEXT NOT NULL,
    skip TEXT NOT NULL,
    content TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX message_ids ON messages (realm, id, session);
CREATE INDEX message_sessions ON messages (realm, session);

CREATE VIRTUAL TABLE message_text USING fts5 (
    content,
    content = '', contentless_delete = 1, tokenize = "ascii tokenchars '._'"
);

CREATE TABLE cursors (
    realm INTEGER NOT NULL,
    session TEXT NOT NULL,
    position INTEGER NOT NULL,
    last TEXT NOT NULL,
    PRIMARY KEY (realm, session)
) STRICT, WITHOUT ROWID;

-- States: waiting, running, parked; a job that is done has no row. attempts counts failures; at_once
-- is for what the cadence may not hold back; holder and lease_until are of a running one.
CREATE TABLE jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    realm INTEGER NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due TEXT NOT NULL,
    problem TEXT NOT NULL DEFAULT '',
    at_once INTEGER NOT NULL DEFAULT 0,
    holder TEXT NOT NULL DEFAULT '',
    lease_until TEXT
) STRICT;
CREATE INDEX job_keys ON jobs (realm, kind, key);
CREATE UNIQUE INDEX job_waiting ON jobs (realm, kind, key) WHERE state = 'waiting';
CREATE INDEX job_due ON jobs (state, due);

CREATE TABLE verdicts (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    realm INTEGER NOT NULL,
    session TEXT NOT NULL,
    batch TEXT NOT NULL,
    at TEXT NOT NULL,
    verdict TEXT NOT NULL,
    gate TEXT NOT NULL,
    name TEXT NOT NULL,
    reason TEXT NOT NULL,
    memory TEXT NOT NULL,
    quote_of TEXT NOT NULL
) STRICT;
CREATE INDEX verdict_kinds ON verdicts (realm, verdict);
CREATE INDEX verdict_sessions ON verdicts (realm, session);

-- key is null for the line of a batch; digest is the data's own, lifted out for record_versions.
CREATE TABLE records (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    space TEXT NOT NULL,
    key INTEGER,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    tx TEXT NOT NULL,
    part INTEGER NOT NULL,
    parts INTEGER NOT NULL,
    at TEXT NOT NULL,
    digest TEXT NOT NULL,
    data TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX record_parts ON records (space, tx, part);
CREATE INDEX record_owners ON records (space, owner, at);
CREATE INDEX record_versions ON records (key, id, version, at, digest);

CREATE TABLE shards (
    log TEXT NOT NULL,
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    PRIMARY KEY (log, path)
) STRICT, WITHOUT ROWID;
