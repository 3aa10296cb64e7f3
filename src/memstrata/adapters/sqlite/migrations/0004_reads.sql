-- What agents read through tools: who, where and which ids, never a text. ids is a JSON list, oldest
-- rows go as new ones come.
CREATE TABLE reads (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    realm INTEGER NOT NULL,
    at TEXT NOT NULL,
    caller TEXT NOT NULL,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    workspace TEXT NOT NULL,
    tool TEXT NOT NULL,
    outcome TEXT NOT NULL,
    ids TEXT NOT NULL
) STRICT;
CREATE INDEX read_realms ON reads (realm);
CREATE INDEX read_sessions ON reads (realm, session);
