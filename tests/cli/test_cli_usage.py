#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands, options, operands, help, exit codes, and which output goes to which stream."""

import os
import re
import shlex

from harness import (Case, Tensor, graph, main, node, npy_bytes, pack, quantize, requantize,
                     safetensors_bytes, tensor, value, write_npy)

COMMANDS = ["run", "check", "compare", "plan", "bench", "convert", "ops", "targets", "help"]
GRAPH_COMMANDS = ["run", "check", "plan", "bench"]  # the commands that take a graph and --target
GOOD = graph([quantize(scales=0.5)])
WARNED = graph([quantize(scales=-0.5)])
BAD = graph([quantize(scales=0)])


class Help(Case):
    def test_version(self):
        result = self.qdq("--version")
        self.assertRegex(result.out, r"\Aqdq \d+\.\d+\.\d+\n\Z")
        self.assertEqual(result.err, "")

    def test_no_command_shows_how_to_call_it(self):
        result = self.qdq(code=2)
        self.assertEqual(result.out, "")
        self.assertIn("usage: qdq", result.err)

    def test_help_lists_the_commands(self):
        result = self.qdq("help")
        for name in COMMANDS:
            self.assertRegex(result.out, rf"(?m)^  {name} ")
        for words in (["--help"], ["-h"], ["help", "--help"], ["help", "-h"]):
            self.assertEqual(self.qdq(*words), result, words)

    def test_help_of_each_command(self):
        for name in COMMANDS[:-1]:
            result = self.qdq("help", name)
            self.assertTrue(result.out.startswith(f"usage: qdq {name} "), result.out)
            self.assertEqual(result.err, "")
            for word in ("--help", "-h"):
                self.assertEqual(self.qdq(name, word), result)

    def test_help_lists_the_documented_options(self):
        common = ["--target", "--json"]
        storing = ["--tiles", "--keep", "--materialize", "--float-storage", "--device"]
        running = common + storing + ["--threads", "--fill", "--isa"]
        options = {"run": running + ["--input", "--output", "--expect", "--tolerance"],
                   "check": common + ["--strict", "--device"],
                   "compare": ["--targets", "--input", "--fill", "--threads", "--isa", "--json"],
                   "ops": ["--json"], "targets": ["--json"],
                   "plan": common + storing + ["--pages", "--memory-csv", "--trace"], "bench": running}
        caps = ["--max-elements", "--max-bytes", "--max-file-bytes", "--max-values"]
        for name, wanted in options.items():
            text = self.qdq("help", name).out
            for option in wanted + (caps if name in [*GRAPH_COMMANDS, "compare"] else []) + (
                    ["--max-operations"] if name in ("run", "compare", "plan", "bench") else []):
                self.assertRegex(text, rf"(?m)^  (-\w,|   ) {option}\b", name)

    def test_every_option_in_help_is_accepted(self):
        self.write("g.json", GOOD)
        for name in COMMANDS[:-1]:
            for option, argument in re.findall(r"^  (?:-\w,|   ) (--[a-z-]+)(?: ([^ ]+))?",
                                               self.qdq("help", name).out, re.M):
                words = [option] + (["?"] if argument else [])
                result = self.qdq(name, *(["g.json"] if name in GRAPH_COMMANDS else []), *words,
                                  code=None)
                self.assertNotIn("unknown option", result.err)

    def test_help_fits_80_columns(self):
        for name in COMMANDS:
            for line in self.qdq(name, "--help").out.splitlines():
                self.assertLessEqual(len(line), 80, line)
                self.assertEqual(line, line.rstrip())

    def test_help_ends_with_two_examples_that_work(self):
        self.write("graph.json", graph([quantize(scales=0.5, dtype="int8")]))
        x = tensor("float32", [2, 3], [0.5, 1, 1.5, 2, 2.5, 3])
        self.write("first.json", GOOD)
        self.write("second.json", graph([quantize(scales=0.25, dtype="int8")]))
        write_npy(self.folder / "x.npy", x)
        write_npy(self.folder / "golden.npy", tensor("int8", [2, 3], [1, 2, 3, 4, 5, 6]))
        for name in COMMANDS:
            head, end = self.qdq(name, "--help").out.split("\nexamples:\n")
            examples = end.splitlines()
            self.assertEqual(len(examples), 2)
            for line in examples:
                start = "  qdq " if name == "help" else f"  qdq {name}"
                self.assertTrue(line.startswith(start), line)
                self.qdq(*shlex.split(line)[1:])

    def test_help_of_no_command(self):
        self.assertIn("'chekc'", self.qdq("help", "chekc", code=2).err)


