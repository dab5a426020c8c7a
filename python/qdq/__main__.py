# SPDX-License-Identifier: Apache-2.0
"""python -m qdq: the command-line tool, for a Python whose folder of commands is not in PATH."""

import sys

from ._tool import main

sys.exit(main())
