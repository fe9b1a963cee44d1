"""Judging: judges, seats, desks, events, adjudication, erasing."""
