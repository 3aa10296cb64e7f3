-- Where each term stands in which message: one row an occurrence, of what message_text holds.
CREATE VIRTUAL TABLE message_spots USING fts5vocab (message_text, instance);
