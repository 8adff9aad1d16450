-- One row per question asked in a chat, whichever of several processes receives it, and however often.

CREATE TABLE chat_claims (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    platform    text        NOT NULL,
    event       text        NOT NULL,
    -- Channel and message: one message can arrive as two events. Null where the platform has no such name.
    place       text,
    -- The conversation that the question belongs to.
    thread      text,
    -- What another process needs to begin again; forgotten once the question is answered.
    payload     jsonb,
    -- The message with the answer, or the one in which it is being written.
    reply       text,
    holder      text        NOT NULL,
    attempts    int         NOT NULL DEFAULT 1,
    lease_until timestamptz NOT NULL,
    claimed_at  timestamptz NOT NULL DEFAULT now(),
    done_at     timestamptz,
    UNIQUE (platform, event),
    UNIQUE (platform, place),
    CHECK (done_at IS NULL OR payload IS NULL)
);

CREATE INDEX chat_claims_open   ON chat_claims (platform, lease_until) WHERE done_at IS NULL;
CREATE INDEX chat_claims_done   ON chat_claims (platform, done_at)     WHERE done_at IS NOT NULL;
CREATE INDEX chat_claims_thread ON chat_claims (platform, thread)      WHERE thread IS NOT NULL;
