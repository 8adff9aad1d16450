"""The statements on runs."""

_VIEW = """
id, source, wanted, done, total, failed, message, asked_by, asked_at, ended_at, report,
ended_at IS NULL AND beat_at > now() - $1::interval AS is_alive,
CASE WHEN ended_at IS NULL THEN extract(epoch FROM now() - beat_at)::float8 ELSE 0 END AS silent_seconds,
extract(epoch FROM now() - asked_at)::float8 AS asked_seconds_ago
"""

OPEN = f"SELECT {_VIEW} FROM job_runs WHERE ended_at IS NULL"

ONE = f"SELECT {_VIEW} FROM job_runs WHERE id = $2"

RECENT = f"SELECT {_VIEW} FROM job_runs ORDER BY id DESC LIMIT $2"

BEGIN = """
INSERT INTO job_runs (source, wanted, asked_by, total)
VALUES ($1, ARRAY[$2::text], $3, $4)
RETURNING id
"""

JOIN = """
UPDATE job_runs
SET wanted = (SELECT array_agg(DISTINCT kind) FROM unnest(wanted || $2::text) AS kind)
WHERE id = $1
"""

TAKE = """
UPDATE job_runs
SET holder = $2::uuid, starts = starts + 1, beat_at = now()
WHERE id = $1 AND ended_at IS NULL
RETURNING wanted, finished, step, step_begun, starts
"""

ENTER = "UPDATE job_runs SET step = $3, step_begun = NULL WHERE id = $1 AND holder = $2::uuid"

# Counts never shrink within a run: whoever takes over begins to count at nothing.
BEAT = """
UPDATE job_runs
SET beat_at = now(),
    done    = least(greatest(done, $3), greatest(total, $4, 0)),
    total   = greatest(total, $4),
    failed  = greatest(failed, $5),
    message = coalesce(nullif($6, ''), message),
    -- Whoever takes a step over does not begin it.
    step_begun = coalesce(step_begun, $7::timestamptz)
WHERE id = $1 AND holder = $2::uuid AND ended_at IS NULL
RETURNING id
"""

# Of several steps of one run the figures of the last one stay: it did the most. A short one ends before its
# progress was noted for the first time, so it says here how many pages there were.
STEP_ENDED = """
UPDATE job_runs
SET finished   = finished || step,
    step       = NULL,
    step_begun = NULL,
    failed     = $3,
    message    = $4,
    report     = $5::jsonb,
    total      = greatest(total, nullif($6, 0)),
    beat_at    = now()
WHERE id = $1 AND holder = $2::uuid AND ended_at IS NULL
RETURNING wanted, finished
"""

HAND_OVER = """
UPDATE job_runs
SET holder = NULL, starts = greatest(starts - 1, 0), beat_at = now(), message = $3
WHERE id = $1 AND holder = $2::uuid AND ended_at IS NULL
"""

TRY_LATER = """
UPDATE job_runs
SET holder = NULL, starts = greatest(starts - 1, 0), tries = tries + 1, beat_at = now(), message = $3
WHERE id = $1 AND holder = $2::uuid AND ended_at IS NULL
RETURNING tries
"""

END = "UPDATE job_runs SET ended_at = now(), done = coalesce(total, done) WHERE id = $1 AND ended_at IS NULL"

IS_HELD = "SELECT EXISTS (SELECT FROM job_runs WHERE id = $1 AND holder = $2::uuid AND ended_at IS NULL)"

GIVE_UP = """
UPDATE job_runs
SET ended_at = now(), message = $2, failed = greatest(failed, 1), report = report || $3::jsonb
WHERE id = $1 AND ended_at IS NULL
"""

STOP = """
UPDATE job_runs
SET ended_at = now(), message = $2, report = report || '{"stopped": true}'::jsonb
WHERE id = $1 AND ended_at IS NULL
"""

FORGET = "DELETE FROM job_runs WHERE ended_at < now() - interval '90 days'"

FORGET_LOG = "DELETE FROM pgqueuer_log WHERE aggregated AND created < now() - interval '30 days'"
