"""Statements about questions, answers and judgements."""

PUT_AUDIENCES = """
INSERT INTO question_audiences (key, groups)
SELECT given.key, given.groups::jsonb FROM unnest($1::text[], $2::text[]) AS given (key, groups)
ORDER BY given.key
ON CONFLICT (key) DO NOTHING
"""

# Whole batches at once: a statement for each question would cost more than answering it from the cache.
PUT_EXCHANGES = """
WITH given AS (
    SELECT * FROM unnest(
        $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[],
        $8::text[], $9::boolean[], $10::boolean[], $11::bigint[], $12::real[], $13::real[], $14::text[]
    ) AS given (
        event, platform, person, audience, text, language, asked_at,
        outcome, degraded, cached, generation, best_cosine, best_score, timings
    )
),
asked AS (
    INSERT INTO questions (event, platform, person, audience, text, language, asked_at)
    SELECT event, platform, person, audience, text, language, asked_at FROM given
    ON CONFLICT (event) DO NOTHING
    RETURNING id, event
),
answered AS (
    INSERT INTO answers
        (question_id, outcome, degraded, cached, generation, best_cosine, best_score, timings)
    SELECT asked.id, outcome, degraded, cached, generation, best_cosine, best_score, timings::jsonb
    FROM given JOIN asked USING (event)
)
SELECT id, event FROM asked
"""

PUT_PASSAGES = """
INSERT INTO answer_passages
    (question_id, position, page_id, block_id, text_hash, cosine, score, cited)
SELECT * FROM unnest(
    $1::bigint[], $2::smallint[], $3::uuid[], $4::uuid[], $5::text[], $6::real[], $7::real[], $8::boolean[]
)
"""

# Unanswered for want of a page, or judged bad by more people than good.
WEAK = """
WITH judged AS (
    SELECT
        event,
        count(*) FILTER (WHERE verdict = 'good') AS good,
        count(*) FILTER (WHERE verdict = 'bad') AS bad
    FROM feedback
    GROUP BY event
)
SELECT
    question.event, question.text, question.language, question.asked_at, question.audience,
    readers.groups, answer.outcome, coalesce(judged.bad, 0) AS bad
FROM questions AS question
JOIN answers AS answer ON answer.question_id = question.id
JOIN question_audiences AS readers ON readers.key = question.audience
LEFT JOIN judged ON judged.event = question.event
WHERE question.asked_at >= $1
  AND (answer.outcome = 'no_relevant_pages' OR judged.bad > judged.good)
ORDER BY question.asked_at DESC, question.id DESC
LIMIT $2
"""

FORGET = (
    "WITH gone AS (DELETE FROM questions WHERE person = $1 RETURNING 1) SELECT count(*) FROM gone",
    "WITH gone AS (DELETE FROM feedback WHERE person = $1 RETURNING 1) SELECT count(*) FROM gone",
    "WITH gone AS (DELETE FROM suggestions WHERE person = $1 RETURNING 1) SELECT count(*) FROM gone",
    "WITH gone AS (DELETE FROM kept_answers WHERE person = $1 RETURNING 1) SELECT count(*) FROM gone",
    "WITH gone AS (DELETE FROM kept_answers WHERE person = $1 RETURNING 1) SELECT count(*) FROM gone",
)

# Where the platform's own id stands in what others need to go on: the row stays, the person goes. What is
# being answered at this moment is left, and forgets its asker once it is answered.
FORGET_NAMES = (
    "UPDATE chat_claims SET thread = NULL WHERE right(thread, length($1) + 1) = ':' || $1",
    "UPDATE job_runs SET asked_by = split_part(asked_by, ':', 1) "
    "WHERE right(asked_by, length($1) + 1) = ':' || $1",
)

PRUNE_QUESTIONS = """
WITH gone AS (DELETE FROM questions WHERE asked_at < $1 RETURNING 1) SELECT count(*) FROM gone
"""
PRUNE_OTHERS = (
    "DELETE FROM feedback WHERE judged_at < $1",
    "DELETE FROM suggestions WHERE suggested_at < $1",
    "DELETE FROM digests WHERE week < $1::timestamptz::date - 7",
)
PRUNE_AUDIENCES = """
DELETE FROM question_audiences AS readers
WHERE NOT EXISTS (SELECT FROM questions WHERE audience = readers.key)
"""

TOTALS = """
SELECT
    (SELECT count(*) FROM questions WHERE asked_at >= $1) AS questions,
    (
        SELECT count(*)
        FROM questions AS question JOIN answers AS answer ON answer.question_id = question.id
        WHERE question.asked_at >= $1 AND answer.outcome = 'answered'
    ) AS answered,
    count(*) FILTER (WHERE verdict = 'good') AS good,
    count(*) FILTER (WHERE verdict = 'bad') AS bad
FROM feedback
WHERE judged_at >= $1
"""

IS_DIGEST_SENT = """
SELECT EXISTS (SELECT FROM digests WHERE platform = $1 AND channel = $2 AND week = $3)
"""

CLAIM_DIGEST = """
INSERT INTO digests (platform, channel, week) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING week
"""

UNCLAIM_DIGEST = "DELETE FROM digests WHERE platform = $1 AND channel = $2 AND week = $3"

JUDGE = """
INSERT INTO feedback (event, person, verdict, reason) VALUES ($1, $2, $3, $4)
ON CONFLICT (event, person) DO UPDATE SET
    verdict = excluded.verdict, reason = excluded.reason, judged_at = now()
"""

SUGGEST = "INSERT INTO suggestions (event, person, text) VALUES ($1, $2, $3)"

RECENT = """
SELECT text FROM (
    SELECT text, max(asked_at) AS asked_at FROM questions WHERE person = $1 GROUP BY text
) AS distinct_questions
ORDER BY asked_at DESC
LIMIT $2
"""

COUNT = "SELECT count(*) FROM questions WHERE asked_at >= now() - $1::interval"

# By readers, so that each viewer is shown what that viewer may see.
TOP = """
SELECT min(question.text) AS text, count(*) AS asked, question.audience, readers.groups
FROM questions AS question
JOIN question_audiences AS readers ON readers.key = question.audience
WHERE question.asked_at >= now() - $1::interval
GROUP BY lower(btrim(question.text)), question.audience, readers.groups
ORDER BY asked DESC, text
LIMIT $2
"""

UNANSWERED = """
SELECT question.text, question.audience, readers.groups
FROM questions AS question
JOIN answers AS answer ON answer.question_id = question.id
JOIN question_audiences AS readers ON readers.key = question.audience
WHERE question.asked_at >= now() - $1::interval AND answer.outcome = 'no_relevant_pages'
GROUP BY question.text, question.audience, readers.groups
ORDER BY max(question.asked_at) DESC
LIMIT $2
"""

VERDICTS = """
SELECT
    (judged_at AT TIME ZONE 'UTC')::date AS day,
    count(*) FILTER (WHERE verdict = 'good') AS good,
    count(*) FILTER (WHERE verdict = 'bad') AS bad
FROM feedback
WHERE judged_at >= now() - $1::interval
GROUP BY day
ORDER BY day
"""
