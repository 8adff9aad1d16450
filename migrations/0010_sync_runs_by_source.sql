-- A run says what it looked at: another token, other roots or an export are no ground to ask for changes from.
ALTER TABLE sync_runs ADD COLUMN source text NOT NULL DEFAULT '';
