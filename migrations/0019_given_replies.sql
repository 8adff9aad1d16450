-- Replies that were given, for as long as they are marked when their source changes: places and digests, no texts.

CREATE TABLE given_replies (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    platform    text        NOT NULL,
    workspace   text        NOT NULL,
    channel     text        NOT NULL,
    message     text        NOT NULL,          -- the reply's first message
    thread      text        NOT NULL,
    question    text        NOT NULL,          -- the message that asked; empty for a command
    language    text        NOT NULL,
    given_at    timestamptz NOT NULL,
    changed_at  timestamptz,                   -- when a source was seen to say something else: to be marked
    lease_until timestamptz,                   -- somebody is at it
    attempts    smallint    NOT NULL DEFAULT 0,
    UNIQUE (platform, channel, message)
);
CREATE INDEX given_replies_given ON given_replies (given_at);
CREATE INDEX given_replies_changed ON given_replies (platform, changed_at) WHERE changed_at IS NOT NULL;

CREATE TABLE given_reply_passages (
    reply    bigint  NOT NULL REFERENCES given_replies (id) ON DELETE CASCADE,
    position smallint NOT NULL,
    page_id  uuid    NOT NULL,
    language text    NOT NULL,
    figures  text[]  NOT NULL,                 -- digests of the passage's numbers, dates, names of things
    words    text[]  NOT NULL,                 -- digests of its words
    denials  int     NOT NULL,
    looked   bigint  NOT NULL DEFAULT 0,       -- the page's revision when it was last compared
    PRIMARY KEY (reply, position)
);
CREATE INDEX given_reply_passages_page ON given_reply_passages (page_id);
