-- Every statement the store runs: a name, one sentence, the SQL. Lists come as JSON texts.

-- name: key_number
-- The number of a key, if it has one.
SELECT number FROM keys
WHERE space = :space AND owner = :owner AND scope = :scope AND ref = :ref;

-- name: add_key
-- Give a key its number.
INSERT INTO keys (space, owner, scope, ref) VALUES (:space, :owner, :scope, :ref) RETURNING number;

-- name: memory_keys
-- Every key of a space that memories may belong to.
SELECT owner, scope, ref FROM keys
WHERE space = :space AND scope IN ('user', 'project', 'agent')
ORDER BY owner, scope, ref;

-- name: next_seqs
-- Take the next :count sequence numbers of a key; gives the last of them.
UPDATE keys SET last_seq = last_seq + :count WHERE number = :number RETURNING last_seq;

-- name: count_texts
-- Note that :count more rows of a key are in the text index.
UPDATE keys SET texts = texts + :count WHERE number = :number;

-- name: memory
-- The row with that id under one key.
SELECT data, root, path, digest, owner, stat, presence, since, problem, hits, last_hit_at
FROM memories
WHERE key = :key AND id = :id;

-- name: memories
-- One key's rows that pass a listing, by id, behind the id :after.
SELECT data, root, path, digest, owner, stat, presence, since, problem, hits, last_hit_at
FROM memories
WHERE key = :key AND id > :after
    AND (:presences = '[]' OR presence IN (SELECT value FROM json_each(:presences)))
    AND (:types = '[]' OR type IN (SELECT value FROM json_each(:types)))
    AND (:text = '' OR instr(label, :text) > 0)
    AND (:statuses = '[]' OR CASE
            WHEN archived THEN 'archived'
            WHEN invalid_at <= :now THEN 'invalid'
            WHEN valid_until < :today THEN 'expired'
            ELSE 'active'
        END IN (SELECT value FROM json_each(:statuses)))
ORDER BY id
LIMIT :limit;

-- name: memories_newest
-- One key's rows that pass a listing, by id, newest first, before the id :after ('' for all).
SELECT data, root, path, digest, owner, stat, presence, since, problem, hits, last_hit_at
FROM memories
WHERE key = :key AND (:after = '' OR id < :after)
    AND (:presences = '[]' OR presence IN (SELECT value FROM json_each(:presences)))
    AND (:types = '[]' OR type IN (SELECT value FROM json_each(:types)))
    AND (:text = '' OR instr(label, :text) > 0)
    AND (:statuses = '[]' OR CASE
            WHEN archived THEN 'archived'
            WHEN invalid_at <= :now THEN 'invalid'
            WHEN valid_until < :today THEN 'expired'
            ELSE 'active'
        END IN (SELECT value FROM json_each(:statuses)))
ORDER BY id DESC
LIMIT :limit;

-- name: foremost
-- A key's active rows of some types that matter most: standing rules, then type by type.
WITH ranked AS (
    SELECT m.row AS row, data ->> 'priority' = :rule AS rule, t.key AS place,
        iif(m.type = 'feedback', 0, data ->> 'priority') AS priority,
        data ->> 'updated_at' AS updated_at, m.id AS id
    FROM memories m JOIN json_each(:types) t ON t.value = m.type
    WHERE m.key = :key AND NOT archived AND presence <> 'absent'
        AND (invalid_at IS NULL OR invalid_at > :now)
        AND (valid_until IS NULL OR valid_until >= :today)
    ORDER BY rule DESC, place, priority DESC, updated_at DESC, id
    LIMIT :limit
)
SELECT data, root, path, digest, owner, stat, presence, since, problem, hits, last_hit_at
FROM ranked JOIN memories m ON m.row = ranked.row
ORDER BY rule DESC, place, priority DESC, updated_at DESC, ranked.id;

-- name: files
-- The file of each row of a key, what the index knows of it, and its presence.
SELECT path, stat, presence FROM memories WHERE key = :key;

-- name: named
-- A key's rows of one normalised name that still claim it.
SELECT data, root, path, digest, owner, stat, presence, since, problem, hits, last_hit_at
FROM memories
WHERE key = :key AND name = :name
    AND NOT archived AND invalid_at IS NULL AND presence <> 'absent'
ORDER BY +id; -- the plus keeps the planner off the index by id, which is the whole key

-- name: slot
-- A key's rows about one subject and slot, ended ones too.
SELECT data, root, path, digest, owner, stat, presence, since, problem, hits, last_hit_at
FROM memories
WHERE key = :key AND subject = :subject AND slot = :slot
    AND NOT archived AND presence <> 'absent'
