-- Private answers, for as long as their asker may share them; whichever process is asked to.

CREATE TABLE kept_answers (
    platform text        NOT NULL,
    event    text        NOT NULL,          -- the platform's own id of the question
    person   text        NOT NULL,          -- keyed hash of the asker, who alone may share it
    pages    uuid[]      NOT NULL,          -- everything that the answer may rest on
    body     text        NOT NULL,          -- the answer as the platform shows it
    until    timestamptz NOT NULL,
    PRIMARY KEY (platform, event)
);
CREATE INDEX kept_answers_until ON kept_answers (until);
CREATE INDEX kept_answers_person ON kept_answers (person);
