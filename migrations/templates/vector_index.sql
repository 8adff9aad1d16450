CREATE INDEX CONCURRENTLY $name ON notion_embeddings
USING hnsw ((embedding::$type($dimensions)) ${type}_cosine_ops)
WITH (m = 16, ef_construction = 64)
WHERE fingerprint = $fingerprint