class Words(Case):
    def test_unknown_command(self):
        result = self.qdq("chekc", "g.json", code=2)
        self.assertEqual(result.out, "")
        self.assertIn("'chekc'", result.err)
        self.assertTrue(result.err.endswith("; did you mean 'check'?\n"), result.err)
        self.assertIn("did you mean '--version'?", self.qdq("--vresion", code=2).err)
        self.assertNotIn("did you mean", self.qdq("graph.json", code=2).err)

    def test_misspelled_options_get_the_nearest_of_the_command(self):
        self.write("g.json", GOOD)
        for words, wanted in ((["run", "g.json", "--inptu", "x"], "--input"),
                              (["run", "g.json", "--inptu=x"], "--input"),
                              (["check", "g.json", "--strikt"], "--strict"),
                              (["plan", "g.json", "--matrialize"], "--materialize"),
                              (["compare", "g.json", "--max-elemnts", "3"], "--max-elements")):
            self.assertIn(f"; did you mean '{wanted}'?", self.qdq(*words, code=2).err)
        for option in ("--bogus", "-z"):
            self.assertNotIn("did you mean", self.qdq("run", "g.json", option, code=2).err)

    def test_an_option_of_other_commands_names_them(self):
        self.write("g.json", GOOD)
        self.assertIn("'--strict'; it is one of: check;",
                      self.qdq("run", "g.json", "--strict", code=2).err)
        self.assertIn("'--fill'; it is one of: run compare explain bisect bench mend quantize link;",
                      self.qdq("check", "g.json", "--fill", "1", code=2).err)

    def test_unknown_option_is_named(self):
        self.write("g.json", GOOD)
        for name in COMMANDS:
            operands = ["g.json"] if name in GRAPH_COMMANDS else []
            for option in ("--bogus", "--bogus=3", "-z"):
                result = self.qdq(name, *operands, option, code=2)
                self.assertEqual(result.out, "")
                self.assertIn(f"'{option}'", result.err)
                self.assertIn(name, result.err)

    def test_unknown_letters_in_a_row_are_named(self):
        self.write("g.json", GOOD)
        for words in (["-zz", "g.json"], ["g.json", "-zz"]):
            err = self.qdq("check", *words, code=2).err
            self.assertIn("-z", err)
            self.assertNotIn("'g.json'", err)

    def test_options_of_other_commands(self):
        self.write("g.json", GOOD)
        for words in (["check", "g.json", "--fill", "1"], ["run", "g.json", "--strict"],
                      ["plan", "g.json", "-i", "x=x.npy"], ["ops", "--strict"],
                      ["check", "g.json", "--materialize"], ["run", "g.json", "--map"]):
            self.assertIn("unknown option", self.qdq(*words, code=2).err)

    def test_missing_value_of_an_option(self):
        for option in ("-i", "-o", "-e", "--target", "--fill", "--threads", "--max-bytes"):
            result = self.qdq("run", self.write("g.json", GOOD), option, code=2)
            self.assertIn(f"'{option}'", result.err)

    def test_value_of_a_flag(self):
        self.assertIn("--json", self.qdq("ops", "--json=3", code=2).err)

    def test_missing_and_surplus_operands(self):
        for name in GRAPH_COMMANDS:
            self.assertIn("GRAPH", self.qdq(name, code=2).err)
            if name != "check":
                self.assertIn("'b.json'", self.qdq(name, "a.json", "b.json", code=2).err)
        for name in ("ops", "targets"):
            self.assertIn("'b'", self.qdq(name, "a", "b", code=2).err)

    def test_options_stand_anywhere(self):
        self.write("g.json", WARNED)
        wanted = self.qdq("check", "g.json", "--strict", code=1)
        self.assertEqual(self.qdq("check", "--strict", "g.json", code=1), wanted)
        self.assertEqual(self.qdq("check", "--strict", "--", "g.json", code=1), wanted)

    def test_numbers_must_be_numbers(self):
        self.write("g.json", GOOD)
        for option in ("--threads", "--fill", "--max-bytes", "--max-elements", "--max-values",
                       "--max-file-bytes"):
            for word in ("", "x", "1x", "-1", " -1", "1.5", "99999999999999999999"):
                fill = [] if option == "--fill" else ["--fill", "1"]
                result = self.qdq("run", "g.json", *fill, option, word, code=2)
                self.assertIn(option, result.err)
        for option in ("--threads", "--max-bytes"):
            self.qdq("run", "g.json", "--fill", "1", option, "0", code=2)

    def test_words_must_be_known(self):
        self.write("g.json", GOOD)
        for option, wanted in (("--float-storage", "declared"), (
                "--isa", "portable, avx2, avx_vnni, avx512, avx512_bf16, amx")):
            result = self.qdq("run", "g.json", "--fill", "1", option, "bogus", code=2)
            self.assertIn("bogus", result.err)
            self.assertIn(wanted, result.err)

    def test_every_instruction_set_is_taken_and_gives_the_same_results(self):
        self.write("g.json", graph([quantize(scales=0.3)], [value("x", shape=[70, 50])]))
        for words in (["run"], ["compare", "--targets", "core,torchao"]):
            results = {self.qdq(words[0], "g.json", "--fill", "1", *words[1:], "--isa", name,
                                code=None).out for name in
                       ("portable", "avx2", "avx_vnni", "avx512", "avx512_bf16", "amx")}
            self.assertEqual(len(results), 1)
            self.assertNotIn("", results)

    def test_a_word_that_is_not_known_is_reported_next_to_the_findings(self):
        self.write("g.json", graph([quantize(scales=0)]))
        err = self.qdq("run", "g.json", "--fill", "1", "--isa", "bogus", code=2).err
        self.assertIn("bogus", err)

    def test_misspelled_target_and_op(self):
        self.write("g.json", GOOD)
        for name in GRAPH_COMMANDS:
            err = self.qdq(name, "g.json", "--target", "cor", code=2).err
            self.assertIn("did you mean 'core'?", err)
        self.assertIn("did you mean 'core'?", self.qdq("targets", "cor", code=2).err)
        self.assertIn("did you mean 'Quantize'?", self.qdq("ops", "Quantise", code=2).err)


