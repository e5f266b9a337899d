"""Starting and driving servers under chosen settings."""
