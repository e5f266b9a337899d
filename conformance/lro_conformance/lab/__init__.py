"""Starting servers under chosen settings, and making calls on them."""