ORDER BY +id; -- the plus keeps the planner off the index by id, which is the whole key

-- name: superseded
-- A key's rows that a memory superseded.
SELECT data, root, path, digest, owner, stat, presence, since, problem, hits, last_hit_at
FROM memories
WHERE key = :key AND superseded_by = :id
ORDER BY +id; -- the plus keeps the planner off the index by id, which is the whole key

-- name: counts
-- How many rows of one key have each type and status.
SELECT type,
    CASE
        WHEN archived THEN 'archived'
        WHEN invalid_at <= :now THEN 'invalid'
        WHEN valid_until < :today THEN 'expired'
        ELSE 'active'
    END AS status,
    count(*)
FROM memories
WHERE key = :key AND presence <> 'absent'
GROUP BY type, status;

-- name: text_rows
-- How many rows of some keys are in the text index.
SELECT sum(texts) FROM keys WHERE number IN (SELECT value FROM json_each(:numbers));

-- name: all_text_rows
-- How many rows a text index holds.
SELECT rows FROM text_counts WHERE name = :name;

-- name: count_memory_phrases
-- In how many memories each phrase is, by its place in the list.
SELECT p.key, count(*)
FROM json_each(:matches) p CROSS JOIN memory_text ON memory_text MATCH p.value
GROUP BY p.key;

-- name: count_message_phrases
-- In how many messages each phrase is, by its place in the list.
SELECT p.key, count(*)
FROM json_each(:matches) p CROSS JOIN message_text ON message_text MATCH p.value
GROUP BY p.key;

-- name: search_memories
-- The best hits of weighed phrases that pass type and validity; no end is known before retired_at.
WITH part AS (
    SELECT memory_text.rowid AS row,
        bm25(memory_text, 2.0, 2.0, 1.0) * (p.value ->> 1) AS cost
    FROM json_each(:phrases) p CROSS JOIN memory_text ON memory_text MATCH (p.value ->> 0)
    LIMIT -1 -- keeps bm25 out of the sum, where FTS5 cannot compute it
),
total AS (SELECT row, sum(cost) AS cost FROM part GROUP BY row LIMIT -1),
hit AS (
    SELECT m.row AS row, cost
    FROM total CROSS JOIN memories m ON m.row = total.row
    WHERE (:types = '[]' OR m.type IN (SELECT value FROM json_each(:types)))
        AND (:known_at IS NULL OR m.created_at <= :known_at)
        AND (:every OR (
            (m.invalid_at IS NULL OR m.invalid_at > :at
                OR coalesce(m.retired_at, m.created_at) > :known_at)
            AND (m.valid_until IS NULL OR m.valid_until >= :day)
            AND (:as_of IS NULL OR m.valid_from IS NULL OR m.valid_from <= :as_of)))
    ORDER BY cost, m.row
    LIMIT :limit
)
SELECT m.key, hit.cost,
    data, root, path, digest, owner, stat, presence, since, problem, hits, last_hit_at
FROM hit JOIN memories m ON m.row = hit.row
ORDER BY hit.cost, hit.row;

-- name: valid_memories
-- Those of some memories that pass type and validity, as `search_memories` has them.
SELECT m.key, m.data, m.root, m.path, m.digest, m.owner, m.stat, m.presence, m.since, m.problem,
    m.hits, m.last_hit_at
FROM json_each(:keys) k CROSS JOIN json_each(:ids) wanted
    CROSS JOIN memories m ON m.key = k.value AND m.id = wanted.value
WHERE m.text IS NOT NULL
    AND (:types = '[]' OR m.type IN (SELECT value FROM json_each(:types)))
    AND (:known_at IS NULL OR m.created_at <= :known_at)
    AND (:every OR (
        (m.invalid_at IS NULL OR m.invalid_at > :at
            OR coalesce(m.retired_at, m.created_at) > :known_at)
        AND (m.valid_until IS NULL OR m.valid_until >= :day)
        AND (:as_of IS NULL OR m.valid_from IS NULL OR m.valid_from <= :as_of)));

