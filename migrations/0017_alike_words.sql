-- Words that resemble a term of a question which no passage has: "retenshun" asks for "retention" too.
CREATE INDEX notion_terms_letters ON notion_terms USING gin (term gin_trgm_ops) WHERE kind = 'w';
