// SPDX-License-Identifier: Apache-2.0
// An implementation to begin with: Quantize of float32 to int8 or uint8 by one scale, as ONNX has it.
const ENDS = { int8: [-128, 127], uint8: [0, 255] };

function halfEven(v) {
  const floor = Math.floor(v), rest = v - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
}

export function implement(group) {
  const { scales, zps = 0, dtype, ...more } = group.attributes ?? {};
  const [x, ...others] = group.inputs;
  if (group.op !== "Quantize" || !ENDS[dtype] || Object.keys(more).length || others.length || x.dtype !== "float32") return null;
  if (typeof scales !== "number" || typeof zps !== "number") return null;
  const view = new DataView(new ArrayBuffer(4)), [least, greatest] = ENDS[dtype];
  return {
    y: x.bits.split(" ").map((word) => {
      view.setUint32(0, parseInt(word, 16));
      const v = Math.fround(view.getFloat32(0) / Math.fround(scales));
      const code = Number.isNaN(v) ? least : Math.min(Math.max(halfEven(v) + zps, least), greatest);
      return (code & 255).toString(16).padStart(2, "0");
    }),
  };
}