-- name: search_messages
-- The best hits of weighed phrases in a session and of some roles.
WITH part AS (
    SELECT message_text.rowid AS row, bm25(message_text) * (p.value ->> 1) AS cost
    FROM json_each(:phrases) p CROSS JOIN message_text ON message_text MATCH (p.value ->> 0)
    LIMIT -1 -- keeps bm25 out of the sum, where FTS5 cannot compute it
),
total AS (SELECT row, sum(cost) AS cost FROM part GROUP BY row LIMIT -1),
hit AS (
    SELECT m.position AS position, cost
    FROM total CROSS JOIN messages m ON m.text = total.row
    WHERE (:session IS NULL OR m.session = :session)
        AND (:roles = '[]' OR m.role IN (SELECT value FROM json_each(:roles)))
    ORDER BY cost, m.position
    LIMIT :limit
)
SELECT hit.cost, m.text, m.id, session, role, content, said_at, recorded_at, workspace, agent, name, call, skip,
    model
FROM hit JOIN messages m ON m.position = hit.position
ORDER BY hit.cost, hit.position;

-- name: session_workspaces
-- The workspaces in which a session said something.
SELECT DISTINCT workspace FROM messages WHERE realm = :realm AND session = :session;

-- name: message
-- A realm's messages of one id, in any session or in one.
SELECT position, id, session, role, content, said_at, recorded_at, workspace, agent, name, call, skip,
    model
FROM messages
WHERE realm = :realm AND id = :id AND (:session IS NULL OR session = :session)
ORDER BY position;

-- name: outline
-- What ranking knows of a key's messages behind a row, but what is said in them.
SELECT m.text, m.session, coalesce(substr(m.said_at, 1, 10), ''), m.role, m.name,
    instr(m.content, '?') OR instr(m.content, '？'), d.sz
FROM messages m JOIN message_text_docsize d ON d.id = m.text
WHERE m.text > max(:after, :number << 32) AND m.text <= (:number << 32 | 0xFFFFFFFF)
ORDER BY m.text;

-- name: message_spots
-- Where a term stands, or every term up to another: the row of the message, once an occurrence.
SELECT doc FROM message_spots WHERE term >= :term AND term <= :until;

-- name: message_rows
-- The rows of some messages of a realm, by session and id.
SELECT m.text, m.session, m.id
FROM json_each(:ids) wanted CROSS JOIN messages m
    ON m.realm = :realm AND m.session = (wanted.value ->> 0) AND m.id = (wanted.value ->> 1);

-- name: said_at
-- Whose the messages of some rows are, and who spoke.
SELECT m.text, m.session, m.id, m.role
FROM json_each(:rows) wanted CROSS JOIN messages m ON m.text = wanted.value;

-- name: messages_at
-- The messages of some rows.
SELECT m.text, m.id, m.session, m.role, m.content, m.said_at, m.recorded_at, m.workspace, m.agent,
    m.name, m.call, m.skip, m.model
FROM json_each(:rows) wanted CROSS JOIN messages m ON m.text = wanted.value;

-- name: shelves
-- Every shelf of messages of a space, how many are on it and the number of the last.
SELECT owner, ref, texts, last_seq FROM keys WHERE space = :space AND scope = 'message'
ORDER BY number;

-- name: shelf
-- The messages of a shelf behind a number on it.
SELECT text & 0xFFFFFFFF, id, session, role, content, said_at, recorded_at, workspace, agent, name,
    call, skip, model
FROM messages
WHERE text > (:number << 32 | :after) AND text <= (:number << 32 | 0xFFFFFFFF)
ORDER BY text
LIMIT :limit;

-- name: messages
-- A session's messages behind a position.
SELECT position, id, session, role, content, said_at, recorded_at, workspace, agent, name, call, skip,
    model
FROM messages
WHERE realm = :realm AND session = :session AND position > :after
ORDER BY position
LIMIT :limit;

-- name: messages_before
-- A session's last messages up to a position, newest first.
SELECT position, id, session, role, content, said_at, recorded_at, workspace, agent, name, call, skip,
    model
FROM messages
WHERE realm = :realm AND session = :session AND position <= :position
ORDER BY position DESC
LIMIT :limit;

-- name: known_messages
-- Those of some ids that a session holds.
SELECT position, m.id, session, role, content, said_at, recorded_at, workspace, agent, name, call, skip,
    model
FROM json_each(:ids) wanted CROSS JOIN messages m
    ON m.realm = :realm AND m.id = wanted.value AND m.session = :session;

-- name: known_ids
-- The ids of those of some messages that a session holds.
SELECT m.id
FROM json_each(:ids) wanted CROSS JOIN messages m
    ON m.realm = :realm AND m.id = wanted.value AND m.session = :session;

-- name: cursor
-- How far a session has been extracted.
SELECT position, last FROM cursors WHERE realm = :realm AND session = :session;

