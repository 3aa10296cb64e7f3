-- Offload sessions: an index of what lies in offload/. place is the order of the results.
CREATE TABLE offload_sessions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    realm INTEGER NOT NULL,
    workspace TEXT NOT NULL,
    session TEXT NOT NULL,
    folder TEXT NOT NULL,
    version INTEGER NOT NULL,
    at TEXT NOT NULL,
    marks TEXT NOT NULL,
    state TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX offload_names ON offload_sessions (realm, workspace, session);
CREATE INDEX offload_times ON offload_sessions (realm, at);

CREATE TABLE offload_entries (
    session INTEGER NOT NULL,
    place INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (session, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE offload_graphs (
    session INTEGER NOT NULL,
    file TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (session, file)
) STRICT, WITHOUT ROWID;