class ExitCodes(Case):
    def test_0(self):
        for content in (GOOD, WARNED):
            self.write("g.json", content)
            self.qdq("check", "g.json")
            self.qdq("plan", "g.json")
            self.qdq("run", "g.json", "--fill", "1")
            self.qdq("bench", "g.json", "--fill", "1", "--repeat", "1")
        for words in (["ops"], ["ops", "Quantize"], ["ops", "--dtypes"], ["ops", "--markdown"],
                      ["targets"], ["targets", "core"], ["targets", "--markdown"]):
            self.assertTrue(self.qdq(*words).out)

    def test_1_of_check(self):
        self.qdq("check", self.write("g.json", BAD), code=1)
        self.qdq("check", "g.json", "--json", code=1)
        self.qdq("check", "g.json", "--target", "all", code=1)
        self.qdq("check", self.write("g.json", WARNED), "--strict", code=1)
        self.qdq("check", "g.json", "--strict", "--json", code=1)
        self.qdq("check", "g.json", "--strict", "--target", "all", code=1)

    def test_3_of_a_graph_with_errors(self):
        bad = [BAD, graph([quantize()]), graph([node("Bogus", "q", "x")]),
               graph([requantize("q", "q")], inputs=[]), graph(inputs=[], outputs={})]
        for content in bad:
            self.write("g.json", content)
            for name in ("run", "plan", "bench"):
                result = self.qdq(name, "g.json", code=3)
                self.assertEqual(result.out, "")
                self.assertIn("error: g.json: ", result.err)

    def test_3_of_a_file_that_does_not_load(self):
        for name in GRAPH_COMMANDS:
            for path in ("nowhere.json", ".", "/dev/null", "/dev/zero", ""):
                self.qdq(name, path, code=3)
            self.qdq(name, self.write("g.json", "{"), code=3)

    def test_4_of_unsupported_tensors(self):
        self.write("g.json", graph([quantize(scales=1)], inputs=[value("x", shape=[2])]))
        data = pack("float32", [1, 2, 3, 4])
        for descr, fortran_order in (("<f2x", False), (">f4", False), ("<c8", False),
                                     ("<f4", True)):
            rest = data[:8] if descr.endswith("f4") else data
            self.write("x.npy", npy_bytes(descr, [2], rest, fortran_order=fortran_order))
            self.qdq("run", "g.json", "-i", "x=x.npy", code=4)
        self.write("x.safetensors", safetensors_bytes({"x": Tensor("C64", [2], data * 2)}))
        self.qdq("run", "g.json", "-i", "x=x.safetensors", code=4)

    def test_5_of_limits(self):
        self.write("g.json", GOOD)
        for option in ("--max-elements", "--max-bytes", "--max-file-bytes", "--max-values"):
            for name in ("run", "plan", "bench"):
                self.qdq(name, "g.json", option, "5", code=5)
        self.qdq("check", "g.json", "--max-file-bytes", "5", code=5)
        self.qdq("check", "g.json", "--max-values", "5", code=5)