-- name: sessions
-- A realm's sessions with their messages and those behind the cursor, in order of first arrival.
SELECT m.session, count(*), sum(m.position > coalesce(c.position, 0))
FROM messages m LEFT JOIN cursors c ON c.realm = m.realm AND c.session = m.session
WHERE m.realm = :realm
GROUP BY m.session
ORDER BY min(m.position);

-- name: derived
-- The memories that quote a message; evidence without a session names the message by its id alone.
SELECT DISTINCT k.owner, k.scope, k.ref, m.id
FROM evidence e JOIN memories m ON m.row = e.row JOIN keys k ON k.number = m.key
WHERE e.space = :space AND e.message = :message AND e.session IN (:session, '')
    AND (k.owner = :owner OR k.scope = 'project')
ORDER BY k.owner, k.scope, k.ref, m.id;

-- name: backlog
-- Turns of a session before the cursor, those that ended behind it, and when it was last heard of.
SELECT
    (SELECT count(*) FROM (
        SELECT 1 FROM messages
        WHERE realm = :realm AND session = :session AND position <= :cursor AND role = 'user'
        LIMIT :most)),
    (SELECT count(*) FROM messages
        WHERE realm = :realm AND session = :session AND position > :cursor AND role = 'user'
            AND position < (SELECT max(position) FROM messages
                WHERE realm = :realm AND session = :session AND position > :cursor
                    AND role = 'assistant')),
    (SELECT max(recorded_at) FROM messages
        WHERE realm = :realm AND session = :session AND position > :cursor);

-- name: jobs
-- Jobs of one realm or of all in some states, earliest due first.
SELECT j.number, k.space, k.owner, kind, key, state, attempts, due, problem, at_once, holder, lease_until
FROM jobs j JOIN keys k ON k.number = j.realm
WHERE state IN (SELECT value FROM json_each(:states)) AND (:realm IS NULL OR j.realm = :realm)
ORDER BY due, j.number;

-- name: waits
-- Whether there is a job of a kind and key.
SELECT 1 FROM jobs WHERE realm = :realm AND kind = :kind AND key = :key LIMIT 1;

-- name: verdicts
-- A realm's verdicts, newest first.
SELECT number, session, batch, at, verdict, gate, name, reason, memory, quote_of
FROM verdicts
WHERE realm = :realm
    AND (:session IS NULL OR session = :session)
    AND (:verdict IS NULL OR verdict = :verdict)
    AND (:after = 0 OR number < :after)
ORDER BY number DESC
LIMIT :limit;

-- name: answered
-- What was answered under an idempotency key of a realm since :since.
SELECT digest, status, tag, body, about FROM answers
WHERE realm = :realm AND key = :key AND at >= :since;

-- name: answers
-- Every answer that is kept for a realm.
SELECT key, body FROM answers WHERE realm = :realm AND status <> 410 ORDER BY key;

-- name: verdict_counts
-- How many of each verdict a realm has.
SELECT verdict, count(*) FROM verdicts WHERE realm = :realm GROUP BY verdict ORDER BY verdict;

-- name: reads
-- What agents read of a realm, newest first.
SELECT number, at, caller, agent, session, workspace, tool, outcome, ids
FROM reads
WHERE realm = :realm AND number < :below
ORDER BY number DESC
LIMIT :limit;

-- name: reads_of_session
-- What agents read of a realm in one session, newest first.
SELECT number, at, caller, agent, session, workspace, tool, outcome, ids
FROM reads
WHERE realm = :realm AND session = :session AND number < :below
ORDER BY number DESC
LIMIT :limit;

-- name: records
-- The record lines of one memory under some keys, oldest first.
SELECT owner, kind, id, version, tx, part, parts, at, data
FROM records
WHERE key IN (SELECT value FROM json_each(:keys)) AND id = :id
ORDER BY at, version, number;

-- name: record_lines
-- Every record line of an owner, oldest first.
SELECT owner, kind, id, version, tx, part, parts, at, data
FROM records
WHERE space = :space AND owner = :owner
ORDER BY at, number;

-- name: batches
-- The record lines of a session's batches, oldest first.
SELECT owner, kind, id, version, tx, part, parts, at, data
FROM records
WHERE key IS NULL AND id = :session AND space = :space AND owner = :owner AND kind = 'batch'
ORDER BY at, number;

-- name: record_versions
-- The newest recorded version of each memory of a key, and its digest.
SELECT id, version, digest
FROM (
    SELECT id, version, digest,
        row_number() OVER (PARTITION BY id ORDER BY version DESC, at DESC, number DESC) AS place
    FROM records
    WHERE key = :key
)
WHERE place = 1
ORDER BY id;

