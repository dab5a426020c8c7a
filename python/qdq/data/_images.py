# SPDX-License-Identifier: Apache-2.0
"""Pictures as arrays, by Pillow."""

from __future__ import annotations

import io
from functools import partial
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from .._library import ArgumentError
from ._places import Files, Pattern
from ._source import needed

_ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm")
_LAYOUTS = ("NCHW", "NHWC")
_FILTERS = ("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos")

Numbers = Union[float, Sequence[float], None]


class Picture:
    """Turns a picture into an array; called with a PIL.Image, or the bytes of a file. Can be pickled.

    1. convert: Pillow's mode, "RGB" or "L"; None keeps the mode of the file. An orientation in EXIF has no effect.
    2. size: (height, width), or a number for both: Image.resize with the filter `resample` ("nearest", "box",
       "bilinear", "hamming", "bicubic" or "lanczos"), without a crop, so that the aspect ratio changes. None keeps the
       size. Pillow rounds to 8 bits after it.
    3. scale: x = float32(pixel * scale), where the product is a double, rounded once: with 1/255 the bits of torch's
       division of a float32 by 255. None, without mean and std: the array keeps Pillow's dtype, uint8 for "RGB".
    4. mean, std: x = (x - mean) / std in float32, with a number for each channel, or one for all.
    5. layout: "NCHW" returns [1, channels, height, width], "NHWC" [1, height, width, channels].
    name: of the input; the result then is {name: array}.
    """

    def __init__(self, *, size: Union[int, Tuple[int, int], None] = None, mean: Optional[Numbers] = None,
                 std: Optional[Numbers] = None, layout: str = "NCHW", scale: Optional[float] = 1 / 255,
                 name: Optional[str] = None, convert: Optional[str] = "RGB", resample: str = "bilinear") -> None:  # fmt: skip
        for what, given, wanted in (("layout", layout, _LAYOUTS), ("resample", resample, _FILTERS)):
            if given not in wanted:
                raise ArgumentError(f"{what} is {given!r}, wanted one of: {', '.join(wanted)}")
        height, width = (size, size) if isinstance(size, int) else size or (None, None)
        self._size = None if height is None else (width, height)  # in Pillow's order
        self._mean = None if mean is None else np.asarray(mean, np.float32)
        self._std = None if std is None else np.asarray(std, np.float32)
        self._layout, self._scale, self._name = layout, scale, name
        self._convert, self._resample = convert, resample

    def __call__(self, picture: Any) -> Any:
        image = needed("PIL.Image", "Picture")
        if isinstance(picture, (bytes, bytearray, memoryview)):
            picture = image.open(io.BytesIO(picture))
        if self._convert is not None:
            picture = picture.convert(self._convert)
        if self._size is not None:
            picture = picture.resize(self._size, image.Resampling[self._resample.upper()])
        x = self._normalized(np.asarray(picture))
        x = x[None, :, :, None] if x.ndim == 2 else x[None]
        x = np.ascontiguousarray(x.transpose(0, 3, 1, 2)) if self._layout == "NCHW" else x
        return x if self._name is None else {self._name: x}

    def _normalized(self, x: Any) -> Any:
        if self._scale is not None:
            x = (x * np.float64(self._scale)).astype(np.float32)
        elif self._mean is not None or self._std is not None:
            x = x.astype(np.float32)
        x = x if self._mean is None else x - self._mean
        return x if self._std is None else x / self._std


class Images(Files):
    """The source of `images`."""

    def __init__(self, pattern: Any, prepare: Any, max_unreadable: Any, storage_options: Any) -> None:
        self._image = needed("PIL.Image", "images").open
        super().__init__("images", pattern, _ENDINGS, max_unreadable, storage_options)
        self._prepare = prepare

    def _read(self, at: Any) -> Any:
        with self._open(at) as file, self._image(file) as picture:
            return self._prepare(picture)

    def _total(self) -> Any:
        return len(self._found)

    def _entries(self) -> Iterator[Any]:
        for at in range(len(self._found)):
            yield self._name(at), partial(self._read, at)


def images(pattern: Pattern, *, prepare: Optional[Callable[[Any], Any]] = None, max_unreadable: float = 0.01,
           storage_options: Optional[Mapping[str, Any]] = None, **how: Any) -> Files:  # fmt: skip
    """Samples in pictures, one in each file, as Pillow reads them: of animations the first frame.

    pattern: as in `files`; of a folder all files that end as Pillow's common formats do, .jpg, .png, .webp and so on.
    how: size, mean, std, layout, scale, name, convert and resample of Picture. prepare, in their place: called with the
    PIL.Image; returns the sample.
    """
    if prepare is not None and how:
        raise ArgumentError(f"images has prepare and {', '.join(how)}; one of them is enough")
    return Images(pattern, prepare or Picture(**how), max_unreadable, storage_options)