class Streams(Case):
    def test_run_tells_findings_on_stderr(self):
        self.write("g.json", WARNED)
        result = self.qdq("run", "g.json", "--fill", "1")
        self.assertRegex(result.err, r"\Awarning: g\.json: .*\[core/scale-negative\]\n\Z")
        self.assertTrue(result.out.startswith("y: int8 [2, 3]"), result.out)
        self.assertNotIn("warning", result.out)
        self.assertNotIn("warning", self.qdq("run", "g.json", "--fill", "1", "--json").out)

    def test_plan_and_bench_too(self):
        self.write("g.json", WARNED)
        for words in (["plan", "g.json"], ["bench", "g.json", "--fill", "1", "--repeat", "1"]):
            result = self.qdq(*words)
            self.assertIn("core/scale-negative", result.err)
            self.assertNotIn("core/", result.out)

    def test_check_tells_findings_on_stdout(self):
        result = self.qdq("check", self.write("g.json", BAD), code=1)
        self.assertEqual(result.err, "")
        self.assertIn("[core/scale-value]\n", result.out)

    def test_stdout_that_is_full(self):
        self.write("g.json", GOOD)
        for words in (["--version"], ["help"], ["check", "g.json"], ["plan", "g.json"], ["ops"],
                      ["targets"], ["run", "g.json", "--fill", "1"], ["check", "g.json", "--json"]):
            with open("/dev/full", "wb") as full:
                result = self.qdq(*words, code=None, stdout=full)
            self.assertNotEqual(result.code, 0, words)
            self.assertIn("standard output", result.err)

    def test_stdout_that_is_closed(self):
        reader, writer = os.pipe()
        os.close(reader)
        try:  # Python ignores SIGPIPE, and its children inherit that
            result = self.qdq("ops", "--json", code=None, stdout=writer, restore_signals=False)
        finally:
            os.close(writer)
        self.assertNotEqual(result.code, 0)


