# SPDX-License-Identifier: Apache-2.0
"""The installed man pages, and bash's completion of command lines."""

import re
import shutil
import subprocess
import unittest

from harness import Case, main

COMMANDS = ["run", "check", "compare", "plan", "bench", "convert", "ops", "targets", "help"]
# Calls the completion function as bash does, with the words of a command line whose last word is
# unfinished. compopt only works inside a completion.
COMPLETE = """
compopt() { :; }
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_qdq
printf '%s\\n' "${COMPREPLY[@]}"
"""


class ManPages(Case):
    def test_every_option_of_help_is_on_the_page(self):
        for name in COMMANDS:
            page = self.qdq("help", name, "--man").out.replace("\\-", "-")
            for option in re.findall(r"^ +(?:-\w, )?--([a-z-]+)", self.qdq("help", name).out, re.M):
                self.assertIn(f"\\fB--{option}\\fR", page, name)

    def test_the_page_of_the_tool_names_every_command(self):
        page = self.qdq("help", "--man").out
        for name in COMMANDS:
            self.assertIn(f"\\fB{name}\\fR", page)
            self.assertIn(f".BR qdq\\-{name} (1)", page)

    @unittest.skipUnless(shutil.which("groff"), "there is no groff")
    def test_groff_has_no_complaint(self):
        for words in [[], *([name] for name in COMMANDS)]:
            done = subprocess.run(["groff", "-man", "-ww", "-z"], capture_output=True, check=True,
                                  input=self.qdq("help", *words, "--man").out, encoding="utf-8")
            self.assertEqual(done.stderr, "")


class Completion(Case):
    def complete(self, *words):
        """The words that bash offers for the last of `words`."""
        path = self.write("qdq.bash", self.qdq("help", "--completion", "bash").out)
        done = subprocess.run(["bash", "-c", COMPLETE, "bash", f"./{path}", "qdq", *words], check=True,
                              capture_output=True, encoding="utf-8", cwd=self.folder)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    @unittest.skipUnless(shutil.which("bash"), "there is no bash")
    def test_bash_completes(self):
        self.assertEqual(self.complete("c"), ["check", "compare", "convert", "calibrate"])
        self.assertEqual(self.complete("run", "--ma"), ["--materialize", "--max-elements",
                                                        "--max-bytes", "--max-operations",
                                                        "--max-file-bytes", "--max-values"])
        self.assertEqual(self.complete("check", "--target", "a"), ["all"])
        self.assertEqual(self.complete("run", "-t", "on"), ["onnx", "onednn"])
        self.assertEqual(self.complete("run", "--float-storage", "b"), ["bfloat16"])
        self.assertEqual(self.complete("ops", "Deq"), ["Dequantize"])
        self.assertEqual(self.complete("targets", "tr"), ["tripy"])
        self.assertEqual(self.complete("help", "pl"), ["plan"])

    def test_bash_leaves_files_to_bash(self):
        self.assertEqual(self.complete("run", "gr"), [])
        self.assertEqual(self.complete("run", "g.json", "-i", "x"), [])

    def test_other_shells_know_every_option(self):
        for shell, form in (("zsh", "--{}["), ("fish", "-l {} ")):
            text = self.qdq("help", "--completion", shell).out
            for name in COMMANDS:
                for option in re.findall(r"^ +--([a-z-]+)", self.qdq("help", name).out, re.M):
                    self.assertIn(form.format(option), text, shell)

    def test_an_unknown_shell_is_refused(self):
        self.assertIn("bash, zsh or fish", self.qdq("help", "--completion", "tcsh", code=2).err)


if __name__ == "__main__":
    main()
