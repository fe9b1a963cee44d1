"""Judging: judges, places, desks, events, adjudication, erasing."""
