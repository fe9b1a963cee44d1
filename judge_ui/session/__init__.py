"""A judge at work: the state machine, without a screen."""
