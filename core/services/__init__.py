"""What Footnote does with its values: chunking, ranking, retrieving, answering, syncing."""
