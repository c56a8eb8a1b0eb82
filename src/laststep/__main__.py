"""python -m laststep"""

import sys

from laststep.cli import main

sys.exit(main())
