-- The model that the host had for a message's turn.
ALTER TABLE messages ADD COLUMN model TEXT NOT NULL DEFAULT '';
