"""``python -m lro_conformance`` is `lro`."""

import sys

from lro_conformance.cli import main

sys.exit(main())
