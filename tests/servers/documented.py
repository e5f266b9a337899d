"""The server of docs/writing-a-profile.md: its own names for tools and arguments, and settings by flags only."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tests.servers.sound.settings import has_other_names_for_everything, is_set_by_flags


class Documented(is_set_by_flags, has_other_names_for_everything):
    """Both at once."""


if __name__ == "__main__":
    Documented().serve()
