"""The paper's study: its tasks, every method it compares, and what it reports."""
