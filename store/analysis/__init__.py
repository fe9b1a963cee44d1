"""Pure arithmetic on arrays: no SQL, no files, no screen."""
