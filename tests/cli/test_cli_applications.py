#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A tool has all applications or none, and says what it lacks.

    test_cli_applications.py QDQ_BINARY MODELS_DIR
"""

from harness import Case, main

APPLICATIONS = ["compare", "explain", "bisect", "mend", "fingerprint", "calibrate", "merge", "quantize"]


class Applications(Case):
    def test_all_are_there_or_none(self):
        listed = [line.split()[0] for line in self.qdq("help").out.splitlines() if line.startswith("  ")]
        there = [name for name in APPLICATIONS if name in listed]
        self.assertIn(there, ([], APPLICATIONS))
        for name in APPLICATIONS:
            if there:
                self.assertIn(f"qdq {name}", self.qdq("help", name).out)
                continue
            for words in ([name], ["help", name]):
                self.assertIn(f"this build has no command '{name}'", self.qdq(*words, code=2).err)


if __name__ == "__main__":
    main()