-- name: shards
-- How many bytes of each shard of a log are indexed.
SELECT path, size FROM shards WHERE log = :log ORDER BY path;

-- name: totals
-- Row counts of a space; texts are counted in the index itself.
SELECT
    (SELECT count(*) FROM keys k JOIN memories m ON m.key = k.number WHERE k.space = :space),
    (SELECT count(*) FROM keys k JOIN messages m ON m.realm = k.number
        WHERE k.space = :space AND k.scope = 'realm'),
    (SELECT count(*) FROM keys k JOIN memory_text_docsize t
        ON t.id BETWEEN k.number << 32 AND k.number << 32 | 0xFFFFFFFF
        WHERE k.space = :space AND k.scope IN ('user', 'project', 'agent')),
    (SELECT count(*) FROM keys k JOIN message_text_docsize t
        ON t.id BETWEEN k.number << 32 AND k.number << 32 | 0xFFFFFFFF
        WHERE k.space = :space AND k.scope = 'message'),
    (SELECT count(*) FROM records WHERE space = :space),
    (SELECT count(*) FROM keys k JOIN jobs j ON j.realm = k.number
        WHERE k.space = :space AND k.scope = 'realm');

-- name: memory_row
-- Where a memory stands and the hash of its indexed text.
SELECT row, text FROM memories WHERE key = :key AND id = :id;

-- name: put_memory
-- Insert a memory's row or replace all of it but the hits.
INSERT INTO memories (
    row, key, id, type, name, label, subject, slot, archived, valid_from, valid_until, invalid_at,
    created_at, retired_at, superseded_by, root, path, digest, owner, stat, presence, since,
    problem, hits, last_hit_at, text, data
) VALUES (
    :row, :key, :id, :type, :name, :label, :subject, :slot, :archived, :valid_from, :valid_until,
    :invalid_at, :created_at, :retired_at, :superseded_by, :root, :path, :digest, :owner, :stat,
    :presence, :since, :problem, :hits, :last_hit_at, :text, :data
)
ON CONFLICT (row) DO UPDATE SET
    type = excluded.type, name = excluded.name, label = excluded.label, subject = excluded.subject,
    slot = excluded.slot, archived = excluded.archived, valid_from = excluded.valid_from,
    valid_until = excluded.valid_until, invalid_at = excluded.invalid_at,
    created_at = excluded.created_at, retired_at = excluded.retired_at,
    superseded_by = excluded.superseded_by, root = excluded.root,
    path = excluded.path, digest = excluded.digest, owner = excluded.owner, stat = excluded.stat,
    presence = excluded.presence, since = excluded.since, problem = excluded.problem,
    text = excluded.text, data = excluded.data;

-- name: drop_memory
-- Remove a memory's row.
DELETE FROM memories WHERE row = :row;

-- name: add_memory_text
-- Index a memory's salted terms.
INSERT INTO memory_text (rowid, name, description, body)
VALUES (:row, :name, :description, :body);

-- name: drop_memory_text
-- Take a memory out of the text index.
DELETE FROM memory_text WHERE rowid = :row;

-- name: add_evidence
-- Link a row to a message that it quotes.
INSERT INTO evidence (space, message, session, row)
VALUES (:space, :message, :session, :row)
ON CONFLICT DO NOTHING;

-- name: drop_evidence
-- Unlink a row from the messages that it quotes.
DELETE FROM evidence WHERE row = :row;

-- name: add_message
-- Insert a message.
INSERT INTO messages (
    text, realm, session, id, role, said_at, recorded_at, workspace, agent, name, call, skip, model,
    content
) VALUES (
    :text, :realm, :session, :id, :role, :said_at, :recorded_at, :workspace, :agent, :name, :call,
    :skip, :model, :content
);

-- name: add_message_text
-- Index a message's salted terms.
INSERT INTO message_text (rowid, content) VALUES (:text, :terms);

-- name: drop_message_text
-- Take a message out of the text index.
DELETE FROM message_text WHERE rowid = :text;

-- name: drop_messages
-- Remove some messages of a realm, by session and id; gives their rows in the text index.
DELETE FROM messages
WHERE position IN (
    SELECT m.position FROM json_each(:ids) wanted CROSS JOIN messages m
        ON m.realm = :realm AND m.session = (wanted.value ->> 0) AND m.id = (wanted.value ->> 1))
RETURNING text;

-- name: drop_empty_cursors
-- Remove the cursors of sessions that have no messages.
DELETE FROM cursors
WHERE realm = :realm AND NOT EXISTS (
    SELECT 1 FROM messages m WHERE m.realm = :realm AND m.session = cursors.session);

