# SPDX-License-Identifier: Apache-2.0
"""Runs the command-line tool as `python -m qdq`, for a Python whose folder of commands is not in PATH."""

import sys

from ._tool import main

sys.exit(main())
