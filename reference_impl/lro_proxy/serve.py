"""`lro serve`: the memory server of `lro_reference`, with the further families of tools selected by ``--tools``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lro_proxy.tools.families import add_tools_flag, selected_families
from lro_reference.__main__ import refuse_to_start, serve
from lro_reference.settings import SettingsError, build_parser, options

if TYPE_CHECKING:
    from lro_reference.tool import FileTools


def main(argv: Sequence[str] | None = None) -> int:
    """Run the server until its client leaves; returns the exit code (2: a setting or the data folder is invalid)."""
    parser = build_parser()
    add_tools_flag(parser)
    flags = parser.parse_args(sys.argv[1:] if argv is None else argv)
    try:
        server_options, families = options(flags, os.environ), selected_families(flags, os.environ)
    except SettingsError as problem:
        return refuse_to_start(str(problem))

    def open_tools() -> FileTools:
        from lro_proxy.tools.toolbox import Toolbox  # keeps the start without tools fast

        return Toolbox(families, server_options.settings)

    return serve(server_options, open_tools if families else None)


if __name__ == "__main__":
    sys.exit(main())
