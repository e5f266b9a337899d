"""Entry point of ``python -m lro_conformance.capture``, which scripts of reports call to store the suite's memories."""

import sys

from lro_conformance.capture.corpus import main

main(sys.argv[1:])
