"""What a collection holds."""
