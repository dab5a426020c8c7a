#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oneDNN Graph JSON files on the command line."""

from harness import Case, main, read_npy, tensor, unpack, write_npy


def logical(number, dtype="f32", shape=(2, 3)):
    return {"id": number, "dtype": dtype, "shape": list(shape), "stride": [1] * len(shape),
            "layout_type": "strided", "property_type": "undef"}


def op(number, kind, inputs, outputs, name="", **attrs):
    types = {float: "f32", int: "s64", str: "string", bool: "bool"}

    def typed(v):
        one = types[type(v[0] if isinstance(v, list) else v)]
        return {"type": one + "[]" if isinstance(v, list) else one,
                "value": int(v) if isinstance(v, bool) else v}
    return {"id": number, "name": name, "kind": kind,
            "attrs": {key: typed(v) for key, v in attrs.items()},
            "inputs": inputs, "outputs": outputs}


def onednn(*ops):
    return {"version": "3.7.0", "engine_kind": "cpu", "fpmath_mode": "strict", "graph": list(ops)}


def pair(kind="Dequantize"):
    """Quantize and Dequantize; the names are t0, t2, q and op2."""
    return onednn(
        op(1, "Quantize", [logical(0)], [logical(1, "u8")], "q", qtype="per_tensor", axis=-1,
           scales=[0.5], zps=[10]),
        op(2, kind, [logical(1, "u8")], [logical(2)], qtype="per_tensor", scales=[0.5], zps=[10]))


