-- Single facts about the index that no other table holds, such as the masking it was made under.

CREATE TABLE footnote_facts (
    name     text        PRIMARY KEY,
    value    text        NOT NULL,
    noted_at timestamptz NOT NULL DEFAULT now()
);