-- name: replace_record
-- Put a line that is no memory's in the place of another.
UPDATE records SET key = NULL, kind = :kind, id = :id, version = :version, digest = :digest, data = :data
WHERE space = :space AND tx = :tx AND part = :part;

-- name: drop_record
-- Remove a record line.
DELETE FROM records WHERE space = :space AND tx = :tx AND part = :part;

-- name: drop_verdict
-- Remove a verdict of a realm.
DELETE FROM verdicts WHERE realm = :realm AND number = :number;

-- name: drop_read
-- Remove a call of an agent of a realm.
DELETE FROM reads WHERE realm = :realm AND number = :number;

-- name: drop_answer
-- Leave nothing of the answer to an idempotency key of a realm but that it is gone (410).
UPDATE answers SET digest = '', status = 410, tag = '', body = '', about = ''
WHERE realm = :realm AND key = :key;

-- name: session_jobs
-- A realm's jobs on sessions, with the session: the key of `extract`, what stands behind the blank of `redo`.
SELECT number, problem, iif(kind = 'redo', substr(key, instr(key, ' ') + 1), key) AS session,
    EXISTS (SELECT 1 FROM messages m WHERE m.realm = :realm
        AND m.session = iif(kind = 'redo', substr(key, instr(key, ' ') + 1), key))
FROM jobs
WHERE realm = :realm AND kind IN ('extract', 'redo')
    AND session IN (SELECT value FROM json_each(:sessions));

-- name: hush_job
-- Forget what problem a job had.
UPDATE jobs SET problem = '' WHERE number = :number;

-- name: set_cursor
-- Set how far a session has been extracted.
INSERT INTO cursors (realm, session, position, last)
VALUES (:realm, :session, :position, :last)
ON CONFLICT (realm, session) DO UPDATE SET position = excluded.position, last = excluded.last;

-- name: add_record
-- Index a record line that is not there yet.
INSERT INTO records (
    space, key, owner, kind, id, version, tx, part, parts, at, digest, data
) VALUES (
    :space, :key, :owner, :kind, :id, :version, :tx, :part, :parts, :at, :digest, :data
)
ON CONFLICT (space, tx, part) DO NOTHING;

-- name: add_verdict
-- Append a verdict.
INSERT INTO verdicts (
    realm, session, batch, at, verdict, gate, name, reason, memory, quote_of
) VALUES (
    :realm, :session, :batch, :at, :verdict, :gate, :name, :reason, :memory, :quote_of
);

-- name: add_read
-- Append what an agent read.
INSERT INTO reads (realm, at, caller, agent, session, workspace, tool, outcome, ids)
VALUES (:realm, :at, :caller, :agent, :session, :workspace, :tool, :outcome, :ids);

-- name: trim_reads
-- Drop all of a realm's but the newest.
DELETE FROM reads WHERE realm = :realm AND number <= (
    SELECT number FROM reads WHERE realm = :realm ORDER BY number DESC LIMIT 1 OFFSET :most);

-- name: expire_reads
-- Drop a realm's old ones, a few at a time: as many come as go.
DELETE FROM reads WHERE at < :before AND number IN (
    SELECT number FROM reads WHERE realm = :realm ORDER BY number LIMIT 100);

-- name: keep_answer
-- Keep an answer, in the place of an older one.
INSERT OR REPLACE INTO answers (realm, key, at, digest, status, tag, body, about)
VALUES (:realm, :key, :at, :digest, :status, :tag, :body, :about);

-- name: forget_answers
-- Forget the answers that are too old to be given again.
DELETE FROM answers WHERE at < :since;

-- name: forget_answers_about
-- Leave nothing of the answers that tell of a memory which is gone but that they are (410).
UPDATE answers SET digest = '', status = 410, tag = '', body = '', about = '' WHERE about = :id;

-- name: enqueue
-- Add a waiting job, or let the one that waits serve for it; a parked one waits for its command.
INSERT INTO jobs (realm, kind, key, state, due, at_once)
SELECT :realm, :kind, :key, 'waiting', :due, :at_once
WHERE NOT EXISTS (
    SELECT 1 FROM jobs WHERE realm = :realm AND kind = :kind AND key = :key AND state = 'parked')
ON CONFLICT (realm, kind, key) WHERE state = 'waiting' DO UPDATE SET
    due = iif(attempts, due, min(due, excluded.due)), at_once = max(at_once, excluded.at_once);

