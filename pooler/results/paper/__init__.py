"""Kishida (2001): its tables for any numbers, redone on a collection, and as printed."""
