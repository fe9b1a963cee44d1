"""The terminal judging interface: a session, and two front ends over it."""
