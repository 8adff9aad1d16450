"""Models that read a question together with a passage and tell whether it is answered."""