-- name: lease_job
-- Start the job that is due first; one that never failed need not be due when :every or at once.
UPDATE jobs SET state = 'running', holder = :holder, lease_until = :until
WHERE number = (
    SELECT number FROM jobs j
    WHERE (state = 'waiting' AND (due <= :now OR attempts = 0 AND (:every OR at_once))
            OR state = 'running' AND lease_until <= :now)
        AND kind IN (SELECT value FROM json_each(:kinds))
        AND number NOT IN (SELECT value FROM json_each(:but))
        AND NOT EXISTS (
            SELECT 1 FROM jobs o
            WHERE o.realm = j.realm AND o.kind = j.kind AND o.key = j.key
                AND o.number <> j.number AND o.state = 'running')
    ORDER BY due, number
    LIMIT 1
)
RETURNING number;

-- name: job
-- One job.
SELECT j.number, k.space, k.owner, kind, key, state, attempts, due, problem, at_once, holder, lease_until
FROM jobs j JOIN keys k ON k.number = j.realm
WHERE j.number = :number;

-- name: running_jobs
-- Every job that runs.
SELECT number FROM jobs WHERE state = 'running' ORDER BY number;

-- name: failed_jobs
-- A realm's jobs that are parked or failed before.
SELECT number FROM jobs
WHERE realm = :realm AND (state = 'parked' OR state = 'waiting' AND attempts > 0)
ORDER BY number;

-- name: absorb_waiting
-- Remove the other job that waits for the same; gives its due time and whether it is at once.
DELETE FROM jobs
WHERE number <> :number AND state = 'waiting'
    AND (realm, kind, key) = (SELECT realm, kind, key FROM jobs WHERE number = :number)
RETURNING due, at_once;

-- name: set_job
-- Set a job's state and what belongs to it; it runs no longer, and with a problem its time rules.
UPDATE jobs
SET state = :state, due = coalesce(:due, due), problem = :problem, attempts = attempts + :failed,
    at_once = max(iif(:problem = '', at_once, 0), :at_once), holder = '', lease_until = NULL
WHERE number = :number;

-- name: forgive_job
-- Forget that a job ever failed.
UPDATE jobs SET attempts = 0 WHERE number = :number;

-- name: forgive_jobs
-- Forget that the jobs of a kind and key ever failed, and why.
UPDATE jobs SET attempts = 0, problem = '' WHERE realm = :realm AND kind = :kind AND key = :key;

-- name: set_aside
-- Add a parked job unless there is one for the same.
INSERT INTO jobs (realm, kind, key, state, due, problem)
SELECT :realm, :kind, :key, 'parked', :due, :problem
WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE realm = :realm AND kind = :kind AND key = :key);

-- name: drop_jobs
-- Remove the jobs of a kind and key.
DELETE FROM jobs WHERE realm = :realm AND kind = :kind AND key = :key RETURNING number;

-- name: hasten_jobs
-- Whatever waits and never failed is at once, but for some kinds.
UPDATE jobs SET at_once = 1
WHERE state = 'waiting' AND attempts = 0 AND at_once = 0
    AND kind NOT IN (SELECT value FROM json_each(:but));

-- name: drop_job
-- Remove a job.
DELETE FROM jobs WHERE number = :number;

-- name: touch
-- Add a hit to some memories.
UPDATE memories
SET hits = hits + 1, last_hit_at = max(coalesce(last_hit_at, ''), :at)
WHERE key = :key AND id IN (SELECT value FROM json_each(:ids));

-- name: set_shard
-- Remember how many bytes of a shard are indexed.
INSERT INTO shards (log, path, size) VALUES (:log, :path, :size)
ON CONFLICT (log, path) DO UPDATE SET size = excluded.size;

-- name: clear_memory_text
-- Empty the memories' text index, whatever is wrong with it.
INSERT INTO memory_text (memory_text) VALUES ('delete-all');

-- name: other_memory_texts
-- What the text index holds of the memories of all other spaces.
SELECT m.row, m.data ->> 'name', coalesce(m.data ->> 'description', ''), coalesce(m.data ->> 'body', '')
FROM keys k JOIN memories m ON m.key = k.number
WHERE k.space <> :space AND m.text IS NOT NULL;

-- name: clear_evidence
-- Remove a space's links.
DELETE FROM evidence WHERE space = :space;

-- name: clear_memories
-- Remove a space's memories.
DELETE FROM memories WHERE key IN (SELECT number FROM keys WHERE space = :space);

-- name: clear_message_text
-- Empty the messages' text index, whatever is wrong with it.
INSERT INTO message_text (message_text) VALUES ('delete-all');

