-- What version 3 has besides: sqlite.py makes it in new files and in older ones.

CREATE TABLE shown (time TEXT NOT NULL, command TEXT NOT NULL)

CREATE TRIGGER shown_UPDATE BEFORE UPDATE ON shown
BEGIN SELECT RAISE(ABORT, 'what a workspace holds is never changed or removed'); END

CREATE TRIGGER shown_DELETE BEFORE DELETE ON shown
BEGIN SELECT RAISE(ABORT, 'what a workspace holds is never changed or removed'); END
