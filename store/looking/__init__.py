"""What a collection holds, to look at: lists, details, states, history."""
