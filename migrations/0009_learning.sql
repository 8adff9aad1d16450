-- What was asked and how it went, without names: people are keyed hashes, answers are places and not texts.

-- The key of those hashes. Whoever has the table without this row cannot try ids out.
CREATE TABLE person_key (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    key      bytea   NOT NULL CHECK (octet_length(key) >= 32)
);
INSERT INTO person_key (key)
VALUES (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

-- What the readers of a reply could see, so that a report never tells more to others.
CREATE TABLE question_audiences (
    key    text  PRIMARY KEY,
    groups jsonb NOT NULL         -- [[{"name", "include": null or ids, "exclude": ids}, ...], ...]
);

CREATE TABLE questions (
    id       bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event    text        NOT NULL UNIQUE,   -- the platform's own id of the question
    platform text        NOT NULL,
    person   text        NOT NULL,
    audience text        NOT NULL REFERENCES question_audiences (key),
    text     text        NOT NULL,
    language text        NOT NULL DEFAULT '',
    asked_at timestamptz NOT NULL
);
CREATE INDEX questions_asked ON questions (asked_at);
CREATE INDEX questions_person ON questions (person, asked_at);

CREATE TABLE answers (
    question_id bigint  PRIMARY KEY REFERENCES questions (id) ON DELETE CASCADE,
    outcome     text    NOT NULL,           -- 'answered', 'failed', or why there is no answer
    degraded    boolean NOT NULL DEFAULT false,
    cached      boolean NOT NULL DEFAULT false,
    generation  bigint  NOT NULL DEFAULT 0,
    best_cosine real,
    best_score  real,
    timings     jsonb   NOT NULL DEFAULT '{}'  -- milliseconds by stage
);

CREATE TABLE answer_passages (
    question_id bigint   NOT NULL REFERENCES answers (question_id) ON DELETE CASCADE,
    position    smallint NOT NULL,
    page_id     uuid     NOT NULL,
    block_id    uuid,
    text_hash   text     NOT NULL,          -- tells whether the passage has changed since
    cosine      real,
    score       real     NOT NULL,
    cited       boolean  NOT NULL,
    PRIMARY KEY (question_id, position)
);
CREATE INDEX answer_passages_page ON answer_passages (page_id);

-- By event and not by row: a judgement may come in before its question is written, or after it was forgotten.
CREATE TABLE feedback (
    event     text        NOT NULL,
    person    text        NOT NULL,
    verdict   text        NOT NULL CHECK (verdict IN ('good', 'bad')),
    reason    text        NOT NULL DEFAULT '',
    judged_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (event, person)
);
CREATE INDEX feedback_judged ON feedback (judged_at);
CREATE INDEX feedback_person ON feedback (person);

CREATE TABLE suggestions (
    id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event        text        NOT NULL,
    person       text        NOT NULL,
    text         text        NOT NULL,
    suggested_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX suggestions_event ON suggestions (event);
CREATE INDEX suggestions_person ON suggestions (person);

-- Which weekly digests were sent, so that one of several processes sends each.
CREATE TABLE digests (
    platform text NOT NULL,
    channel  text NOT NULL,
    week     date NOT NULL,                  -- its Monday
    PRIMARY KEY (platform, channel, week)
);
