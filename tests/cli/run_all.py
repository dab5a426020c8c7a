#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs all tests of the command line.

    run_all.py QDQ_BINARY MODELS_DIR
"""

import sys
import unittest
from pathlib import Path

import harness

if __name__ == "__main__":
    harness.take_arguments()
    tests = unittest.defaultTestLoader.discover(str(Path(__file__).parent), "test_cli_*.py")
    result = unittest.TextTestRunner(verbosity=2).run(tests)
    sys.exit(0 if result.wasSuccessful() and result.testsRun else 1)