-- name: other_messages
-- The messages of all other spaces.
SELECT text, id, session, role, content, said_at, recorded_at, workspace, agent, name, call, skip,
    model
FROM keys k JOIN messages m ON m.realm = k.number
WHERE k.space <> :space;

-- name: clear_messages
-- Remove a space's messages.
DELETE FROM messages WHERE realm IN (SELECT number FROM keys WHERE space = :space);

-- name: clear_text_counts
-- Note that nothing of a space is in a text index.
UPDATE keys SET texts = 0 WHERE space = :space;

-- name: clear_cursors
-- Remove a space's cursors.
DELETE FROM cursors WHERE realm IN (SELECT number FROM keys WHERE space = :space);

-- name: clear_records
-- Remove a space's record lines.
DELETE FROM records WHERE space = :space;

-- name: forget_numbers
-- Forget what the tables counted up to.
DELETE FROM sqlite_sequence;

-- name: skip_numbers
-- Let a table count on behind a number.
INSERT INTO sqlite_sequence (name, seq) VALUES (:table, :number);

-- name: clear_offload_entries
-- Remove what a space's offload sessions hold.
DELETE FROM offload_entries WHERE session IN (
    SELECT s.number FROM offload_sessions s JOIN keys k ON k.number = s.realm WHERE k.space = :space
);

-- name: clear_offload_graphs
-- Remove the graphs of a space's offload sessions.
DELETE FROM offload_graphs WHERE session IN (
    SELECT s.number FROM offload_sessions s JOIN keys k ON k.number = s.realm WHERE k.space = :space
);

-- name: clear_offload
-- Remove a space's offload sessions.
DELETE FROM offload_sessions WHERE realm IN (SELECT number FROM keys WHERE space = :space);

-- name: clear_shards
-- Forget what is indexed of every shard, for the lines must be read again.
DELETE FROM shards;

-- name: start_memory_merge
-- Begin to merge all segments of the memories' text index.
INSERT INTO memory_text (memory_text, rank) VALUES ('merge', -500);

-- name: go_on_memory_merge
-- Merge some more of the memories' text index.
INSERT INTO memory_text (memory_text, rank) VALUES ('merge', 500);

-- name: start_message_merge
-- Begin to merge all segments of the messages' text index.
INSERT INTO message_text (message_text, rank) VALUES ('merge', -500);

-- name: go_on_message_merge
-- Merge some more of the messages' text index.
INSERT INTO message_text (message_text, rank) VALUES ('merge', 500);

-- name: offload_head
-- One offload session, without what it holds.
SELECT number, workspace, session, folder, version, at, marks FROM offload_sessions
WHERE realm = :realm AND workspace = :workspace AND session = :session;

-- name: offload_heads
-- A realm's offload sessions, of one workspace if given, changed last first.
SELECT number, workspace, session, folder, version, at, marks FROM offload_sessions
WHERE realm = :realm AND (:workspace IS NULL OR workspace = :workspace)
ORDER BY at DESC, number DESC;

-- name: offload_state
-- The state of an offload session.
SELECT state FROM offload_sessions WHERE number = :session;

-- name: offload_entries
-- The entries of an offload session, in order.
SELECT data FROM offload_entries WHERE session = :session ORDER BY place;

-- name: offload_graphs
-- The graphs of an offload session.
SELECT file, text FROM offload_graphs WHERE session = :session ORDER BY file;

-- name: put_offload
-- Insert or change an offload session.
INSERT INTO offload_sessions (realm, workspace, session, folder, version, at, marks, state)
VALUES (:realm, :workspace, :session, :folder, :version, :at, :marks, :state)
ON CONFLICT (realm, workspace, session) DO UPDATE SET
    folder = :folder, version = :version, at = :at, marks = :marks, state = :state
RETURNING number;

-- name: put_offload_entry
-- Insert or change an entry.
INSERT INTO offload_entries (session, place, data) VALUES (:session, :place, :data)
ON CONFLICT (session, place) DO UPDATE SET data = :data;

-- name: put_offload_graph
-- Insert or change a graph.
INSERT INTO offload_graphs (session, file, text) VALUES (:session, :file, :text)
ON CONFLICT (session, file) DO UPDATE SET text = :text;

-- name: drop_offload_entries
-- Remove the entries of an offload session.
DELETE FROM offload_entries WHERE session = :session;

-- name: drop_offload_graphs
-- Remove the graphs of an offload session.
DELETE FROM offload_graphs WHERE session = :session;

-- name: drop_offload
-- Remove an offload session.
DELETE FROM offload_sessions WHERE number = :session;
