-- Runs that were asked for, what webhooks told of, and the webhook's token.

CREATE TABLE job_runs (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source     text        NOT NULL,                    -- 'notion', or something that one process alone has
    wanted     text[]      NOT NULL,                    -- kinds of resync; grows when others join
    finished   text[]      NOT NULL DEFAULT '{}',       -- kinds that are done
    asked_by   text        NOT NULL,
    asked_at   timestamptz NOT NULL DEFAULT now(),
    step       text,                                    -- the kind under way
    step_begun timestamptz,
    holder     uuid,                                    -- who works on it; whoever lost it notices by this
    starts     int         NOT NULL DEFAULT 0,          -- how often it was begun or taken over
    tries      int         NOT NULL DEFAULT 0,          -- how often it failed for now
    beat_at    timestamptz NOT NULL DEFAULT now(),
    ended_at   timestamptz,
    done       int         NOT NULL DEFAULT 0,
    total      int,
    failed     int         NOT NULL DEFAULT 0,
    message    text        NOT NULL DEFAULT '',
    report     jsonb       NOT NULL DEFAULT '{}'
);

-- One run at a time in the whole deployment.
CREATE UNIQUE INDEX job_runs_one_open ON job_runs ((true)) WHERE ended_at IS NULL;

-- Pages that a webhook said have changed; the nil id means that something did.
CREATE TABLE page_hints (
    page_id  uuid        PRIMARY KEY,
    first_at timestamptz NOT NULL DEFAULT now(),
    last_at  timestamptz NOT NULL DEFAULT now(),
    tries    int         NOT NULL DEFAULT 0
);

CREATE TABLE webhook_events (
    id text        PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX webhook_events_at ON webhook_events (at);

-- The token that signs events, and one that was offered later and nobody confirmed.
CREATE TABLE webhook_tokens (
    role        text        PRIMARY KEY CHECK (role IN ('trusted', 'offered')),
    token       text        NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    used_at     timestamptz
);
