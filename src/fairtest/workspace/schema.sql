-- The tables of a workspace; sqlite.py says what they hold. Statements are parted by empty lines: triggers have
-- semicolons inside.

CREATE TABLE workspace (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id TEXT NOT NULL, created TEXT NOT NULL, version TEXT NOT NULL,
    name TEXT NOT NULL, rows INTEGER NOT NULL, path TEXT, beside TEXT,
    fingerprint TEXT NOT NULL, in_order TEXT NOT NULL,
    budget INTEGER NOT NULL CHECK (budget >= 1), conf REAL NOT NULL, train_size REAL NOT NULL, seed TEXT NOT NULL,
    split INTEGER NOT NULL, preset TEXT, reading TEXT NOT NULL, declared TEXT NOT NULL,
    levels TEXT NOT NULL CHECK (levels IN ('sum', 'product'))
)

CREATE TABLE run (
    number INTEGER PRIMARY KEY CHECK (number >= 1),
    place INTEGER NOT NULL UNIQUE,
    started TEXT NOT NULL, finished TEXT NOT NULL, command TEXT NOT NULL, version TEXT NOT NULL
)

CREATE TABLE report (
    run INTEGER NOT NULL REFERENCES run (number), place INTEGER NOT NULL,
    kind TEXT NOT NULL, title TEXT NOT NULL, explained_by TEXT NOT NULL,
    significant INTEGER NOT NULL, reported INTEGER NOT NULL,
    question TEXT NOT NULL, told BLOB NOT NULL,
    document BLOB NOT NULL, json BLOB NOT NULL, text BLOB NOT NULL, html BLOB NOT NULL,
    PRIMARY KEY (run, place)
)

CREATE TRIGGER within_budget BEFORE INSERT ON run WHEN NEW.number > (SELECT budget FROM workspace)
BEGIN SELECT RAISE(ABORT, 'the budget has no such test set'); END

CREATE TRIGGER workspace_UPDATE BEFORE UPDATE ON workspace
BEGIN SELECT RAISE(ABORT, 'what a workspace holds is never changed or removed'); END

CREATE TRIGGER workspace_DELETE BEFORE DELETE ON workspace
BEGIN SELECT RAISE(ABORT, 'what a workspace holds is never changed or removed'); END

CREATE TRIGGER run_UPDATE BEFORE UPDATE ON run
BEGIN SELECT RAISE(ABORT, 'what a workspace holds is never changed or removed'); END

CREATE TRIGGER run_DELETE BEFORE DELETE ON run
BEGIN SELECT RAISE(ABORT, 'what a workspace holds is never changed or removed'); END

CREATE TRIGGER report_UPDATE BEFORE UPDATE ON report
BEGIN SELECT RAISE(ABORT, 'what a workspace holds is never changed or removed'); END

CREATE TRIGGER report_DELETE BEFORE DELETE ON report
BEGIN SELECT RAISE(ABORT, 'what a workspace holds is never changed or removed'); END
