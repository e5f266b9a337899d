"""Entry point of ``python -m lro_conformance.capture``, by which scripts in reports print the suite's memories."""

import sys

from lro_conformance.capture.corpus import main

main(sys.argv[1:])
