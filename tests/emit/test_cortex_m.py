#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The C that `qdq plan --emit-c` writes of models/digits runs on Cortex-M in an emulator, with the bits of
`qdq run`. The machines are a Stellaris LM3S6965 (Cortex-M3 without a floating-point unit, 256 KB of flash
and 64 KB of RAM) and Arm's AN386 (Cortex-M4 with a unit for float).

    test_cortex_m.py QDQ_BINARY MODELS_DIR

Without arm-none-eabi-gcc, newlib for it or qemu-system-arm it exits with 77: skipped.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

import emitted
import harness
from harness import Case, Tensor, main, read_safetensors, safetensors_bytes

HERE = Path(__file__).resolve().parent / "cortex_m"
GCC, QEMU = "arm-none-eabi-gcc", "qemu-system-arm"
MACHINES = {
    "lm3s6965evb": (["-mcpu=cortex-m3"], 256 << 10, 64 << 10),
    "mps2-an386": (["-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"], 4 << 20, 4 << 20),
}
IMAGES, PIXELS, SCORES = 12, 64, 10
PROGRAM = """
#include "model.c"
#include "startup.h"

static const uint32_t images[{images}][{pixels}] = {{ {data} }};

int main(void) {{
    for (int i = 0; i < {images}; i++) {{
        float x[{pixels}], y[{scores}];
        memcpy(x, images[i], sizeof x);
        {name}_run(x, y);
        for (int k = 0; k < {scores}; k++) {{
            uint32_t bits;
            memcpy(&bits, &y[k], sizeof bits);
            print_hex(bits, 8);
            print(" ");
        }}
        print("\\n");
    }}
    print("stack ");
    print_hex(stack_used(), 8);
    print("\\n");
}}
"""


def missing():
    if not shutil.which(GCC) or not shutil.which(QEMU):
        return f"{GCC} or {QEMU} is missing; on Debian: apt-get install gcc-arm-none-eabi qemu-system-arm"
    probe = subprocess.run([GCC, "-E", "-xc", "-"], input="#include <math.h>\n", capture_output=True,
                           text=True, check=False)
    if probe.returncode:
        return "newlib for Arm is missing; on Debian: apt-get install libnewlib-arm-none-eabi"
    return None


class Emitted(Case):
    def one_image(self, name):
        """The model for one image at a time, and its path."""
        model = json.loads((Path(harness.MODELS) / f"digits/{name}.json").read_text(encoding="utf-8"))
        text = json.dumps(model).replace("[360, ", "[1, ")
        shutil.copy(Path(harness.MODELS) / f"digits/{name}.safetensors", self.folder)
        path = self.folder / f"{name}.json"
        path.write_text(text, encoding="utf-8")
        return path

    def images(self):
        held = read_safetensors(Path(harness.MODELS) / "digits/held_out.safetensors")["x"]
        size = PIXELS * 4
        return [held.data[i * size:(i + 1) * size] for i in range(IMAGES)]

    def wanted(self, path, images, target):
        lines = []
        for image in images:
            (self.folder / "x.safetensors").write_bytes(
                safetensors_bytes({"x": Tensor("float32", [1, 1, 8, 8], image)}))
            self.qdq("run", path, "-i", self.folder / "x.safetensors", "-o",
                         self.folder / "y.safetensors", "--target", target)
            made = read_safetensors(self.folder / "y.safetensors")["scores"].data
            lines.append(" ".join(f"{int.from_bytes(made[i:i + 4], 'little'):08x}"
                                  for i in range(0, len(made), 4)))
        return lines

    def program(self, machine, images, name):
        flags, flash, ram = MACHINES[machine]
        words = ", ".join("{" + ", ".join(str(int.from_bytes(image[i:i + 4], "little"))
                                          for i in range(0, len(image), 4)) + "}" for image in images)
        (self.folder / "main.c").write_text(PROGRAM.format(
            images=IMAGES, pixels=PIXELS, scores=SCORES, data=words, name=name), encoding="utf-8")
        image = self.folder / f"{machine}.elf"
        call = [GCC, *flags, "-mthumb", "-std=c11", "-O2", "-ffp-contract=off", "-Wall", "-Wextra",
                "-Werror", "-nostartfiles", "--specs=nosys.specs", f"-I{self.folder}", f"-I{HERE}",
                f"-Wl,-T,{HERE / 'link.ld'},--defsym=FLASH_BYTES={flash},--defsym=RAM_BYTES={ram}",
                "-Wl,--no-warn-rwx-segments", "-Wl,--gc-sections", "-ffunction-sections",
                str(HERE / "startup.c"), str(self.folder / "main.c"), "-o", str(image), "-lm"]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return image

    def assert_bits(self, machine, model, target="core"):
        path, images = self.one_image(model), self.images()
        self.qdq("plan", path, "--emit-c", self.folder / "model.c", "--target", target)
        name = emitted.prototype((self.folder / "model.c").read_text(encoding="utf-8"))[0]
        image = self.program(machine, images, name)
        call = [QEMU, "-M", machine, "-nographic", "-semihosting-config", "enable=on,target=native",
                "-kernel", str(image)]
        done = subprocess.run(call, capture_output=True, text=True, timeout=250, check=False)
        lines = (done.stdout + done.stderr).strip().split("\n")
        lines = [line for line in lines if not line.startswith("Timer with")]  # a remark of qemu
        self.assertEqual([line.strip() for line in lines[:-1]], self.wanted(path, images, target))
        self.assertRegex(lines[-1], "^stack [0-9a-f]{8}$")
        return image, int(re.sub("stack ", "", lines[-1]), 16)

    def test_int8_digits_run_on_a_cortex_m3_in_64_kilobytes(self):
        self.assert_bits("lm3s6965evb", "int8")

    def test_int8_digits_run_on_a_cortex_m4_with_its_floating_point_unit(self):
        self.assert_bits("mps2-an386", "int8")

    def test_groups_of_onnx_runtime_run_on_a_cortex_m3(self):
        self.assert_bits("lm3s6965evb", "int8", "ort")

    def test_float32_digits_run_on_a_cortex_m3(self):
        self.assert_bits("lm3s6965evb", "float32")


if __name__ == "__main__":
    if reason := missing():
        print(f"skipped: {reason}")
        sys.exit(77)
    main()
