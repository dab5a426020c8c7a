# SPDX-License-Identifier: Apache-2.0
"""Tests the sources of qdq.data: a state must have the bytes of the same samples in a list.

    test_data.py SOURCE_ROOT
"""

import importlib.util
import io
import os
import pickle
import random
import re
import sys
import tarfile
import tempfile
import tracemalloc
import unittest
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import qdq

F32 = np.float32
SHAPE = (2, 3)
ROOT = Path(__file__).resolve().parents[2]


def needs(*packages):
    missing = [one for one in packages if not importlib.util.find_spec(one)]
    return unittest.skipIf(missing, f"{', '.join(missing)} is not installed")


def network(shape=SHAPE):
    b = qdq.Builder("chain")
    x = b.input("x", "float32", shape)
    b.output("y", b.relu(x, name="r"))
    return b.build()


def encoded(save, *args, **named):
    file = io.BytesIO()
    save(file, *args, **named)
    return file.getvalue()


def as_npy(x):
    return encoded(np.save, x)


def write_tar(path, members, mode="w"):
    """members: (name, bytes)."""
    with tarfile.open(path, mode) as tar:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


class Sources(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.xs = np.random.default_rng(1).normal(0, 1, (12, *SHAPE)).astype(F32)
        self.graph = network()

    def state(self, data, name="a", **options):
        return qdq.calibrate(self.graph, data, state=self.folder / f"{name}.state", **options)

    def example(self, begin, **names):
        """Runs the example of the document that begins with these words, in the folder. Returns its names."""
        text = (ROOT / "docs/many_machines.md").read_text(encoding="utf-8")
        code = re.search(rf"```python\n({re.escape(begin)}.*?)```", text, re.S)[1]
        names["qdq"] = qdq
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        exec(code, names)  # pylint: disable=exec-used
        return names

    def check(self, source, xs=None):
        """Expects the state of a list, twice, of a pickled copy, and of merged shards by 5 and 13."""
        whole = self.state(list(self.xs if xs is None else xs), "list")
        self.assertEqual(self.state(source), whole)
        self.assertEqual(self.state(source), whole)
        self.assertEqual(self.state(pickle.loads(pickle.dumps(source))), whole)
        for count in (5, 13):
            parts = [self.state(source, f"{i}", shard=(i, count)) for i in range(1, count + 1)]
            self.assertEqual(qdq.merge(parts, self.folder / "merged.state"), whole)
        halves = [list(source.shard(3, 3).shard(i, 2)) for i in (1, 2)]
        self.assertEqual(sum(map(len, halves)), len(list(source.shard(3, 3))))
        return whole


class Files(Sources):
    def setUp(self):
        super().setUp()
        self.data = self.folder / "data"
        (self.data / "deep/er").mkdir(parents=True)
        (self.data / ".hidden").mkdir()
        (self.data / ".hidden/x.npy").write_bytes(b"no array")
        (self.data / "note.txt").write_text("no sample")
        for i, x in enumerate(self.xs[:10]):
            np.save(self.data / ("" if i % 2 else "deep") / f"{i:02}.npy", x)
        np.savez(self.data / "deep/er/10.npz", x=self.xs[10])
        qdq._files.write(self.data / "11.safetensors", {"x": ("float32", self.xs[11])})

    def test_folders_globs_and_lists_have_the_bytes_of_a_list(self):
        self.check(qdq.data.files(self.data))
        self.check(qdq.data.files(f"{self.data}/**/*.*[yzs]"))
        self.check(qdq.data.files([self.data / "deep", f"{self.data}/*.npy", self.data / "11.safetensors"]))

    def test_order_makes_no_difference(self):
        whole = self.state(list(self.xs), "list")
        names = [str(path) for path in self.data.rglob("*.*[yzs]") if ".hidden" not in str(path)]
        for seed in range(3):
            random.Random(seed).shuffle(names)
            self.assertEqual(self.state(qdq.data.files(names)), whole)

    def test_ranges_of_numbers_are_names(self):
        source = qdq.data.files(f"{self.data}/0{{1..1}}.npy")
        np.testing.assert_array_equal(list(source), self.xs[1:2])
        with self.assertRaisesRegex(qdq.ArgumentError, r"0002\.npy: no file has this name"):
            qdq.data.files(f"{self.data}/{{0002..0003}}.npy")

    @needs("fsspec")
    def test_urls_are_read_by_fsspec(self):
        import fsspec

        files = fsspec.filesystem("memory")
        for i, x in enumerate(self.xs):
            files.pipe(f"/data/{'' if i % 2 else 'deep/'}{i}.npy", as_npy(x))
        self.check(qdq.data.files("memory://data"))
        self.check(qdq.data.files(["memory://data/*.npy", "memory://data/deep/*.npy"]))
        files.pipe("/data/5.npy", b"no array")
        with self.assertWarnsRegex(UserWarning, r"\A1 of 12 samples could not be read.*\n  memory:///data/5\.npy: "):
            list(qdq.data.files("memory://data", max_unreadable=0.1))

    def test_unreadable_files_are_named_once_and_limited(self):
        (self.data / "01.npy").write_bytes(b"no array")
        (self.data / "11.safetensors").write_bytes(b"\xff" * 20)
        with self.assertRaisesRegex(qdq.StateError, r"^1 of 12 samples could not be read, a larger share than "
                                                    r"max_unreadable, 0\.01, permits: \S+01\.npy: is no \.npy file$"):  # fmt: skip
            self.state(qdq.data.files(self.data))
        self.assertFalse((self.folder / "a.state").exists())
        with self.assertWarnsRegex(UserWarning, r"\A2 of 12 samples could not be read and were left out:\n  \S+01\.npy: "
                                                r".+\n  \S+11\.safetensors: its header is longer than the file\Z") as caught:  # fmt: skip
            state = self.state(qdq.data.files(self.data, max_unreadable=0.2))
        self.assertEqual(state.samples, 10)
        self.assertEqual(caught.filename, __file__)

    def test_samples_that_do_not_fit_are_named_and_limited(self):
        (self.data / "01.npy").write_bytes(b"no array")
        np.save(self.data / "03.npy", np.ones((2, 4), F32))
        source = qdq.data.files(self.data, max_unreadable=0.1)
        for shard in (None, (1, 1)):
            with self.assertWarnsRegex(UserWarning, r"sample 0 \(\S+03\.npy\): input 'x' has shape \[2, 4\], wanted"):
                self.state(source, shard=shard)
        with self.assertWarnsRegex(UserWarning, r"sample 1 \(\S+03\.npy\): input 'x'"):
            self.state(qdq.data.files(sorted(self.data.glob("*.npy")), max_unreadable=0.5), shard=(2, 2))
        with warnings.catch_warnings(), self.assertRaisesRegex(qdq.StateError, "^1 of 11 samples do not fit the graph, a larger"):
            warnings.simplefilter("ignore")
            self.state(qdq.data.files(self.data, max_unreadable=0.085))
        self.assertFalse((self.folder / "a.state").exists())

    def test_a_shard_reads_its_own_files(self):
        (self.data / "01.npy").write_bytes(b"no array")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(self.state(qdq.data.files(self.data), shard="2/2").samples, 6)
        with self.assertRaisesRegex(qdq.StateError, "^1 of 6 samples could not be read"):
            self.state(qdq.data.files(self.data), shard="1/2")

    def test_wrong_arguments_have_a_sentence(self):
        with self.assertRaisesRegex(qdq.ArgumentError, r"none: no file has this name, and no folder .* ends in \.npy, "):
            qdq.data.files(self.folder / "none")
        with self.assertRaisesRegex(qdq.ArgumentError, "max_unreadable is 2, wanted a share"):
            qdq.data.files(self.data, max_unreadable=2)
        with self.assertRaisesRegex(qdq.ArgumentError, r"shard\(0, 2\): wanted a number from 1"):
            qdq.data.files(self.data).shard(0, 2)

    def test_other_functions_take_sources(self):
        b = qdq.Builder("product")
        x = b.input("x", "float32", SHAPE)
        b.output("y", b.matmul(x, b.constant(np.ones((3, 2), F32), name="w"), name="main"))
        both = (list(self.xs), qdq.data.files(self.data))
        made = [qdq.quantize_graph(b.build(), data=data, target="onnx") for data in both]
        self.assertEqual(made[0].nodes[0].quantized, True)
        self.assertEqual(made[0].outputs, made[1].outputs)

    def test_a_missing_package_is_named(self):
        for module, source, call in (("fsspec.core", "files", lambda: qdq.data.files("memory://data")),
                                     ("PIL.Image", "images", lambda: qdq.data.images(self.data)),
                                     ("pyarrow.parquet", "parquet", lambda: qdq.data.parquet(self.data))):  # fmt: skip
            package = module.partition(".")[0]
            text = rf"^qdq\.data\.{source} needs {package}: pip install 'qdq\[data\]'"
            with mock.patch.dict(sys.modules, {package: None, module: None}), self.assertRaisesRegex(ImportError, text):
                call()


class Tars(Sources):
    def members(self, xs, begin=0):
        for i, x in enumerate(xs, begin):
            yield f"a/{i:04}.cls", b"7"
            yield f"a/{i:04}.npy", as_npy(x)

    def write(self):
        write_tar(self.folder / "t-000.tar", self.members(self.xs[:5]))
        write_tar(self.folder / "t-001.tar", self.members(self.xs[5:6], 5))
        write_tar(self.folder / "t-002.tar.gz", self.members(self.xs[6:], 6), "w:gz")

    def test_members_of_a_key_are_a_sample(self):
        self.write()
        self.check(qdq.data.webdataset(self.folder))
        self.check(qdq.data.webdataset([f"{self.folder}/t-{{000..001}}.tar", f"{self.folder}/*.tar.gz"]))
        self.assertEqual([len(list(qdq.data.webdataset(self.folder).shard(i, 3))) for i in (1, 2, 3)], [5, 1, 6])
        write_tar(self.folder / "named.tar", ((f"{i}.x.npy", as_npy(x)) for i, x in enumerate(self.xs)))
        self.check(qdq.data.webdataset(self.folder / "named.tar"))
        write_tar(self.folder / "zipped.tar", ((f"{i}.npz", encoded(np.savez, x=x)) for i, x in enumerate(self.xs)))
        self.check(qdq.data.webdataset(self.folder / "zipped.tar"))

    @needs("fsspec")
    def test_urls_are_read_by_fsspec(self):
        import fsspec

        self.write()
        for name in ("t-000.tar", "t-001.tar", "t-002.tar.gz"):
            fsspec.filesystem("memory").pipe(f"/tars/{name}", (self.folder / name).read_bytes())
        self.check(qdq.data.webdataset("memory://tars"))

    def test_prepare_gets_the_bytes_of_all_members(self):
        self.write()
        seen = []

        def prepare(sample):
            seen.append((sample["__key__"], sample["cls"]))
            return {"x": np.load(io.BytesIO(sample["npy"])) * 2}

        self.assertEqual(self.state(qdq.data.webdataset(self.folder, prepare)), self.state(list(self.xs * 2), "list"))
        self.assertEqual(seen, [(f"a/{i:04}", b"7") for i in range(12)])

    def test_mistakes_of_prepare_end_the_run(self):
        self.write()
        with self.assertRaisesRegex(TypeError, "unsupported operand"):
            self.state(qdq.data.webdataset(self.folder, lambda sample: sample["npy"] / 2))
        with self.assertRaisesRegex(qdq.StateError, r"^12 of 12 samples could not be read.*t-000\.tar: a/0000: KeyError: 'jpg'; "):
            self.state(qdq.data.webdataset(self.folder, lambda sample: sample["jpg"]))

    def test_samples_without_arrays_are_refused(self):
        write_tar(self.folder / "a.tar", [("0.jpg", b""), ("0.json", b"{}")])
        with self.assertRaisesRegex(qdq.StateError, r"a\.tar: 0: has no \.npy, .* only jpg, json; give `prepare`"):
            list(qdq.data.webdataset(self.folder / "a.tar"))

    def test_damaged_tar_files_are_refused(self):
        """A file that ends behind a member has no end mark."""
        write_tar(self.folder / "a.tar", self.members(self.xs))
        write_tar(self.folder / "b.tgz", self.members(self.xs), "w:gz")
        whole, packed = (self.folder / "a.tar").read_bytes(), (self.folder / "b.tgz").read_bytes()
        for name, data, last in (("a.tar", whole[: 4 * 1024 * 2], "a/0003.npy"), ("a.tar", whole[:5000], "a/0002.cls"),
                                 ("b.tgz", packed[: len(packed) // 2], "a/")):  # fmt: skip
            (self.folder / name).write_bytes(data)
            with self.assertRaisesRegex(qdq.StateError, rf"{re.escape(name)}: is damaged or cut off after '{last}"):
                list(qdq.data.webdataset(self.folder / name))

    def test_sparse_members_are_refused(self):
        with tarfile.open(self.folder / "a.tar", "w", format=tarfile.PAX_FORMAT) as tar:
            info = tarfile.TarInfo("0.npy")
            info.size, info.pax_headers = 512, {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "0.npy",
                                                "GNU.sparse.realsize": str(1 << 50)}  # fmt: skip
            tar.addfile(info, io.BytesIO(f"1\n{(1 << 50) - 1}\n1\n".encode().ljust(512, b"\0")))
        with self.assertRaisesRegex(qdq.StateError, "a.tar: is damaged or cut off after its beginning: '0.npy' is sparse"):
            list(qdq.data.webdataset(self.folder / "a.tar"))

    def test_memory_does_not_grow_with_the_samples(self):
        """20,000 headers and names alone would take 10 MB."""
        one = as_npy(np.ones(SHAPE, F32))
        write_tar(self.folder / "a.tar", ((f"{i:06}.npy", one) for i in range(20000)))
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        state = self.state(qdq.data.webdataset(self.folder / "a.tar"))
        self.assertEqual(state.samples, 20000)
        self.assertLess(tracemalloc.get_traced_memory()[1], 1 << 20)


@needs("PIL")
class Images(Sources):
    MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

    def setUp(self):
        super().setUp()
        from PIL import Image

        rng = np.random.default_rng(2)
        self.pictures = [Image.fromarray(rng.integers(0, 256, (9, 7, 3), np.uint8)) for _ in range(6)]
        for i, picture in enumerate(self.pictures):
            picture.save(self.folder / f"{i}.png")
        Image.fromarray(np.arange(256, dtype=np.uint8).reshape(16, 16)).save(self.folder / "grey.bmp")

    def test_numbers_are_those_of_numpy(self):
        from PIL import Image

        xs = [((np.asarray(one.resize((5, 4), Image.Resampling.BILINEAR), F32) / F32(255)) - F32(self.MEAN)) / F32(self.STD)
              for one in self.pictures]  # fmt: skip
        self.graph = network((1, 3, 4, 5))
        how = {"size": (4, 5), "mean": self.MEAN, "std": self.STD}
        self.check(qdq.data.images(f"{self.folder}/*.png", **how, name="x"), [x.transpose(2, 0, 1) for x in xs])
        self.graph = network((4, 5, 3))
        self.check(qdq.data.images(f"{self.folder}/*.png", **how, layout="NHWC"), xs)

    def test_the_example_of_the_document_runs(self):
        network((1, 3, 224, 224)).write(self.folder / "model.onnx")
        for name in ("pictures", "shards"):
            (self.folder / name).mkdir()
        for i, picture in enumerate(self.pictures):
            picture.save(self.folder / f"pictures/{i}.jpg")
        write_tar(self.folder / "shards/train-000.tar",
                  ((one.name, one.read_bytes()) for one in sorted((self.folder / "pictures").iterdir())))  # fmt: skip
        names = self.example("how = ")
        self.assertEqual(names["state"].samples, 6)
        self.assertEqual(names["state"], names["again"])

    @needs("torch")
    def test_numbers_are_those_of_torch(self):
        """The arithmetic of torchvision's ToTensor and Normalize."""
        import torch

        x = torch.from_numpy(np.stack([np.asarray(one) for one in self.pictures])).permute(0, 3, 1, 2)
        mean, std = (torch.tensor(one)[:, None, None] for one in (self.MEAN, self.STD))
        wanted = x.to(torch.float32).div(255).sub(mean).div(std).numpy()
        got = np.concatenate(list(qdq.data.images(f"{self.folder}/*.png", mean=self.MEAN, std=self.STD)))
        np.testing.assert_array_equal(got, wanted, strict=True)

    def test_grey_pictures_and_bytes(self):
        grey, = qdq.data.images(self.folder / "grey.bmp", convert=None, scale=None)
        np.testing.assert_array_equal(grey, np.arange(256, dtype=np.uint8).reshape(1, 1, 16, 16), strict=True)
        tall, = qdq.data.images(self.folder / "grey.bmp", convert="L", size=20, layout="NHWC", resample="nearest")
        self.assertEqual((tall.shape, tall.dtype), ((1, 20, 20, 1), F32))
        every, = qdq.data.images(self.folder / "grey.bmp")
        np.testing.assert_array_equal(every[0, 2].ravel(), np.arange(256, dtype=F32) / F32(255))
        again = qdq.data.Picture(name="x")((self.folder / "grey.bmp").read_bytes())
        np.testing.assert_array_equal(again["x"], every)

    def test_prepare_gets_the_picture(self):
        self.graph = network((9, 7, 3))
        source = qdq.data.images(f"{self.folder}/*.png", prepare=lambda picture: np.asarray(picture, F32))
        self.assertEqual(self.state(source), self.state([np.asarray(one, F32) for one in self.pictures], "list"))

    def test_pictures_that_are_cut_off_are_named(self):
        whole = (self.folder / "3.png").read_bytes()
        (self.folder / "3.png").write_bytes(whole[: len(whole) // 2])
        (self.folder / "4.png").write_bytes(b"no picture")
        with self.assertWarnsRegex(UserWarning, r"\A2 of 7 .*\n  \S+3\.png: .+\n  \S+4\.png: cannot identify"):
            self.assertEqual(len(list(qdq.data.images(self.folder, max_unreadable=0.5))), 5)

    def test_wrong_options_have_a_sentence(self):
        for how, text in (({"layout": "CHW"}, "layout is 'CHW', wanted one of: NCHW, NHWC"),
                          ({"resample": "cubic"}, "resample is 'cubic', wanted one of: nearest, "),
                          ({"prepare": np.asarray, "size": 3}, "images has prepare and size")):  # fmt: skip
            with self.assertRaisesRegex(qdq.ArgumentError, text):
                qdq.data.images(self.folder, **how)


@needs("pyarrow")
class Parquet(Sources):
    def write(self, name="a.parquet", xs=None, **columns):
        import pyarrow
        import pyarrow.parquet

        kind = pyarrow.list_(pyarrow.list_(pyarrow.float32()))
        xs = self.xs if xs is None else xs
        pyarrow.parquet.write_table(pyarrow.table({"x": pyarrow.array([x.tolist() for x in xs], kind), **columns}),
                                    self.folder / name, row_group_size=5)  # fmt: skip

    def test_columns_of_numbers_are_arrays(self):
        self.write(label=list(range(12)), text=["a"] * 12)
        self.check(qdq.data.parquet(self.folder))
        self.check(qdq.data.parquet(self.folder, "x"))
        self.check(qdq.data.parquet(self.folder, {"x": "x"}))
        (self.folder / "a.parquet").unlink()
        for i in range(6):
            self.write(f"{i}.parquet", self.xs[2 * i : 2 * i + 2])
        self.check(qdq.data.parquet(self.folder))
        sizes = [len(list(qdq.data.parquet(self.folder).shard(i, 4))) for i in (1, 2, 3, 4)]
        self.assertEqual(sizes, [4, 4, 2, 2])

    def test_prepare_gets_all_columns(self):
        self.write(data=[as_npy(x) for x in self.xs], text=["a"] * 12)

        def prepare(row):
            self.assertEqual((row["text"], row["x"].dtype), ("a", F32))
            return np.load(io.BytesIO(row["data"]))

        self.assertEqual(self.state(qdq.data.parquet(self.folder, prepare=prepare)), self.state(list(self.xs), "list"))

    def test_dtypes_stay(self):
        import pyarrow

        self.write(a=pyarrow.array([1] * 12, pyarrow.uint8()), b=pyarrow.array([1.5] * 12, pyarrow.float16()),
                   c=pyarrow.array([[True, False]] * 12, pyarrow.list_(pyarrow.bool_(), 2)))  # fmt: skip
        row = next(iter(qdq.data.parquet(self.folder)))
        self.assertEqual({name: (one.dtype, one.shape) for name, one in row.items()},
                         {"x": (F32, SHAPE), "a": (np.uint8, ()), "b": (np.float16, ()), "c": (bool, (2,))})  # fmt: skip

    def test_wrong_files_and_columns_have_a_sentence(self):
        self.write(text=["a"] * 12, gaps=[[[1.0], [2.0, 3.0]]] * 12, null=[None, *[1.0] * 11])
        for columns, error, text in ((["y"], qdq.ArgumentError, r"a\.parquet: there is no column 'y'; it has x, text"),
                                     ("text", qdq.StateError, r"a\.parquet: row 0: column 'text' has no numbers; give"),
                                     ("gaps", qdq.StateError, "lists of different lengths"),
                                     ("null", qdq.StateError, "^1 of 12 .* row 0: a cell is null")):  # fmt: skip
            with self.assertRaisesRegex(error, text):
                list(qdq.data.parquet(self.folder, columns))
        (self.folder / "a.parquet").write_bytes(b"no table at all")
        with self.assertRaisesRegex(qdq.StateError, r"a\.parquet: cannot be read: "):
            list(qdq.data.parquet(self.folder))


class Batches:
    """A DataLoader without torch."""

    def __init__(self, xs, size, make):
        self.xs, self.size, self.make = xs, size, make

    def __iter__(self):
        for at in range(0, len(self.xs), self.size):
            yield self.make(self.xs[at : at + self.size])


def pair(x):
    return [x, np.zeros(len(x), np.int64)]


def mapping(x):
    return {"pixels": x, "label": np.zeros(len(x), np.int64), "path": ["a"] * len(x)}


class Loaders(Sources):
    def test_batches_are_divided(self):
        for size in (1, 5, 12):
            self.check(qdq.data.loader(Batches(self.xs, size, np.asarray)))
            self.check(qdq.data.loader(Batches(self.xs, size, pair)))
            self.check(qdq.data.loader(Batches(self.xs, size, pair), "x"))
            self.check(qdq.data.loader(Batches(self.xs, size, mapping), {"pixels": "x"}))
        self.assertEqual(list(next(iter(qdq.data.loader(Batches(self.xs, 5, mapping))))), ["pixels", "label"])
        self.assertEqual(list(next(iter(qdq.data.loader(Batches(self.xs, 5, pair), [None, "y"])))), ["y"])

    def test_wrong_batches_have_a_sentence(self):
        for make, names, text in ((mapping, ["y"], "a batch has no 'y', only pixels, label, path"),
                                  (mapping, ["path"], "'path' of a batch is a list, wanted a tensor"),
                                  (pair, ["x", "y", "z"], "wanted at most 2 names"),
                                  (lambda x: (x, x[:1]), ["x", "y"], r"first dim: x \[5, 2, 3\], y \[1, 2, 3\]"),
                                  (str, None, "a batch is a str, wanted a tensor, a tuple or a dict")):  # fmt: skip
            with self.assertRaisesRegex(qdq.ArgumentError, text):
                list(qdq.data.loader(Batches(self.xs, 5, make), names))

    @needs("torch")
    def test_loaders_of_torch(self):
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        data = TensorDataset(torch.from_numpy(self.xs), torch.zeros(12))
        for size in (1, 5, None):
            self.check(qdq.data.loader(DataLoader(data, batch_size=size)))
        shuffled = qdq.data.loader(DataLoader(data, batch_size=5, shuffle=True))
        self.assertEqual(self.state(shuffled), self.state(list(self.xs), "list"))
        with self.assertRaisesRegex(qdq.ArgumentError, "the DataLoader shuffles"):
            shuffled.shard(1, 2)

    @needs("torch")
    def test_the_example_of_the_document_runs(self):
        self.graph.write(self.folder / "model.onnx")
        names = self.example("from torch", dataset=[(x, 0) for x in self.xs])
        self.assertEqual(names["state"].samples, 12)
        self.assertEqual(names["state"].values["x"].mean, self.state(list(self.xs)).values["x"].mean)


@needs("datasets")
class HuggingFace(Sources):
    def dataset(self):
        import datasets

        features = datasets.Features({"x": datasets.Array2D(SHAPE, "float32"), "text": datasets.Value("string")})
        return datasets.Dataset.from_dict({"x": list(self.xs), "text": ["a"] * 12}, features)

    def test_columns_are_arrays_of_their_feature(self):
        data = self.dataset()
        self.check(qdq.data.hugging_face(data))
        self.check(qdq.data.hugging_face(data, "x"))
        self.check(qdq.data.hugging_face(data, {"x": "x"}))
        self.check(qdq.data.hugging_face(data.with_format("numpy")))
        self.check(qdq.data.hugging_face(data.to_iterable_dataset(num_shards=6)))
        self.check(qdq.data.hugging_face(data.to_iterable_dataset(), "x"))
        plain = data.to_iterable_dataset().map(lambda row: {"x": [[2 * y for y in line] for line in row["x"]]})
        self.assertEqual(self.state(qdq.data.hugging_face(plain)), self.state(list(2 * self.xs), "list"))

    def test_prepare_gets_the_row(self):
        source = qdq.data.hugging_face(self.dataset(), prepare=lambda row: {"x": np.asarray(row["x"], F32)})
        self.assertEqual(self.state(source), self.state(list(self.xs), "list"))

    @needs("PIL")
    def test_pictures_that_cannot_be_decoded_are_named(self):
        import datasets
        from PIL import Image

        good = encoded(Image.new("RGB", (3, 2)).save, "png")
        rows = [{"bytes": one, "path": None} for one in (good, b"no picture", good)]
        data = datasets.Dataset.from_dict({"image": rows}, datasets.Features({"image": datasets.Image()}))

        def source(share):
            return qdq.data.hugging_face(data, prepare=lambda row: np.asarray(row["image"], F32), max_unreadable=share)

        with self.assertWarnsRegex(UserWarning, r"\A1 of 3 samples could not be read and were left out:\n  row 1: "):
            self.assertEqual([x.shape for x in source(0.5)], [(2, 3, 3)] * 2)
        with self.assertRaisesRegex(qdq.StateError, "^1 of 3 samples could not be read, .*row 1: "):
            list(source(0))

    def test_wrong_columns_have_a_sentence(self):
        with self.assertRaisesRegex(qdq.ArgumentError, "dataset: there is no column 'y'; it has x, text"):
            qdq.data.hugging_face(self.dataset(), ["y"])
        with self.assertRaisesRegex(qdq.StateError, "row 0: column 'text' has no numbers"):
            list(qdq.data.hugging_face(self.dataset(), "text"))


if __name__ == "__main__":
    sys.argv.pop(1)
    unittest.main()