class JsonErrors(Case):
    def error(self, *words, code):
        parsed = self.json(*words, code=code)
        self.assertEqual(parsed["error"]["code"], code)
        self.assertTrue(parsed["error"]["message"])
        return parsed

    def test_each_code_has_its_kind(self):
        self.write("good.json", GOOD)
        self.write("bad.json", BAD)
        self.write("no.json", "{")
        refused = graph([quantize(scales=0.5, zps=3)])
        self.write("refused.json", refused)
        for words, code, kind in (
                (["run", "good.json"], 2, "argument"), (["run", "good.json", "--bogus"], 2, "argument"),
                (["chekc"], 2, "argument"), (["ops", "Bogus"], 2, "argument"),
                (["targets", "bogus"], 2, "argument"), (["compare", "good.json"], 2, "argument"),
                (["bench", "good.json", "--repeat", "x"], 2, "argument"),
                (["check", "absent.json"], 3, "io"), (["plan", "no.json"], 3, "parse"),
                (["run", "bad.json"], 3, "graph"),
                (["run", "refused.json", "--target", "tripy", "--fill", "1"], 4, "unsupported"),
                (["plan", "good.json", "--max-elements", "5"], 5, "limit")):
            parsed = self.error(*words, code=code)
            self.assertEqual(set(parsed), {"version", "error"}, words)
            self.assertEqual(set(parsed["error"]), {"code", "kind", "message", "findings"})
            self.assertEqual(parsed["error"]["kind"], kind, words)

    def test_the_findings_that_stop_a_command(self):
        self.write("bad.json", BAD)
        for name in ("run", "plan", "bench"):
            (found,) = self.error(name, "bad.json", code=3)["error"]["findings"]
            self.assertEqual(found["rule"], "core/scale-value")
        self.write("g.json", graph([quantize(scales=0.5, zps=3, dtype="int8")]))
        error = self.error("compare", "g.json", "--targets", "tensorrt,tripy", code=4)["error"]
        rules = [found["rule"] for found in error["findings"]]
        self.assertIn("tensorrt/zero-point-is-zero", rules)
        self.assertIn("tripy/no-zero-point", rules)

    def test_a_failure_after_results_is_reported_after_them(self):
        self.write("g.json", GOOD)
        self.write("broken.npy", b"no array")
        parsed = self.error("run", "g.json", "--fill", "1", "-e", "y=broken.npy", code=3)
        self.assertEqual([one["name"] for one in parsed["outputs"]], ["y"])

    def test_without_json_nothing_is_on_stdout(self):
        self.assertEqual(self.qdq("check", "absent.json", code=3).out, "")
        self.assertEqual(self.qdq("check", "--", "--json", code=3).out, "")


class Json(Case):
    def test_ops(self):
        ops = {op["name"]: op for op in self.json("ops")["ops"]}
        for name in ("Quantize", "Dequantize", "DynamicQuantize", "Requantize", "Cast"):
            self.assertEqual(self.json("ops", name)["ops"], [ops[name]])
        ports = {port["name"]: port for port in ops["Quantize"]["inputs"]}
        self.assertEqual(list(ports), ["x", "scale", "zero_point"])
        self.assertEqual([port["optional"] for port in ports.values()], [False, True, True])
        self.assertIn("float32", ports["x"]["dtypes"])
        self.assertEqual([port["name"] for port in ops["DynamicQuantize"]["outputs"]],
                         ["y", "scale", "zero_point"])
        attrs = {attr["name"]: attr["default"] for attr in ops["Quantize"]["attrs"]}
        for name, default in (("qtype", "per_tensor"), ("axis", "1"), ("zps", "0"),
                              ("dtype", "int8")):
            self.assertEqual(attrs[name], default)
        attrs = {attr["name"]: attr["default"] for attr in ops["Dequantize"]["attrs"]}
        self.assertEqual(attrs["dtype"], "bfloat16")

    def test_dtypes(self):
        self.json("ops", "--dtypes")

    def test_targets(self):
        targets = {target["name"]: target for target in self.json("targets")["targets"]}
        self.assertIn("core", targets)
        self.assertEqual(self.json("targets", "core")["targets"], [targets["core"]])
        for rule in targets["core"]["rules"]:
            self.assertTrue(rule["id"].startswith("core/"))
            self.assertIn(rule["severity"], ("error", "warning"))
            self.assertTrue(rule["summary"] and rule["hint"] and rule["source"])

    def test_check(self):
        parsed = self.json("check", self.write("g.json", BAD), code=1)
        self.assertEqual((parsed["errors"], parsed["warnings"]), (1, 0))
        (found,) = parsed["findings"]
        self.assertEqual((found["rule"], found["severity"], found["node"], found["target"]),
                         ("core/scale-value", "error", "q", "core"))
        self.assertTrue(found["message"] and found["hint"])
        self.assertEqual(self.json("check", self.write("g.json", GOOD))["findings"], [])

    def test_check_of_all_targets(self):
        self.json("check", self.write("g.json", GOOD), "--target", "all")

    def test_bench(self):
        parsed = self.json("bench", self.write("g.json", GOOD), "--fill", "1", "--repeat", "3")
        self.assertGreater(parsed["median_seconds"], 0)


if __name__ == "__main__":
    main()
