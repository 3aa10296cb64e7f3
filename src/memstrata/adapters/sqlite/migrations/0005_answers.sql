-- What was answered under an idempotency key; body is the JSON of the answer, about the memory it tells of.
CREATE TABLE answers (
    realm INTEGER NOT NULL,
    key TEXT NOT NULL,
    at TEXT NOT NULL,
    digest TEXT NOT NULL,
    status INTEGER NOT NULL,
    tag TEXT NOT NULL,
    about TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (realm, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_times ON answers (at);
CREATE INDEX answer_memories ON answers (about);
