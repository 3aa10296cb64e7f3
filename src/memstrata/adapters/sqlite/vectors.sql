-- Every statement on the vectors' own file: a name, one sentence, the SQL. Lists come as JSON texts.
-- A vector's row is its shelf's number in the upper half and a count in the lower, so that a shelf lies in
-- one piece, in the order it was filled, and what came since is at its end.

-- name: create_meta
-- One row: which file this is, whose vectors it holds (`''`: nobody's yet) and how many numbers each has.
CREATE TABLE meta (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    file TEXT NOT NULL,
    embedding TEXT NOT NULL,
    dimension INTEGER NOT NULL DEFAULT 0
) STRICT;

-- name: create_shelves
-- Whose texts: how many vectors there are, the last number given, and how far the texts were filled in.
CREATE TABLE shelves (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    space TEXT NOT NULL,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    ref TEXT NOT NULL,
    vectors INTEGER NOT NULL DEFAULT 0,
    last INTEGER NOT NULL DEFAULT 0,
    reached INTEGER NOT NULL DEFAULT 0,
    UNIQUE (space, owner, kind, ref)
) STRICT;

-- name: create_vectors
-- The vectors: a scale (float32) and whole numbers (16 bits each), little-endian.
CREATE TABLE vectors (
    row INTEGER PRIMARY KEY,
    shelf INTEGER NOT NULL,
    id TEXT NOT NULL,
    digest BLOB NOT NULL,
    vector BLOB NOT NULL
) STRICT;

-- name: create_vector_ids
-- Where an id's vector is, and what it was made from, without reading the vectors.
CREATE INDEX vector_ids ON vectors (shelf, id, digest);

-- name: mark
-- Say whose vectors a new file will hold.
INSERT INTO meta (one, file, embedding) VALUES (1, :file, :embedding);

-- name: meta
-- Which file this is, whose vectors it holds, and how many numbers each has.
SELECT file, embedding, dimension FROM meta;

-- name: set_embedding
-- Say whose vectors the file holds from here on.
UPDATE meta SET embedding = :embedding, dimension = 0;

-- name: set_dimension
-- Say how many numbers each vector has.
UPDATE meta SET dimension = :dimension;

-- name: any
-- Whether there is a vector at all.
SELECT row FROM vectors LIMIT 1;

-- name: forget_shelves
-- Forget how far the shelves were filled.
DELETE FROM shelves;

-- name: shelf
-- A shelf's number, how many vectors it has, the last number given, and how far it is filled.
SELECT number, vectors, last, reached FROM shelves
WHERE space = :space AND owner = :owner AND kind = :kind AND ref = :ref;

-- name: add_shelf
-- Give a shelf its number.
INSERT INTO shelves (space, owner, kind, ref) VALUES (:space, :owner, :kind, :ref)
RETURNING number, vectors, last, reached;

-- name: set_shelf
-- Say how many vectors a shelf has, which number was the last, and how far it is filled.
UPDATE shelves SET vectors = :vectors, last = :last, reached = :reached WHERE number = :number;

-- name: counts
-- How many vectors the shelves of a space have.
SELECT owner, kind, ref, vectors FROM shelves WHERE space = :space AND vectors > 0;

-- name: held
-- The ids of a shelf and what their vectors were made from.
SELECT id, digest FROM vectors WHERE shelf = :shelf;

-- name: held_some
-- Some ids of a shelf and what their vectors were made from.
SELECT id, digest FROM vectors
WHERE shelf = :shelf AND id IN (SELECT value FROM json_each(:ids));

-- name: rows
-- The rows of a shelf.
SELECT row FROM vectors WHERE shelf = :shelf;

-- name: behind
-- The vectors between the rows :after and :until, in order, :limit of them.
SELECT row, id, digest, vector FROM vectors WHERE row > :after AND row < :until
ORDER BY row LIMIT :limit;

-- name: some
-- The vectors of some rows.
SELECT row, id, digest, vector FROM vectors WHERE row IN (SELECT value FROM json_each(:rows));

-- name: drop
-- Remove the vector of an id of a shelf.
DELETE FROM vectors WHERE shelf = :shelf AND id = :id;

-- name: add
-- Store a vector.
INSERT INTO vectors (row, shelf, id, digest, vector) VALUES (:row, :shelf, :id, :digest, :vector);