class Onednn(Case):
    def test_every_command_accepts_onednn_files(self):
        self.write("g.json", pair())
        write_npy(self.folder / "x.npy", tensor("float32", [2, 3], [0, 0.2, 1, -5, -6, 1000]))
        self.qdq("run", "g.json", "-i", "t0=x.npy", "-o", "t2=y.npy")
        # Steps of 0.5 from -5 on: 0.4 rounds to 0, values out of range saturate to the ends of
        # uint8.
        self.assertEqual(unpack(read_npy(self.folder / "y.npy")), [0, 0, 1, -5, -5, 122.5])
        self.assertIn("g.json for onednn: 0 errors, 0 warnings", self.qdq("check", "g.json").out)
        self.assertIn("t0", self.qdq("plan", "g.json").out)
        self.assertIn("op2", self.qdq("plan", "g.json").out)
        self.qdq("bench", "g.json", "--fill", "1")
        self.qdq("compare", "g.json", "--fill", "1", "--targets", "onednn,onnx", code=None)
        self.assertIn("g.json for onnx:", self.qdq("check", "g.json", "--target", "onnx",
                                                   code=None).out)
        out = self.qdq("check", "g.json", "--target", "all", code=None).out
        self.assertIn("op2", out)

    def test_a_mask_names_the_dims_along_which_scales_differ(self):
        x = [float(v) for v in range(12)]
        write_npy(self.folder / "x.npy", tensor("float32", [2, 2, 3], x))
        for mask, shape, scales in ((0, [1], [2]), (2, [2], [1, 2]), (3, [2, 2], [1, 2, 4, 8]), (5, [2, 3], [1, 2, 4, 8, 1, 2])):
            write_npy(self.folder / "s.npy", tensor("float32", shape, scales))
            node = op(0, "DynamicQuantize", [logical(0, shape=(2, 2, 3)), logical(1, shape=shape)],
                      [logical(2, "s8", (2, 2, 3))], mask=mask)
            self.write("g.json", onednn(node))
            self.qdq("run", "g.json", "-i", "t0=x.npy", "-i", "t1=s.npy", "-o", "t2=y.npy")
            which = {0: [0] * 12, 2: ([0] * 3 + [1] * 3) * 2, 3: [i // 3 for i in range(12)],
                     5: [0, 1, 2] * 2 + [3, 4, 5] * 2}[mask]
            wanted = [round(v / scales[k]) for v, k in zip(x, which)]  # half to even
            self.assertEqual(unpack(read_npy(self.folder / "y.npy")), wanted)
        self.assertIn("mask is 8, wanted 0 to 7, as x has rank 3", self.mask_error(8))
        self.assertIn("mask is -1, wanted 0 to 7", self.mask_error(-1))

    def mask_error(self, mask):
        shape = (2, 2, 3)
        self.write("g.json", onednn(op(0, "DynamicQuantize", [logical(0, shape=shape), logical(1, shape=[1])],
                                       [logical(2, "s8", shape)], mask=mask)))
        return self.qdq("check", "g.json", code=1).out

    def error(self, kind, dtypes, shapes, **attrs):
        """The first line of a check of one op from x and a scale."""
        result = logical(2, dtypes[2], shapes[0])
        node = op(0, kind, [logical(0, dtypes[0], shapes[0]), logical(1, dtypes[1], shapes[1])], [result], **attrs)
        self.write("g.json", onednn(node))
        return self.qdq("check", "g.json", code=None).out.splitlines()[0]

    def test_a_mask_excludes_qtype_and_axis_and_covers_groups(self):
        """As check_dyn_quant_dequant_scales_zps of op_def_constraint.cpp wants it."""
        quantize = ("DynamicQuantize", ("f32", "f32", "u8"), ((2, 4), (2,)))
        self.assertIn("mask is given, and so is a qtype", self.error(*quantize, mask=1, qtype="per_channel"))
        self.assertIn("mask is given, and so is an axis", self.error(*quantize, mask=1, axis=0))
        self.assertIn(": 0 errors", self.error(*quantize, mask=1, axis=1, qtype="per_tensor"))
        groups = ("DynamicDequantize", ("s4", "f32", "f32"), ((3, 2, 4), (3, 2, 2)))
        self.assertIn("mask is 5, wanted one with the bits 6", self.error(*groups, mask=5, group_shape=[1, 1, 2]))
        self.assertIn("mask is 9, wanted 0 to 7", self.error(*groups, mask=9, group_shape=[1, 1, 2]))
        for mask in (6, 7):
            self.assertIn(": 0 errors", self.error(*groups, mask=mask, group_shape=[1, 1, 2]))

    def test_groups_have_the_default_qtype_and_no_whole_dims(self):
        groups = ("DynamicDequantize", ("u4", "f32", "f32"), ((2, 4), (2, 2)))
        self.assertIn(": 0 errors", self.error(*groups, group_shape=[1, 2], qtype="per_tensor"))
        self.assertIn("qtype per_channel", self.error(*groups, group_shape=[1, 2], qtype="per_channel"))
        self.assertIn("group_shape has -1 for dim 0, wanted 1 or more", self.error(*groups, group_shape=[-1, 2]))
        self.assertIn("group_shape has 0 for dim 1", self.error(*groups, group_shape=[1, 0]))

    def test_a_scale_of_groups_may_lack_the_dims_of_1(self):
        write_npy(self.folder / "q.npy", tensor("int8", [1, 2, 1, 4], list(range(8))))
        for shape in ([1, 2, 1, 2], [2, 2]):
            write_npy(self.folder / "s.npy", tensor("float32", shape, [1, 2, 4, 8]))
            x = [logical(0, "s8", (1, 2, 1, 4)), logical(1, shape=shape)]
            self.write("g.json", onednn(op(0, "DynamicDequantize", x, [logical(2, shape=(1, 2, 1, 4))], group_shape=[1, 1, 1, 2])))
            self.qdq("run", "g.json", "-i", "t0=q.npy", "-i", "t1=s.npy", "-o", "t2=y.npy")
            self.assertEqual(unpack(read_npy(self.folder / "y.npy")), [0, 1, 4, 6, 16, 20, 48, 56])
        self.qdq("check", "g.json", "-t", "onednn@3.14", code=1)

    def test_groups_need_no_qtype(self):
        write_npy(self.folder / "q.npy", tensor("int8", [2, 4], list(range(8))))
        write_npy(self.folder / "s.npy", tensor("float32", [2, 2], [1, 2, 4, 8]))
        node = op(0, "DynamicDequantize", [logical(0, "s8", (2, 4)), logical(1, shape=(2, 2))],
                  [logical(2, shape=(2, 4))], group_shape=[1, 2])
        self.write("g.json", onednn(node))
        self.qdq("run", "g.json", "-i", "t0=q.npy", "-i", "t1=s.npy", "-o", "t2=y.npy")
        self.assertEqual(unpack(read_npy(self.folder / "y.npy")), [0, 1, 4, 6, 16, 20, 48, 56])

    def test_all_unsupported_kinds_are_named(self):
        self.write("g.json", onednn(
            op(1, "ReLUBackward", [logical(0), logical(1)], [logical(2)], "r"),
            op(2, "TanhBackward", [logical(2), logical(1)], [logical(3)], "t")))
        for words in (["run", "--fill", "1"], ["plan"], ["bench"]):
            err = self.qdq(words[0], "g.json", *words[1:], code=4).err
            self.assertEqual(err, "".join(
                f"error: g.json: node '{node}': {kind}: is not supported; see `qdq ops`; there are "
                "no backward ops [core/op-unsupported]\n"
                for node, kind in (("r", "ReLUBackward"), ("t", "TanhBackward"))))
        found = self.json("check", "g.json", code=1)["findings"]
        self.assertEqual([(one["node"], one["op"]) for one in found],
                         [("r", "ReLUBackward"), ("t", "TanhBackward")])
        self.assertIn("ReLUBackward", self.qdq("check", "g.json", "--target", "all", code=None).out)

    def test_an_inconsistent_file_is_a_bad_file(self):
        twice = onednn(op(1, "TypeCast", [logical(0)], [logical(1, "bf16")], "a"),
                       op(2, "TypeCast", [logical(0)], [logical(1, "bf16")], "b"))
        self.assert_refused(twice, "op 'b' (TypeCast, id 2) makes tensor 1")
        loop = onednn(op(1, "TypeCast", [logical(1)], [logical(1)], "a"))
        self.assert_refused(loop, "needs its own result: 'a' <- 'a'")
        for command in ("check", "run", "plan", "bench"):
            self.qdq(command, "g.json", code=3)

    def test_a_scalar_of_int64_is_read_from_and_written_to_files(self):
        self.write("g.json", onednn(op(1, "End", [logical(7, "s64", [])], [])))
        seed = tensor("int64", [], [2**62 + 1])
        write_npy(self.folder / "seed.npy", seed)
        self.qdq("run", "g.json", "-i", "t7=seed.npy", "-o", "t7=out.npy", "-e", "t7=seed.npy")
        self.assertEqual(read_npy(self.folder / "out.npy"), seed)

    def test_a_concat_takes_any_number_of_inputs(self):
        """The parts are one tensor of two elements, so that the result repeats them."""
        x, y = logical(0, shape=(2,)), logical(1, shape=(400,))
        concat = op(1, "Concat", [x] * 200, [y], "c", axis=0)
        self.write("g.json", onednn(concat))
        write_npy(self.folder / "x.npy", tensor("float32", [2], [1.5, -2]))
        write_npy(self.folder / "y.npy", tensor("float32", [400], [1.5, -2] * 200))
        self.qdq("run", "g.json", "-i", "t0=x.npy", "-e", "t1=y.npy")

    def test_hostile_files_take_no_time(self):
        chain = [op(i, "TypeCast", [logical(i, "f32" if i % 2 else "bf16")],
                    [logical(i + 1, "bf16" if i % 2 else "f32")], "same") for i in range(1, 8001)]
        self.write("g.json", onednn(*reversed(chain)))
        self.assertIn("0 errors", self.qdq("check", "g.json", code=None).out)
        wide = onednn(op(1, "TypeCast", [logical(i) for i in range(20000)], [logical(-1 % 2**64)]))
        self.assertEqual(self.check(wide)[0]["rule"], "core/port-unknown")
        deep = '{"graph": ' + "[" * 100000 + "]" * 100000 + "}"
        self.assert_refused(deep, "line 1, column")
        kinds = onednn(*(op(i, "None" * 50, [], [], "n" * 300) for i in range(1000)))
        self.assertEqual(len(self.check(kinds)), 1001)  # the last one says that there is no output


if __name__ == "__main__":
    main()
