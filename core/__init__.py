"""What a question, a passage and a cited answer are, and how to get from one to the next."""
