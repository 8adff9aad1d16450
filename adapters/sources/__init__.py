"""Where pages come from: the Notion API, a Notion export, the sample workspace."""
