"""The values everything else speaks in: pages, chunks, questions, passages, answers."""
