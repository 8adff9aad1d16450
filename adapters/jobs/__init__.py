"""Durable jobs on PostgreSQL with pgqueuer: several workers on several machines, any of which may die."""
