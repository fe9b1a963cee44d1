"""Spark: runs read, and topics worked on, on many machines. Nothing else knows that there is Spark."""
