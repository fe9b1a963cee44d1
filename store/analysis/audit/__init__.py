"""What a judge's grades in place of others do: to levels, to scores, to orders, to conclusions."""
