"""Commands about pools."""
